// SPDX-License-Identifier: Apache-2.0
#include "mpi/front/targets.h"

#include <atomic>
#include <cstring>

#include <pthread.h>

#include "base/message.h"
#include "mpi/front/mapped.h"

using weft::mpi::Function;

#pragma GCC visibility push(hidden)
extern "C" {
extern std::atomic<Function> weft_mpi_targets[];
void weft_mpi_first_call();
Function weft_mpi_resolve(std::atomic<Function>* target, const void* caller);
}
#pragma GCC visibility pop

namespace weft::mpi {

namespace {

struct Name {
  const char* name;
  const char* replacement;
};

constexpr Name kNames[] = {
#define CALL(name) {#name, #name},
#define OWN(name) CALL(name)
#define FORTRAN(name, NAME) \
  {#NAME, #name}, {#name, #name}, {#name "_", #name}, {#name "__", #name}, {#name "_f08_", #name},
#include WEFT_MPI_NAMES
#undef OWN
#undef CALL
#undef FORTRAN
};
constexpr int kCount = sizeof kNames / sizeof *kNames;

// With several MPIs a stub has no target: each call goes to the MPI of its caller.
bool g_several = false;

void fill() noexcept {
  g_several = !begin();
  for (int i = 0; i < kCount && !g_several; ++i) {
    Function function = replacement_of(kNames[i].replacement);
    if (function == nullptr) function = reinterpret_cast<Function>(find_own(kNames[i].name));
    // Relaxed: the stubs read plainly, and any of the two values is right at any time.
    if (function != nullptr) weft_mpi_targets[i].store(function, std::memory_order_relaxed);
  }
}

}  // namespace

void set_targets() noexcept {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, fill);
}

Function replacement_for(const char* name) noexcept {
  for (const Name& known : kNames) {
    if (std::strcmp(known.name, name) == 0) return replacement_of(known.replacement);
  }
  return nullptr;
}

}  // namespace weft::mpi

// Returns where the call goes.
Function weft_mpi_resolve(std::atomic<Function>* target, const void* caller) {
  using namespace weft::mpi;
  set_targets();
  const char* name = kNames[target - weft_mpi_targets].name;
  // Relaxed, as in fill().
  Function function = target->load(std::memory_order_relaxed);
  if (function != weft_mpi_first_call) return function;
  // MPI had no such function then; the library of its Fortran routines may have been loaded since.
  function = reinterpret_cast<Function>(g_several ? find_own_of(caller, name) : find_own(name));
  if (function == nullptr) weft::base::fatal("%s: %s is called, but no MPI of the process has it", kPart, name);
  if (!g_several) target->store(function, std::memory_order_relaxed);
  return function;
}
