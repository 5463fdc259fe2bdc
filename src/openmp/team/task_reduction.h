// SPDX-License-Identifier: Apache-2.0
// Reductions that tasks take part in and that the runtime combines: it keeps a copy of each variable for each member of
// the team, and calls the functions that the program brings. KMP's way; with GOMP the program combines
// (reduction_blocks.h). The two share no code: there the program reads where the copies are from blocks of its own,
// here copies are made one by one, some at their first use only.
#pragma once

#include <cstddef>
#include <cstdint>

#include "openmp/task/task.h"

namespace weft::openmp {

// A reduced variable as the program describes it; the layout is KMP's (kmp_taskred_input_t).
struct ReducedVariable {
  void* shared;
  void* original;  // what initializers look at
  size_t size;
  void* init;  // void(void* copy, void* original), or void(void* copy) without an original
  void (*fini)(void* copy);
  void (*combine)(void* into, void* copy);
  // A copy is made when its member first asks for it, on that member, since the initializer looks at what the program
  // has set there.
  static constexpr uint32_t kLazy = 1;
  uint32_t flags;
};

// Adds reductions to the taskgroup that the caller is in, which is the answer.
TaskGroup* add_reductions(Member* self, int count, const ReducedVariable* variables) noexcept;

// For a construct that all members meet: each begins a taskgroup, which is the answer, and they share the copies.
TaskGroup* begin_shared_reductions(Member* self, int count, const ReducedVariable* variables) noexcept;

// The group's tasks have ended. The last group that shares the copies combines them into its variables.
void release_reductions(TaskReductions* group) noexcept;

// Ends the caller's taskgroup, and its reductions if it has any.
inline void end_reducing_taskgroup(Member* self, TaskGroup* group,
                                   tool::Listener listener = tool::Listener::possible) noexcept {
  TaskReductions* reductions = group->reductions;
  end_taskgroup(self, listener);
  if (reductions != nullptr) release_reductions(reductions);
}

// The caller's copy of the variable at `address`, which is the variable itself or some member's copy of it, in the
// group or in one around it; null: in the current task's. Ends the process with a message if no group reduces it.
void* find_reduction_copy(Member* self, TaskGroup* group, void* address) noexcept;

}  // namespace weft::openmp
