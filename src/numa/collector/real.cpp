// SPDX-License-Identifier: Apache-2.0
#include "numa/collector/real.h"

#include <dlfcn.h>

namespace weft::numa {

void* next_function(const char* name) noexcept { return dlsym(RTLD_NEXT, name); }

}  // namespace weft::numa
