// SPDX-License-Identifier: Apache-2.0
// The numbers of a copy's jobs: no two that run at the same time have the same one.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "platform/spinlock.h"

namespace weft::interpose {

// Thread-safe. Calls get their numbers in the order in which they have asked: one that needs many would wait for ever
// beside others that need few.
class Numbers {
 public:
  static constexpr int kMost = 1024;

  void set_most(int most) noexcept { most_ = most < kMost ? most : kMost; }
  int most() const noexcept { return most_; }
  // Takes `count` numbers, from `first` on. Waits until there are that many free; there must be that many in all.
  void take(int first, int count, uint16_t* numbers) noexcept;
  void put(int count, const uint16_t* numbers) noexcept;
  // Whether calls wait.
  bool has_queue() noexcept;

  // The two bracket a fork. In the child no other thread has numbers, or waits for some.
  void before_fork() noexcept { lock_.lock(); }
  void after_fork(bool in_child) noexcept;

 private:
  bool try_take(int first, int count, uint16_t* numbers) noexcept;

  int most_ = 0;
  platform::Spinlock lock_;
  // Guarded by the lock: what is taken; how many calls have had to queue up, and how many of these have been served.
  std::array<uint64_t, kMost / 64> taken_{};
  uint32_t queued_ = 0;
  uint32_t served_ = 0;
  std::atomic<uint32_t> changes_{0};  // those that wait sleep on it; counts what they may wait for
};

}  // namespace weft::interpose
