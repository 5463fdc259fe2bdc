// SPDX-License-Identifier: Apache-2.0
#include "coll/profiling/family.h"

#include <cstdio>
#include <cstdlib>

#include <mpi.h>

#ifdef OPEN_MPI
#include <dlfcn.h>
#include <link.h>

#include <cstring>

#include "coll/profiling/fortran.h"
#include "platform/find_symbol.h"
#endif

#include "coll/profiling/variables.h"
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
namespace {

constexpr char kComponent[] = "/mca_coll_weft.so";

// Of the folder that weft's libraries lie in. False: it is not known.
bool find_folder(char* folder, size_t size) noexcept {
  Dl_info self;
  if (dladdr(reinterpret_cast<const void*>(&has_component), &self) == 0) return false;
  const char* slash = std::strrchr(self.dli_fname, '/');
  if (slash == nullptr) return false;
  std::snprintf(folder, size, "%.*s", static_cast<int>(slash - self.dli_fname), self.dli_fname);
  return true;
}

void* open_component() noexcept {
  // An Open MPI of another version has it mapped, and does not use it.
  void* component = nullptr;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* argument) {
        const char* slash = std::strrchr(info->dlpi_name, '/');
        if (slash == nullptr || std::strcmp(slash, kComponent) != 0) return 0;
        *static_cast<void**>(argument) = dlopen(info->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
        return 1;
      },
      &component);
  if (component != nullptr) return component;
  char folder[4096];
  char folders[4 * sizeof folder];
  if (!find_folder(folder, sizeof folder) || !read_variable("mca_base_component_path", folders, sizeof folders) ||
      std::strstr(folders, folder) == nullptr) {
    return nullptr;
  }
  char path[sizeof folder + sizeof kComponent];
  std::snprintf(path, sizeof path, "%s%s", folder, kComponent);
  return dlopen(path, RTLD_LAZY | RTLD_LOCAL);
}

}  // namespace

bool has_component() noexcept {
  void* component = open_component();
  if (component == nullptr) return false;
  const auto serves = reinterpret_cast<int (*)()>(dlsym(component, "weft_coll_component_serves"));
  return serves != nullptr && serves() != 0;
}

bool has_unknown_fortran() noexcept { return !fortran::is_known() && platform::find_symbol("pmpi_bcast_") != nullptr; }

bool goes_on_without_ranks() noexcept {
  int on = 0;
  return read_variable("mpi_ft_enable", &on, 1) && on != 0;
}
#else
bool has_component() noexcept { return false; }
bool has_unknown_fortran() noexcept { return false; }
bool goes_on_without_ranks() noexcept { return false; }
#endif

}  // namespace weft::coll
