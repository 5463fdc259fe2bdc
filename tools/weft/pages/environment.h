// SPDX-License-Identifier: Apache-2.0
// The environment variables that the runtime reads.
#pragma once

#include <string>
#include <vector>

namespace weft::tools {

struct Variable {
  std::string name;
  std::string help;
};

// In the order of base/options.def.
std::vector<Variable> variables();

}  // namespace weft::tools
