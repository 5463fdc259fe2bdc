// SPDX-License-Identifier: Apache-2.0
#include "coll/profiling/family.h"

#include <cstdlib>

#include <mpi.h>

#ifdef OPEN_MPI
#include <dlfcn.h>
#include <link.h>

#include <cstring>
#endif

#include "platform/launcher.h"

namespace weft::coll {

namespace {

bool is_mpich() noexcept {
#if defined(OPEN_MPI)
  return false;
#elif defined(MPI_ABI_VERSION)
  return platform::mpi_by_launcher() == platform::Mpi::mpich;
#else
  return true;
#endif
}

}  // namespace

int local_ranks_by_launcher() noexcept {
  const char* ranks = std::getenv(is_mpich() ? "MPI_LOCALNRANKS" : "OMPI_COMM_WORLD_LOCAL_SIZE");
  return ranks != nullptr ? std::atoi(ranks) : 0;
}

// A rank that waits in MPICH never gives its CPU away. So weft saves more there, and pays sooner.
int pays_from() noexcept {
  constexpr int kOfMpich = 16;
  return is_mpich() ? kOfMpich : 0;
}

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
