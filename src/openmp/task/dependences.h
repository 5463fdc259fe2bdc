// SPDX-License-Identifier: Apache-2.0
// Dependences between the children of a task (OpenMP 5.2, section 15.9.5).
//
// For each location the parent keeps the last two sets of children that named it. The children of the set that grows
// now may run side by side (several readers, several of inoutset, or one writer). Each of them waits for all children
// of the set before. Only the parent creates children, so its table needs no lock. The table names a child by its
// record and the record's life: records are never given back to the system, so a record whose life has changed is that
// of a child that has ended.
#pragma once

#include <cstdint>

#include "base/small_list.h"
#include "core/api/records.h"
#include "core/api/wait.h"
#include "openmp/task/task.h"

namespace weft::openmp {

enum class DependKind : uint8_t {
  in,
  inoutset,
  // The kinds from here on are served alike; only a tool learns the difference. The tasks of mutexinoutset may run in
  // any order, one at a time: the order of creation is one.
  out,
  inout,
  mutexinoutset,
};

// Whether tasks that name a location so may run side by side.
inline bool is_shared(DependKind kind) noexcept { return kind < DependKind::out; }

struct Dependence {
  const void* location;  // null: omp_all_memory
  DependKind kind;
};

struct TaskRef {
  Task* task;
  uint32_t life;
};

class DependTable {
 public:
  DependTable() noexcept = default;
  DependTable(const DependTable&) = delete;
  DependTable& operator=(const DependTable&) = delete;

  // Makes `task` a successor of the children that it has to wait for. With `keep`, later children may have to wait for
  // `task`.
  void link(Task* task, const Dependence& dependence, bool keep) noexcept;

  // To be called when all children have ended. Keeps the memory.
  void clear() noexcept;

 private:
  using Refs = base::SmallList<TaskRef, 2>;
  struct Location {
    const void* address;
    DependKind kind;
    Refs now;
    Refs before;
  };

  Location* find(const void* address) noexcept;
  Location* insert(const void* address) noexcept;
  void grow() noexcept;
  void link_to_all(Task* task, bool keep) noexcept;

  Location* locations_ = nullptr;  // in the order of insertion; those beyond count_ keep their lists' memory
  int count_ = 0;
  int capacity_ = 0;
  int made_ = 0;
  int32_t* buckets_ = nullptr;  // open addressing: 1 + index of a location, or 0; twice the capacity at least
  uint32_t mask_ = 0;
  TaskRef everything_{nullptr, 0};  // the last child that named omp_all_memory
};

// Links `task`, a child of `parent` that has not started, to its predecessors. Returns whether it has none to wait for.
// Without `keep` no later task will wait for `task`.
bool link_dependences(Task* parent, Task* task, const Dependence* list, int count, bool keep) noexcept;

// To be called when `task` has ended. A successor that waits for no other task any more is ready: calls
// ready(successor); or, where a context waits for the successor's predecessors itself (link_and_wait()), unblocks that.
template <class Ready>
void release_successors(Task* task, Ready&& ready) noexcept {
  if (!task->linked) return;
  task->linked = false;
  task->edges.lock();
  // Release: a thread that finds that the task has ended sees what it did. From here on no thread adds a successor.
  task->life.store(task->life.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  task->edges.unlock();
  for (Task* successor : task->successors) {
    // Read before the count: a successor that a context waits for may be gone as soon as the count is down.
    core::Context* waiter = successor->waiter.load(std::memory_order_acquire);
    if (successor->unmet.fetch_sub(1, std::memory_order_acq_rel) != 1) continue;
    if (waiter != nullptr) {
      core::unblock(waiter);
    } else {
      ready(successor);
    }
  }
  task->successors.clear();
}

}  // namespace weft::openmp
