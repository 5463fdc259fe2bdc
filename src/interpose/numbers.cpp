// SPDX-License-Identifier: Apache-2.0
#include "interpose/numbers.h"

#include <climits>

#include "core/api/wait.h"

namespace weft::interpose {

// With the lock held.
bool Numbers::try_take(int first, int count, uint16_t* numbers) noexcept {
  int found = 0;
  for (int number = first; number < most_ && found < count; ++number) {
    if ((taken_[static_cast<size_t>(number) / 64] >> (number % 64) & 1) != 0) continue;
    numbers[found++] = static_cast<uint16_t>(number);
  }
  if (found < count) return false;
  for (int i = 0; i < count; ++i) taken_[numbers[i] / 64u] |= uint64_t{1} << (numbers[i] % 64u);
  return true;
}

void Numbers::take(int first, int count, uint16_t* numbers) noexcept {
  lock_.lock();
  if (queued_ == served_ && try_take(first, count, numbers)) {
    lock_.unlock();
    return;
  }
  const uint32_t mine = queued_++;
  for (bool is_there = false; !is_there;) {
    // Read with the lock held: what changes after this look counts, and park() returns at once.
    const uint32_t seen = changes_.load();
    is_there = served_ == mine && try_take(first, count, numbers);
    const bool others_wait = is_there && ++served_ != queued_;
    lock_.unlock();
    if (others_wait) {
      changes_.fetch_add(1);
      core::unpark(changes_, INT_MAX);
    } else if (!is_there) {
      core::park(changes_, seen);
      lock_.lock();
    }
  }
}

void Numbers::put(int count, const uint16_t* numbers) noexcept {
  lock_.lock();
  for (int i = 0; i < count; ++i) taken_[numbers[i] / 64u] &= ~(uint64_t{1} << (numbers[i] % 64u));
  const bool others_wait = queued_ != served_;
  lock_.unlock();
  if (!others_wait) return;
  changes_.fetch_add(1);
  core::unpark(changes_, INT_MAX);
}

bool Numbers::has_queue() noexcept {
  lock_.lock();
  const bool others_wait = queued_ != served_;
  lock_.unlock();
  return others_wait;
}

void Numbers::after_fork(bool in_child) noexcept {
  if (in_child) {
    taken_.fill(0);
    served_ = queued_;
  }
  lock_.unlock();
}

}  // namespace weft::interpose
