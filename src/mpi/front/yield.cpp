// SPDX-License-Identifier: Apache-2.0
// sched_yield() as MPI calls it. An MPI that is to yield when it is idle does so whenever a test finds nothing. That is
// right where MPI waits by itself, but costs a system call per test where weft waits and has other work. So the library
// decides (link.h).
#include "mpi/front/yield.h"

#include <atomic>

#include <dlfcn.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace weft::mpi {

namespace {

// Acquire and release: a thread that sees the function sees the library that it lies in.
std::atomic<bool (*)()> g_library{nullptr};

using Yield = int (*)();

Yield own_yield() noexcept {
  // Relaxed: each thread finds the same.
  static std::atomic<Yield> found{nullptr};
  Yield yield = found.load(std::memory_order_relaxed);
  if (yield != nullptr) return yield;
  yield = reinterpret_cast<Yield>(dlsym(RTLD_NEXT, "sched_yield"));
  found.store(yield, std::memory_order_relaxed);
  return yield;
}

}  // namespace

void hand_over_yields(bool (*library)()) noexcept { g_library.store(library, std::memory_order_release); }

}  // namespace weft::mpi

extern "C" [[gnu::visibility("default")]] int sched_yield() noexcept {
  bool (*const library)() = weft::mpi::g_library.load(std::memory_order_acquire);
  if (library != nullptr && library()) return 0;
  const auto yield = weft::mpi::own_yield();
  return yield != nullptr ? yield() : static_cast<int>(syscall(SYS_sched_yield));
}
