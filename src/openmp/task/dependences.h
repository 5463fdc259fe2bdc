// SPDX-License-Identifier: Apache-2.0
// Dependences between the children of a task (OpenMP 5.2, section 15.9.5).
//
// For each location the parent keeps the last two sets of children that named it: those of the set that grows now may
// run side by side (several readers, several of inoutset, or one writer), and all of it wait for all of the set before.
// Only the parent creates children, so its table needs no lock. A child is referred to by its record and the record's
// life: records are never given back to the system, so a child that has ended is recognized by its next life.
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
  // Those from here on are served alike, and only tools are told of the difference. The tasks of mutexinoutset may run
  // in any order one at a time: the order of creation is one.
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

  // Makes `task` a successor of the children that it has to wait for, and, if `keep`, a child that later ones may have
  // to wait for.
  void link(Task* task, const Dependence& dependence, bool keep) noexcept;

  // All children have ended. Keeps the memory.
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

// Links `task`, a child of `parent` that has not started. True when it need not wait for anybody. A task that is not
// kept only waits: nobody will wait for it.
bool link_dependences(Task* parent, Task* task, const Dependence* list, int count, bool keep) noexcept;

// `task` has ended: calls `ready(successor)` for each successor that waits for nobody else any more, and unblocks the
// context that waits in its place.
template <class Ready>
void release_successors(Task* task, Ready&& ready) noexcept {
  if (!task->linked) return;
  task->linked = false;
  task->edges.lock();
  // Release: a thread that finds that the task has ended sees what it did. From here on no thread adds a successor.
  task->life.store(task->life.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  task->edges.unlock();
  for (Task* successor : task->successors) {
    // Read before: a successor that somebody waits for may be gone as soon as the count is down.
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
