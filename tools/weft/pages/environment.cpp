// SPDX-License-Identifier: Apache-2.0
#include "pages/environment.h"

namespace weft::tools {

std::vector<Variable> variables() {
  return {
#define WEFT_OPTION(field, variable, type, value, least, most, help) {#variable, help},
#include "base/options.def"
#undef WEFT_OPTION
  };
}

}  // namespace weft::tools
