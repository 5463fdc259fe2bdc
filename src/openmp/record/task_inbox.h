// SPDX-License-Identifier: Apache-2.0
// The inbox of a team: tasks that became ready outside of the team, found their member's deque full, or have a
// priority. Those with a higher priority stand before those with a lower one; equals in the order in which they came.
#pragma once

#include <atomic>

#include "openmp/record/task.h"
#include "platform/spinlock.h"

namespace weft::openmp {

class TaskInbox {
 public:
  void put(Task* task) noexcept;

  // The first that is `wanted`, or null.
  template <class Wanted>
  Task* take(Wanted&& wanted) noexcept {
    lock_.lock();
    Task* previous = nullptr;
    Task* task = first_;
    while (task != nullptr && !wanted(task)) {
      previous = task;
      task = task->next_free;
    }
    if (task != nullptr) {
      (previous != nullptr ? previous->next_free : first_) = task->next_free;
      if (last_ == task) last_ = previous;
      count(-1);
    }
    lock_.unlock();
    return task;
  }

  // How many there are; a hint.
  int size() const noexcept { return size_.load(std::memory_order_relaxed); }

 private:
  // With the lock held; relaxed, the count is a hint to those without it.
  void count(int more) noexcept {
    size_.store(size_.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
  }

  platform::Spinlock lock_;
  Task* first_ = nullptr;  // linked by `next_free`
  Task* last_ = nullptr;
  std::atomic<int> size_{0};
};

}  // namespace weft::openmp
