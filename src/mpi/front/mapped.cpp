// SPDX-License-Identifier: Apache-2.0
#include "mpi/front/mapped.h"

#include <cstdint>
#include <cstdio>
#include <cstring>

#include <dlfcn.h>

namespace weft::mpi {

// Tools have MPI_Init; PMPI_Init is in an MPI alone.
Kind kind_of(const dl_phdr_info& info) noexcept {
  const platform::LoadedObject object = platform::object_of(info);
  if (object.find("PMPI_Init") == nullptr) return Kind::none;
  // That of Open MPI uses its objects too.
  if (std::strstr(info.dlpi_name, "libmpi_abi") != nullptr) return Kind::standard_abi;
  // Since Open MPI 6 another library has its objects.
  constexpr char kObject[] = "ompi_mpi_comm_world";
  return object.find(kObject) != nullptr || object.needs(kObject) ? Kind::open_mpi : Kind::mpich;
}

bool is_ours(const dl_phdr_info& info) noexcept {
  const auto own = reinterpret_cast<uintptr_t>(&find_mapped);
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = info.dlpi_phdr[i];
    if (header.p_type == PT_LOAD && own - (info.dlpi_addr + header.p_vaddr) < header.p_memsz) return true;
  }
  return false;
}

void* load_beside(const char* name) noexcept {
  Dl_info self;
  const char* file = dladdr(reinterpret_cast<const void*>(&load_beside), &self) != 0 ? self.dli_fname : "";
  const char* slash = std::strrchr(file, '/');
  char path[4096];
  std::snprintf(path, sizeof path, "%.*s%s", slash != nullptr ? static_cast<int>(slash + 1 - file) : 0, file, name);
  return dlopen(path, RTLD_LAZY | RTLD_LOCAL);
}

bool mpi_has(const char* name) noexcept {
  struct Search {
    const char* name;
    bool found;
  } search{name, false};
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* argument) {
        auto& wanted = *static_cast<Search*>(argument);
        wanted.found = kind_of(*info) != Kind::none && platform::object_of(*info).find(wanted.name) != nullptr;
        return wanted.found ? 1 : 0;
      },
      &search);
  return search.found;
}

Mapped find_mapped() noexcept {
  Mapped found;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* argument) {
        auto& mapped = *static_cast<Mapped*>(argument);
        const Kind kind = kind_of(*info);
        if (kind == Kind::none) return 0;
        mapped.kind = mapped.kind == Kind::none ? kind : Kind::several;
        std::snprintf(mapped.path, sizeof mapped.path, "%s", info->dlpi_name);
        return 0;
      },
      &found);
  return found;
}

void* find_own(const char* name) noexcept {
  if (void* next = dlsym(RTLD_NEXT, name)) return next;
  // An MPI that Python has loaded is not in the global scope.
  struct Search {
    const char* name;
    void* found;
  } search{name, nullptr};
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* argument) {
        auto& wanted = *static_cast<Search*>(argument);
        if (!is_ours(*info)) wanted.found = platform::object_of(*info).find(wanted.name);
        return wanted.found != nullptr ? 1 : 0;
      },
      &search);
  return search.found;
}

}  // namespace weft::mpi
