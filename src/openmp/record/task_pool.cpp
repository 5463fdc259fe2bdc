// SPDX-License-Identifier: Apache-2.0
#include "openmp/record/task_pool.h"

#include <bit>
#include <cstdlib>
#include <new>
#include <utility>

#include "base/message.h"
#include "openmp/record/record_cache.h"
#include "openmp/tool/events.h"

namespace weft::openmp {

namespace {

int class_of(size_t bytes) noexcept {
  if (bytes <= TaskPool::kSmallest) return 0;
  return std::bit_width((bytes - 1) / TaskPool::kSmallest);
}

TaskBatch* batch_behind(Task* task) noexcept { return reinterpret_cast<TaskBatch*>(task + 1); }

}  // namespace

Task* TaskPool::take(size_t bytes) noexcept {
  const int index = class_of(bytes);
  Task* task = free[index];
  if (task == nullptr && returned.load(std::memory_order_relaxed) != nullptr) {
    Task* all = returned.exchange(nullptr, std::memory_order_acquire);
    tool::take_returned_memory(this);
    while (all != nullptr) {
      Task* next = all->next_free;
      const TaskBatch& batch = *batch_behind(all);
      for (int i = 0; i < batch.count; ++i) put(batch.tasks[static_cast<size_t>(i)], all->capacity);
      put(all, all->capacity);
      all = next;
    }
    task = free[index];
  }
  if (task != nullptr) {
    free[index] = task->next_free;
    return task;
  }
  const size_t capacity = kSmallest << index;
  void* memory = std::aligned_alloc(64, (sizeof(Task) + capacity + 63) / 64 * 64);
  if (memory == nullptr) base::lacking("no memory for an explicit task of %zu bytes", bytes);
  task = new (memory) Task;
  task->pool = this;
  task->capacity = capacity;
  return task;
}

void TaskPool::put(Task* task, size_t capacity) noexcept {
  const int index = class_of(capacity);
  task->next_free = free[index];
  free[index] = task;
}

void TaskReturns::add(Task* task) noexcept {
  tool::return_memory(task->pool);
  // Larger ones are too dear to be kept from their pool.
  constexpr size_t kLargestKept = 4 * TaskPool::kSmallest;
  if (first_ != nullptr && (first_->pool != task->pool || first_->capacity != task->capacity)) flush();
  if (first_ == nullptr) {
    first_ = task;
  } else {
    more_.tasks[static_cast<size_t>(more_.count++)] = task;
  }
  // A thread that is in no team may never come back.
  if (more_.count == TaskBatch::kMost || task->capacity > kLargestKept || current_member() == nullptr) flush();
}

void TaskReturns::flush() noexcept {
  if (first_ == nullptr) return;
  Task* head = std::exchange(first_, nullptr);
  *new (batch_behind(head)) TaskBatch = more_;
  more_.count = 0;
  auto& returned = head->pool->returned;
  Task* first = returned.load(std::memory_order_relaxed);
  do {
    head->next_free = first;
  } while (!returned.compare_exchange_weak(first, head, std::memory_order_release, std::memory_order_relaxed));
}

void free_task(Task* task) noexcept {
  std::free(task->big);
  task->big = nullptr;
  RecordCache& mine = store();
  if (task->pool == &mine.tasks) {
    mine.tasks.put(task, task->capacity);
  } else {
    mine.returns.add(task);
  }
}

Task* allocate_task(size_t bytes, size_t alignment, void** payload) noexcept {
  const size_t room = bytes + (alignment > alignof(Task) ? alignment : 0);
  const bool fits = room <= TaskPool::largest();
  Task* task = store().tasks.take(fits ? room : 0);
  char* start = reinterpret_cast<char*>(task + 1);
  if (!fits) {
    task->big = std::malloc(room + alignof(std::max_align_t));
    if (task->big == nullptr) base::lacking("no memory for an explicit task of %zu bytes", bytes);
    start = static_cast<char*>(task->big);
  }
  const auto address = reinterpret_cast<uintptr_t>(start);
  const size_t unit = alignment > 1 ? alignment : 1;
  if (payload != nullptr) *payload = reinterpret_cast<void*>((address + unit - 1) / unit * unit);
  return task;
}

}  // namespace weft::openmp
