// SPDX-License-Identifier: Apache-2.0
#include "symbols/demangled.h"

#include <cstdlib>

#include <cxxabi.h>

namespace weft::tools {

std::string demangled(const std::string& name) {
  int status = 0;
  char* readable = abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status);
  std::string result = status == 0 && readable != nullptr ? readable : name;
  std::free(readable);
  return result;
}

}  // namespace weft::tools
