// SPDX-License-Identifier: Apache-2.0
#include "mpi/front/mapped.h"

#include <cctype>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <type_traits>

#include <dlfcn.h>

namespace weft::mpi {

namespace {

// Tools have MPI_Init.
constexpr char kOfMpiAlone[] = "PMPI_Init";

// Whether `is` holds for any object of the process.
template <class Is>
bool any_object(Is&& is) noexcept {
  return dl_iterate_phdr(
             [](dl_phdr_info* info, size_t, void* argument) {
               return (*static_cast<std::remove_reference_t<Is>*>(argument))(*info) ? 1 : 0;
             },
             &is) != 0;
}

}  // namespace

Kind kind_of(const dl_phdr_info& info) noexcept {
  const platform::LoadedObject object = platform::object_of(info);
  if (object.find(kOfMpiAlone) == nullptr) return Kind::none;
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
  return any_object([name](const dl_phdr_info& info) {
    const platform::LoadedObject object = platform::object_of(info);
    return object.find(kOfMpiAlone) != nullptr && object.find(name) != nullptr;
  });
}

bool has_mpi() noexcept { return mpi_has(kOfMpiAlone); }

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
  // An MPI that Python has loaded is not in the global scope. Its functions have a second name, which another library
  // of weft's has not.
  char second[64];
  std::snprintf(second, sizeof second, "%c%s", std::islower(static_cast<unsigned char>(name[0])) != 0 ? 'p' : 'P',
                name);
  void* found = nullptr;
  any_object([&](const dl_phdr_info& info) {
    const platform::LoadedObject object = platform::object_of(info);
    if (!is_ours(info) && object.find(second) != nullptr) found = object.find(name);
    return found != nullptr;
  });
  return found;
}

void* find_own_of(const void* caller, const char* name) noexcept {
  Dl_info info;
  void* object = dladdr(caller, &info) != 0 ? dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : nullptr;
  void* own = object != nullptr ? dlsym(object, name) : nullptr;
  return own != nullptr ? own : find_own(name);
}

}  // namespace weft::mpi
