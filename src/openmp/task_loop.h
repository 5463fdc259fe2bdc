// SPDX-License-Identifier: Apache-2.0
// How the taskloop construct cuts its iterations into tasks (OpenMP 5.2, section 12.6).
#pragma once

#include <algorithm>
#include <cstdint>

namespace weft::openmp {

struct TaskLoopClauses {
  uint64_t grain_size = 0;  // 0: not said
  uint64_t task_count = 0;
  bool strict = false;
};

// Tasks that an implementation may choose freely: some for each member, so that they can be balanced.
inline constexpr uint64_t kTasksPerMember = 8;

class TaskLoopPlan {
 public:
  TaskLoopPlan(uint64_t iterations, const TaskLoopClauses& clauses, int members) noexcept : iterations_(iterations) {
    if (iterations == 0) return;
    if (clauses.grain_size > 0 && clauses.strict) {
      // All have the grain's size, the last may have less.
      step_ = clauses.grain_size;
      tasks_ = (iterations - 1) / step_ + 1;
      return;
    }
    // A grain means at least so many and less than twice that.
    const uint64_t wanted = clauses.grain_size > 0   ? iterations / clauses.grain_size
                            : clauses.task_count > 0 ? clauses.task_count
                                                     : kTasksPerMember * static_cast<uint64_t>(members);
    tasks_ = std::clamp<uint64_t>(wanted, 1, iterations);
  }

  uint64_t tasks() const noexcept { return tasks_; }

  // The first iteration of task `index`; that of tasks() is the end.
  uint64_t begin(uint64_t index) const noexcept {
    if (step_ > 0) return std::min(index * step_, iterations_);
    const uint64_t each = iterations_ / tasks_;
    const uint64_t rest = iterations_ % tasks_;
    return index * each + std::min(index, rest);
  }

 private:
  uint64_t iterations_ = 0;
  uint64_t tasks_ = 0;
  uint64_t step_ = 0;  // 0: cut evenly
};

}  // namespace weft::openmp
