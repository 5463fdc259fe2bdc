// SPDX-License-Identifier: Apache-2.0
// The guards of function-local statics: the three functions of the C++ ABI that the compiler calls where threads may be
// the first at the same time. libstdc++'s wait by syscall(3), which leaves EAGAIN in errno when the initialization ends
// just then; but a member whose first task meets another's has called nothing of the C library. Here stands
// what the runtime uses in their place; it is not exported.
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "platform/futex_lock.h"

namespace weft::platform {

namespace {

// What the ABI gives us: eight bytes, zero at first. Compilers look at the first byte, and call only while it is 0.
struct StaticGuard {
  std::atomic<uint8_t> initialized;
  FutexLock lock;  // held while somebody initializes
};
static_assert(sizeof(StaticGuard) == 8 && offsetof(StaticGuard, initialized) == 0);

}  // namespace

}  // namespace weft::platform

using weft::platform::StaticGuard;

// 1: the caller is to initialize the object, and to say so.
extern "C" int __cxa_guard_acquire(StaticGuard* guard) {
  guard->lock.lock();
  // Relaxed: the lock orders it.
  if (guard->initialized.load(std::memory_order_relaxed) == 0) return 1;
  guard->lock.unlock();
  return 0;
}

extern "C" void __cxa_guard_release(StaticGuard* guard) {
  // Release: a thread that sees it without the lock sees the object.
  guard->initialized.store(1, std::memory_order_release);
  guard->lock.unlock();
}

extern "C" void __cxa_guard_abort(StaticGuard* guard) { guard->lock.unlock(); }
