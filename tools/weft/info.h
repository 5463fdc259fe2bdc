// SPDX-License-Identifier: Apache-2.0
// `weft info`: what weft sees on this machine and would do, and of a program.
#pragma once

#include <string>
#include <vector>

namespace weft::tools {

// `command`: the program, if one was named. Returns the exit code.
int info(bool json, const std::vector<std::string>& command);

}  // namespace weft::tools
