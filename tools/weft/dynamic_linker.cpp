// SPDX-License-Identifier: Apache-2.0
#include "dynamic_linker.h"

#include <cstdlib>

#include <gnu/libc-version.h>

namespace weft::tools {

std::string glibc_version() { return gnu_get_libc_version(); }

bool linker_audits() {
  char* rest = nullptr;
  const long major = std::strtol(gnu_get_libc_version(), &rest, 10);
  const long minor = *rest == '.' ? std::strtol(rest + 1, nullptr, 10) : 0;
  return major > 2 || (major == 2 && minor >= 35);
}

}  // namespace weft::tools
