// SPDX-License-Identifier: Apache-2.0
// How the taskloop construct cuts its iterations into tasks (OpenMP 5.2, section 12.6).
#pragma once

#include <algorithm>
#include <cstdint>

#include "openmp/record/chunk_range.h"
#include "openmp/record/team.h"
#include "openmp/task/task.h"
#include "openmp/tool/events.h"

namespace weft::openmp {

struct TaskLoopClauses {
  uint64_t grain_size = 0;  // 0: not said
  uint64_t task_count = 0;
  bool strict = false;
};

// How many tasks a loop gets where the program does not say: some for each member, so that they can be balanced.
inline constexpr uint64_t kTasksPerMember = 8;

class TaskLoopPlan {
 public:
  TaskLoopPlan(uint64_t iterations, const TaskLoopClauses& clauses, int members) noexcept : iterations_(iterations) {
    if (iterations == 0) return;
    if (clauses.grain_size > 0 && clauses.strict) {
      // All tasks have the grain's size; the last one may have less.
      step_ = clauses.grain_size;
      tasks_ = (iterations - 1) / step_ + 1;
      return;
    }
    // With a grain size, each task has at least that many iterations, and less than twice that.
    const uint64_t wanted = clauses.grain_size > 0   ? iterations / clauses.grain_size
                            : clauses.task_count > 0 ? clauses.task_count
                                                     : kTasksPerMember * static_cast<uint64_t>(members);
    tasks_ = std::clamp<uint64_t>(wanted, 1, iterations);
    each_ = iterations / tasks_;
    rest_ = iterations % tasks_;
  }

  uint64_t tasks() const noexcept { return tasks_; }

  // The first iteration of task `index`; begin(tasks()) is the end of the loop.
  uint64_t begin(uint64_t index) const noexcept {
    if (step_ > 0) return std::min(index * step_, iterations_);
    return index * each_ + std::min(index, rest_);
  }

 private:
  uint64_t iterations_ = 0;
  uint64_t tasks_ = 0;
  uint64_t step_ = 0;  // the size of each task; 0: cut evenly: `each_` iterations, and one more for the first `rest_`
  uint64_t each_ = 0;
  uint64_t rest_ = 0;
};

// Whether runners can take the tasks by their numbers. Otherwise the tasks are made one by one: where there are too
// many for that, where a tool watches them, or where a task that is paused would keep its runner from the tasks that
// follow.
inline bool suits_runners(const TaskLoopPlan& plan) noexcept {
  return plan.tasks() < ChunkRange::kLimit && !tool::is_on() && !tasks_may_pause();
}

// The adapter's functions for the tasks of a loop. `pattern` holds the data that each of them starts with.
struct TaskLoopCalls {
  // Makes a task with a copy of the pattern's data.
  Task* (*copy)(Task* pattern);
  // Runs iterations begin .. end-1, counted from 0, in `task`, which may have run others before.
  void (*run)(Task* task, Task* pattern, uint64_t begin, uint64_t end);
};

// Runs the tasks of a loop without making them one by one. The caller and as many runners as can be of use share the
// numbers of the tasks; one that has none left takes half of another's. On each member one record serves for all its
// tasks, one after the other. For tasks whose data need no construction. Returns when all tasks have begun; the pattern
// is freed when all have ended.
void run_task_loop(Member* self, const TaskLoopPlan& plan, const TaskLoopCalls& calls, Task* pattern,
                   const TaskClauses& clauses) noexcept;

}  // namespace weft::openmp
