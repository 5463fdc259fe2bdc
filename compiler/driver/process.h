// SPDX-License-Identifier: Apache-2.0
// Other programs.
#pragma once

#include <string>

#include "response_file.h"

namespace weft::driver {

// Replaces this process. Throws Refusal if that cannot be.
[[noreturn]] void become(const std::string& path, const Words& words);

// Runs it and returns its exit code. What ends it by a signal ends this process in the same way.
int run(const std::string& path, const Words& words);

// What it writes to stdout; empty if it fails.
std::string output_of(const std::string& path, const Words& words);

}  // namespace weft::driver
