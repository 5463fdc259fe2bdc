// SPDX-License-Identifier: Apache-2.0
// Spawned tasks: independent of any region. Free agents run them (free_agent.h), so they run whether a region is open
// or not. Such a task has no parent and no siblings. It has completed when its body has ended and its events have come.
// The thread that brings about the last of these calls the task's callback.
//
// A body that has asked to be suspended is run again after it has returned, as if the task had just begun.
#pragma once

#include <cstdint>

#include "openmp/record/team.h"

namespace weft::openmp {

// When the body runs again.
enum class SuspendMode : uint8_t {
  none,  // after unblock_task()
  submit,  // at once, after other work
  timeout,  // after a time, in nanoseconds
  events,  // when all events of the task have come
};

struct SpawnedBody {
  void (*body)(void* argument);
  void* argument;
  void (*completed)(void* argument);  // the callback, or null
  void* completed_argument;
};

// May be called by any thread at any time.
void spawn_task(const SpawnedBody& body) noexcept;

inline bool is_spawned(const Task* task) noexcept {
  return !task->implicit && task->parent.load(std::memory_order_relaxed) == nullptr;
}

// Both are called by the task itself. A mode is in force until another one is set. suspend_after_body() holds for this
// run of the body only.
void set_suspend_mode(Task* task, SuspendMode mode, uint64_t ns) noexcept;
void suspend_after_body(Task* task) noexcept;

// Calls the task's callback.
void report_completion(const Task* task) noexcept;

}  // namespace weft::openmp
