// SPDX-License-Identifier: Apache-2.0
// The futex operations the scheduler parks on (futex(2), private flavour), and those of words that several
// processes see. They do not go through libc, so they leave errno alone: a parked thread may sleep while its identity
// runs elsewhere.
#pragma once

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <ctime>

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "platform/futex_call.h"

namespace weft::platform {

// Sleeps while `word` still holds `expected`. May return early; the caller re-checks.
inline void futex_wait(const std::atomic<uint32_t>& word, uint32_t expected) noexcept {
  detail::futex(word, FUTEX_WAIT_PRIVATE, expected);
}

// The same for at most `ns` nanoseconds; true: they have passed.
inline bool futex_wait_for(const std::atomic<uint32_t>& word, uint32_t expected, int64_t ns) noexcept {
  const timespec limit = {ns / 1'000'000'000, ns % 1'000'000'000};
  return detail::futex(word, FUTEX_WAIT_PRIVATE, expected, &limit) == -ETIMEDOUT;
}

// Wakes at most `count` sleepers of `word`.
inline void futex_wake(const std::atomic<uint32_t>& word, int count) noexcept {
  detail::futex(word, FUTEX_WAKE_PRIVATE, count);
}

// The same for a word in memory that processes share; at most `ns` nanoseconds.
inline void futex_wait_shared(const std::atomic<uint32_t>& word, uint32_t expected, int64_t ns) noexcept {
  constexpr int64_t kSecond = 1'000'000'000;
  const timespec limit{static_cast<time_t>(ns / kSecond), static_cast<long>(ns % kSecond)};
  detail::futex(word, FUTEX_WAIT, expected, &limit);
}

inline void futex_wake_shared(const std::atomic<uint32_t>& word, int count) noexcept {
  detail::futex(word, FUTEX_WAKE, count);
}

// Whether somebody sleeps on `word`, which still holds `expected`: the first sleeper is put in the queue again, behind
// the others. Through libc, so it may change errno.
inline bool futex_has_sleeper(const std::atomic<uint32_t>& word, uint32_t expected) noexcept {
  constexpr long kWaken = 0, kRequeued = 1;
  return syscall(SYS_futex, &word, FUTEX_CMP_REQUEUE_PRIVATE, kWaken, kRequeued, &word, expected) > 0;
}

}  // namespace weft::platform
