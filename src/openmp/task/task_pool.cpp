// SPDX-License-Identifier: Apache-2.0
#include "openmp/task/task_pool.h"

#include <bit>
#include <cstdlib>
#include <new>

#include "base/message.h"
#include "openmp/ompt/events.h"
#include "openmp/team/record_cache.h"

namespace weft::openmp {

namespace {

int class_of(size_t bytes) noexcept {
  if (bytes <= TaskPool::kSmallest) return 0;
  return std::bit_width((bytes - 1) / TaskPool::kSmallest);
}

}  // namespace

Task* TaskPool::take(size_t bytes) noexcept {
  const int index = class_of(bytes);
  Task* task = free[index];
  if (task == nullptr && returned.load(std::memory_order_relaxed) != nullptr) {
    Task* all = returned.exchange(nullptr, std::memory_order_acquire);
    if (ompt::on()) ompt::take_returned_memory(this);
    while (all != nullptr) {
      Task* next = all->next_free;
      put(all);
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

void TaskPool::put(Task* task) noexcept {
  const int index = class_of(task->capacity);
  task->next_free = free[index];
  free[index] = task;
}

void free_task(Task* task) noexcept {
  std::free(task->big);
  task->big = nullptr;
  if (task->pool == &store().tasks) {
    task->pool->put(task);
    return;
  }
  auto& returned = task->pool->returned;
  if (ompt::on()) ompt::return_memory(task->pool);
  Task* first = returned.load(std::memory_order_relaxed);
  do {
    task->next_free = first;
  } while (!returned.compare_exchange_weak(first, task, std::memory_order_release, std::memory_order_relaxed));
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
