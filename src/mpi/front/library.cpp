// SPDX-License-Identifier: Apache-2.0
#include "mpi/front/library.h"

#include <cstdarg>
#include <cstdio>
#include <cstring>

#include <dlfcn.h>

#include "base/message.h"
#include "mpi/front/known.h"
#include "mpi/front/targets.h"
#include "platform/launcher.h"

namespace weft::mpi {

namespace {

// Null: weft has no library for it.
const char* abi_of(const Mapped& mapped) noexcept {
  switch (mapped.kind) {
    case Kind::open_mpi: return "openmpi";
    case Kind::mpich: return "mpich";
    case Kind::standard_abi: return "abi";
    case Kind::several: say_left("the process has loaded two MPIs, one of them %s", mapped.path); return nullptr;
    case Kind::none: return nullptr;
  }
  return nullptr;
}

// As others see it: a tool may stand before it.
SayVersion say_version_of(void* mpi) noexcept {
  constexpr char kName[] = "PMPI_Get_library_version";
  void* function = dlsym(RTLD_DEFAULT, kName);
  return reinterpret_cast<SayVersion>(function != nullptr ? function : dlsym(mpi, kName));
}

}  // namespace

void say_left(const char* why, ...) noexcept {
  const char* rank = platform::rank_by_launcher();
  if (rank != nullptr && std::strcmp(rank, "0") != 0) return;
  char text[sizeof Mapped::path + 300];
  va_list arguments;
  va_start(arguments, why);
  std::vsnprintf(text, sizeof text, why, arguments);
  va_end(arguments);
  base::warn("%s: %s; MPI runs without %s", kPart, text, kLeft);
}

Library load_library(const char* prefix, bool global) noexcept {
  const Mapped mapped = find_mapped();
  Library library{mapped.kind, nullptr, nullptr};
  const char* abi = abi_of(mapped);
  if (abi == nullptr) return library;
  // It may not be in the global scope.
  library.mpi = dlopen(mapped.path, RTLD_LAZY | RTLD_NOLOAD);
  char why[sizeof mapped.path + 200];
  if (library.mpi != nullptr && !is_known(mapped, say_version_of(library.mpi), why, sizeof why)) {
    say_left("%s", why);
    return library;
  }
  char name[64];
  std::snprintf(name, sizeof name, "%s-%s.so", prefix, abi);
  const bool reached =
      library.mpi != nullptr && (!global || dlopen(mapped.path, RTLD_LAZY | RTLD_NOLOAD | RTLD_GLOBAL) != nullptr);
  library.handle = reached ? load_beside(name) : nullptr;
  if (library.handle == nullptr) say_left("%s", dlerror());
  return library;
}

}  // namespace weft::mpi
