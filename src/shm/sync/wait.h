// SPDX-License-Identifier: Apache-2.0
// How a thread waits for a word in shared memory: by a futex. A user-level thread lets others run on its CPU instead.
#pragma once

#include <atomic>
#include <cstdint>

namespace weft::shm {

inline constexpr int64_t kSecondNs = 1'000'000'000;
inline constexpr int64_t kForever = INT64_MAX;  // as a deadline

// How long to look at a word before sleeping on it: about as long as it takes to fall asleep and be woken. 0 on a
// machine with one CPU, where no other thread runs meanwhile.
int64_t spin_ns() noexcept;

// Waits while `word` holds `expected`, and until `deadline_ns` of CLOCK_MONOTONIC. May return early: the caller looks
// again.
void wait(const std::atomic<uint32_t>& word, uint32_t expected, int64_t deadline_ns) noexcept;
// Wakes all threads that wait for `word` by a futex; user-level threads look by themselves.
void wake(const std::atomic<uint32_t>& word) noexcept;

// A pause in a loop that looks for something that no futex signals: lets other user-level threads run. Where there are
// none it rests, longer each time, from some microseconds up to a millisecond.
class Pause {
 public:
  void once() noexcept;

 private:
  int64_t ns_ = 4'000;
};

}  // namespace weft::shm
