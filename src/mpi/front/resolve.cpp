// SPDX-License-Identifier: Apache-2.0
// The first call of any function finds out which MPI is there, loads the library for it, and sets the target of each
// stub: the function that the stub jumps to from then on.
#include <atomic>
#include <cstdio>
#include <cstring>

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>

#include "base/message.h"
#include "mpi/front/known.h"
#include "mpi/front/mapped.h"
#include "mpi/front/tools.h"
#include "mpi/front/yield.h"
#include "mpi/link.h"

using weft::mpi::Function;

#pragma GCC visibility push(hidden)
extern "C" {
extern std::atomic<Function> weft_mpi_targets[];
void weft_mpi_first_call();
void weft_mpi_resolve(std::atomic<Function>* target);
}
#pragma GCC visibility pop

namespace weft::mpi {

namespace {

struct Name {
  const char* name;
  // The name of the replacement: all Fortran versions of a routine have the same one.
  const char* replacement;
};

constexpr Name kNames[] = {
#define CALL(name) {#name, #name},
#define LATER(name) CALL(name)
#define FORTRAN(name, NAME) \
  {#NAME, #name}, {#name, #name}, {#name "_", #name}, {#name "__", #name}, {#name "_f08_", #name},
#include "mpi/front/names.def"
#undef LATER
#undef CALL
#undef FORTRAN
};
constexpr int kCount = sizeof kNames / sizeof *kNames;

// Whether the process was started with the signal blocked that users ask by.
bool g_signal_blocked = false;

// The end of the message where weft has no library for the MPI.
constexpr char kPlainly[] = "MPI runs without weft";

const char* library_for(const Mapped& mapped) noexcept {
  switch (mapped.kind) {
    case Kind::open_mpi: return "libweft-mpi-openmpi.so";
    case Kind::mpich: return "libweft-mpi-mpich.so";
    case Kind::standard_abi: return "libweft-mpi-abi.so";
    case Kind::several:
      base::warn("mpi: the process has loaded two MPIs, one of them %s; %s", mapped.path, kPlainly);
      return nullptr;
    case Kind::none: return nullptr;
  }
  return nullptr;
}

const Link* link() noexcept {
  const Mapped mapped = find_mapped();
  const char* name = library_for(mapped);
  if (name == nullptr) return nullptr;
  // The library takes MPI's functions from the global scope; a plugin's MPI is not there.
  if (dlopen(mapped.path, RTLD_LAZY | RTLD_NOLOAD | RTLD_GLOBAL) == nullptr) {
    base::warn("mpi: %s; %s", dlerror(), kPlainly);
    return nullptr;
  }
  char why[sizeof mapped.path + 200];
  if (!is_known(mapped, reinterpret_cast<SayVersion>(dlsym(RTLD_DEFAULT, "PMPI_Get_library_version")), why,
                sizeof why)) {
    base::warn("mpi: %s; %s", why, kPlainly);
    return nullptr;
  }
  void* library = load_beside(name);
  if (library == nullptr) {
    base::warn("mpi: %s; %s", dlerror(), kPlainly);
    return nullptr;
  }
  const auto* link = static_cast<const Link*>(dlsym(library, kLinkName));
  if (link == nullptr || link->layout != kLinkLayout) {
    base::warn("mpi: %s is of another version of weft than libweft-mpi.so; %s", name, kPlainly);
    return nullptr;
  }
  link->begin(g_signal_blocked);
  return link;
}

Function replacement_of(const char* name, const Link& library) noexcept {
  for (int list = 0; list < library.count; ++list) {
    for (int i = 0; i < library.lists[list].count; ++i) {
      const Replacement& replacement = library.lists[list].first[i];
      if (std::strcmp(replacement.name, name) == 0) return replacement.function;
    }
  }
  return nullptr;
}

// The replacement of a function, by the name that programs call it by. The library may have it under another name.
Function replacement_for(const char* name, const Link& library) noexcept {
  for (const Name& known : kNames) {
    if (std::strcmp(known.name, name) == 0) return replacement_of(known.replacement, library);
  }
  return nullptr;
}

void fill() noexcept {
  const Link* library = link();
  if (library != nullptr) {
    hand_over_yields(library->yield);
    put_behind_tools(
        [](const char* name, const void* data) { return replacement_for(name, *static_cast<const Link*>(data)); },
        library);
  }
  for (int i = 0; i < kCount; ++i) {
    Function function = library != nullptr ? replacement_of(kNames[i].replacement, *library) : nullptr;
    if (function == nullptr) function = reinterpret_cast<Function>(find_own(kNames[i].name));
    // Relaxed: the stubs read plainly, and any of the two values is right at any time.
    if (function != nullptr) weft_mpi_targets[i].store(function, std::memory_order_relaxed);
  }
}

void fill_once() noexcept {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, fill);
}

// Before main: what the program came with.
[[gnu::constructor]] void look_at_process() {
  sigset_t blocked;
  g_signal_blocked = pthread_sigmask(SIG_BLOCK, nullptr, &blocked) == 0 && sigismember(&blocked, SIGUSR1) == 1;
  // A tool that comes first calls PMPI_Init: there is no first call here.
  const Kind kind = find_mapped().kind;
  if (kind != Kind::none && kind != Kind::several && has_tool()) fill_once();
}

}  // namespace

}  // namespace weft::mpi

void weft_mpi_resolve(std::atomic<Function>* target) {
  weft::mpi::fill_once();
  // Relaxed, as in fill().
  if (target->load(std::memory_order_relaxed) != weft_mpi_first_call) return;
  // MPI had no such function then; the library of its Fortran routines may have been loaded since.
  const char* name = weft::mpi::kNames[target - weft_mpi_targets].name;
  void* own = weft::mpi::find_own(name);
  if (own == nullptr) weft::base::fatal("mpi: %s is called, but no MPI of the process has it", name);
  target->store(reinterpret_cast<Function>(own), std::memory_order_relaxed);
}
