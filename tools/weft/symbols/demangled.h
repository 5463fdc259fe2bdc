// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace weft::tools {

// The name of a function as its source has it; the name itself where it is none of C++.
std::string demangled(const std::string& name);

}  // namespace weft::tools
