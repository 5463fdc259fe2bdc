// SPDX-License-Identifier: Apache-2.0
// KMP: reductions that tasks take part in. The runtime keeps a copy of each variable for each member and combines them
// with the functions that the program brings.
#pragma once

#include <cstddef>
#include <cstdint>

#include "openmp/kmp/kmp.h"

namespace weft::openmp::kmp {

// One variable as the program describes it (kmp_taskred_input_t).
struct ReductionInput {
  void* shared;
  void* original;  // what initializers look at
  size_t size;
  void* init;  // void(void* copy, void* original), or void(void* copy) without an original
  void (*fini)(void* copy);
  void (*combine)(void* into, void* copy);
  uint32_t flags;
};

// The same of older compilers (kmp_task_red_input_t).
struct OldReductionInput {
  void* shared;
  size_t size;
  void* init;
  void (*fini)(void* copy);
  void (*combine)(void* into, void* copy);
  uint32_t flags;
};

// The members' copies; of a taskgroup, or shared by the groups of all members that met one construct.
struct Copies;

// What one group has: the copies, and its own idea of where the shared variables are.
struct Reductions;

// Copies for `members`, used by so many groups.
Copies* make_copies(int count, const ReductionInput* inputs, int members, int groups) noexcept;
Reductions* make_reductions(Copies* copies, int count, const ReductionInput* inputs) noexcept;

// The member's copy of the variable at `address`, which is the group's shared one or some member's copy; null if the
// group does not have it.
void* find_copy(Reductions* group, int member, const void* address) noexcept;

// The group's tasks have ended. The last group combines the copies into its shared variables.
void release_reductions(Reductions* group) noexcept;

}  // namespace weft::openmp::kmp
