// SPDX-License-Identifier: Apache-2.0
// How a thread waits for a word in shared memory: a futex, or, for a user-level thread, the others of its CPU.
#pragma once

#include <atomic>
#include <cstdint>

namespace weft::shm {

inline constexpr int64_t kSecondNs = 1'000'000'000;
inline constexpr int64_t kForever = INT64_MAX;  // as a deadline

// How long to look at a word before sleeping on it: about as long as to fall asleep and be woken. 0 on one CPU, where
// nobody else runs meanwhile.
int64_t spin_ns() noexcept;

// While `word` holds `expected`, and until `deadline_ns` of CLOCK_MONOTONIC. May return early; the caller looks again.
void wait(const std::atomic<uint32_t>& word, uint32_t expected, int64_t deadline_ns) noexcept;
// Wakes all that wait for `word` by a futex; the others look by themselves.
void wake(const std::atomic<uint32_t>& word) noexcept;

// For loops that look for something that no futex tells of: lets others run, and rests longer each time where nobody
// does, from some microseconds up to a millisecond.
class Pause {
 public:
  void once() noexcept;

 private:
  int64_t ns_ = 4'000;
};

}  // namespace weft::shm
