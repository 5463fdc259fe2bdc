// SPDX-License-Identifier: Apache-2.0
// --showme: what the driver would do.
#pragma once

#include "command_line.h"
#include "toolchain.h"

namespace weft::driver {

// What stands behind "--showme:", as a line of text.
std::string shown(const std::string& what, const CommandLine& line, const Toolchain& toolchain);

// As a shell would read them again.
std::string quoted(const Words& words);

}  // namespace weft::driver
