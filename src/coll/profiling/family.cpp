// SPDX-License-Identifier: Apache-2.0
#include "coll/profiling/family.h"

#ifdef OPEN_MPI
#include <dlfcn.h>
#include <link.h>

#include <cstring>
#endif

namespace weft::coll {

#ifdef OPEN_MPI
// An Open MPI of another version has it mapped, and does not use it.
bool has_component() noexcept {
  void* component = nullptr;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* argument) {
        const char* slash = std::strrchr(info->dlpi_name, '/');
        if (slash == nullptr || std::strcmp(slash, "/mca_coll_weft.so") != 0) return 0;
        *static_cast<void**>(argument) = dlopen(info->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
        return 1;
      },
      &component);
  if (component == nullptr) return false;
  const auto serves = reinterpret_cast<int (*)()>(dlsym(component, "weft_coll_component_serves"));
  return serves != nullptr && serves() != 0;
}
#else
bool has_component() noexcept { return false; }
#endif

}  // namespace weft::coll
