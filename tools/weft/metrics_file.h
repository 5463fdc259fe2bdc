// SPDX-License-Identifier: Apache-2.0
// A file of metrics that readers see whole, the old one or the new one.
#pragma once

#include <functional>
#include <string>

namespace weft::tools {

// Puts `text` in the place of the file. False, and why in `reason`: what was there stays.
bool replace_file(const std::string& file, const std::string& text, std::string& reason);

// Writes what `text` returns, every so many seconds until a signal ends it, and removes the file then: its readers
// do not ask how old it is. Returns the exit code. A file that cannot be written at first is an error; later it is
// said once, and tried again.
int keep_file(const std::string& file, double seconds, const std::function<std::string()>& text);

}  // namespace weft::tools
