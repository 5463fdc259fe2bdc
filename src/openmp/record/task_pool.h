// SPDX-License-Identifier: Apache-2.0
// Memory of tasks: free lists by size that belong to the store of a context. Tasks freed elsewhere go back by batches,
// through a list that anybody pushes to and only the owner empties. The memory is never given back, so that thieves may
// look at a task that has just ended.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>

#include "openmp/record/task.h"

namespace weft::openmp {

struct TaskPool {
  // Room after the record, in bytes: 128 << class.
  static constexpr int kClasses = 8;
  static constexpr size_t kSmallest = 128;

  std::array<Task*, kClasses> free{};
  // Batches, each a TaskBatch behind the record of one of its tasks, and these linked by `next_free`. Release by the
  // threads that return one, acquire by the owner, which takes all.
  alignas(64) std::atomic<Task*> returned{nullptr};

  // A task with room for `bytes`, which are at most the largest class.
  Task* take(size_t bytes) noexcept;
  void put(Task* task, size_t capacity) noexcept;

  static constexpr size_t largest() noexcept { return kSmallest << (kClasses - 1); }
};

// Tasks of one pool and one size, beside that behind which it lies. The owner of the pool reads their addresses here,
// and not out of the tasks, whose lines others have.
struct TaskBatch {
  static constexpr int kMost = 15;
  int count = 0;
  std::array<Task*, kMost> tasks{};
};
static_assert(sizeof(TaskBatch) <= TaskPool::kSmallest);

// Tasks of others' pools that have been freed here, and go back when there are enough, or when another pool's come.
class TaskReturns {
 public:
  void add(Task* task) noexcept;
  // Gives back what is there.
  void flush() noexcept;

 private:
  Task* first_ = nullptr;
  TaskBatch more_;
};

}  // namespace weft::openmp
