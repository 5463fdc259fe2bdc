// SPDX-License-Identifier: Apache-2.0
// Tasks of constructs that have been cancelled (team/cancel.h).
#pragma once

#include <atomic>

#include "openmp/record/task.h"

namespace weft::openmp {

// Whether the taskgroup or one around it has been cancelled.
bool is_cancelled(const TaskGroup* group) noexcept;

// Set by the first cancellation of the process; before it tasks need not look further. Relaxed: a hint.
extern std::atomic<bool> g_any_cancelled;

// Whether a task that has not begun is to be dropped.
bool is_dropped_after_all(const Task* task) noexcept;
inline bool is_dropped(const Task* task) noexcept {
  return g_any_cancelled.load(std::memory_order_relaxed) && is_dropped_after_all(task);
}

}  // namespace weft::openmp
