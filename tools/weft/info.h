// SPDX-License-Identifier: Apache-2.0
// `weft info`: what weft sees on this machine and would do, and of a program.
#pragma once

#include <string>
#include <vector>

namespace weft::tools {

// `command`: the program, if one was named. `json`: the file for programs; "-": stdout, in place of the text; empty:
// none. Returns the exit code.
int info(const std::string& json, const std::vector<std::string>& command);

}  // namespace weft::tools
