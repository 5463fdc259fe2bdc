// SPDX-License-Identifier: Apache-2.0
// The variables of locks (lock/lock.h), which a tool is told of by their addresses.
//
// A word has the lock's state in its lowest bits, and above them who holds it, for inspectors
// (core/monitor/inspection.h): the number that gettid gives under the holder's identity; 0: not known.
#pragma once

#include <atomic>
#include <cstdint>

#include <sys/types.h>

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

inline constexpr unsigned kLockStateBits = 3;
inline constexpr uint32_t kLockStateMask = (1u << kLockStateBits) - 1;
constexpr uint32_t state_of(uint32_t word) noexcept { return word & kLockStateMask; }
constexpr uint32_t with_state(uint32_t word, uint32_t state) noexcept { return (word & ~kLockStateMask) | state; }
constexpr pid_t holder_of(uint32_t word) noexcept { return static_cast<pid_t>(word >> kLockStateBits); }

// kHeld, by the caller's identity.
inline constinit thread_local uint32_t t_held = kHeld;

// To be called under an identity whose thread has this number.
inline void hold_locks_as(pid_t thread) noexcept {
  t_held = with_state(static_cast<uint32_t>(thread) << kLockStateBits, kHeld);
}

// Owned by a task region, which may take it again.
struct NestLock {
  LockWord word{0};
  int count = 0;
  // Relaxed: a task finds its own address here only if it wrote it.
  std::atomic<const void*> owner{nullptr};
};

}  // namespace weft::openmp
