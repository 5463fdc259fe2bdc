// SPDX-License-Identifier: Apache-2.0
// Memory of tasks: free lists by size that belong to the store of a context. A task freed elsewhere goes back through a
// list that anybody pushes to and only the owner empties. The memory is never given back, so that thieves
// may look at a task that has just ended.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>

#include "openmp/task/task.h"

namespace weft::openmp {

struct TaskPool {
  // Room after the record, in bytes: 128 << class.
  static constexpr int kClasses = 8;
  static constexpr size_t kSmallest = 128;

  std::array<Task*, kClasses> free{};
  // Release by the threads that return a task, acquire by the owner, which takes all.
  alignas(64) std::atomic<Task*> returned{nullptr};

  // A task with room for `bytes`, which are at most the largest class.
  Task* take(size_t bytes) noexcept;
  void put(Task* task) noexcept;

  static constexpr size_t largest() noexcept { return kSmallest << (kClasses - 1); }
};

}  // namespace weft::openmp
