// SPDX-License-Identifier: Apache-2.0
// The variables of locks (lock/lock.h), which a tool is told of by their addresses.
#pragma once

#include <atomic>
#include <cstdint>

namespace weft::openmp {

using LockWord = std::atomic<uint32_t>;
static_assert(sizeof(LockWord) == 4);
enum : uint32_t {
  kFree,
  kHeld,
  kContended,  // held, and somebody is parked
  kReported,   // held, and a tool is to be told of the end
  kNever,      // no lock's
};

// Owned by a task region, which may take it again.
struct NestLock {
  LockWord word{0};
  int count = 0;
  // Relaxed: a task finds its own address here only if it wrote it.
  std::atomic<const void*> owner{nullptr};
};

}  // namespace weft::openmp
