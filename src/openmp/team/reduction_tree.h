// SPDX-License-Identifier: Apache-2.0
// Members' parts of a reduction, combined in an order that depends on nothing but how many they are: so a sum of
// floating-point numbers has the same bits each time. And so a large team needs no variable that all its members
// update. Only where the runtime is given the parts, as by clang's programs.
#pragma once

#include <atomic>

#include "openmp/record/team.h"

namespace weft::openmp {

// The program's: makes `into` what comes of both.
using Combine = void (*)(void* into, void* from);

// Two by two, in a tree: a member takes the parts of those beside it and hands the result on. True for the one that has
// the whole in its part; the others' parts may be in use until part_is_taken() returns. By all members of a team of
// more than one.
bool combine_parts(Member* self, void* part, Combine combine) noexcept;
// Called by those others: returns when the part has been taken, or the region has been cancelled and nobody will.
void await_taken(Member* self) noexcept;

// Teams of a league combine one after the other, by their numbers. Only what they meet first: some may not have begun
// before others have ended.
class LeagueTurn {
 public:
  // Called by the initial thread of a team, whose turn it is then.
  void await(const Member* self) noexcept;
  void pass(const Member* self) noexcept;

 private:
  std::atomic<int> next_{0};
};

}  // namespace weft::openmp
