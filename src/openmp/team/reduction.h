// SPDX-License-Identifier: Apache-2.0
// Reductions whose combining step the program leaves to the runtime to arrange (OpenMP 5.2, section 5.5). Each member
// comes with its part. The program asks how to combine it, does so, and says when it has.
#pragma once

#include <cstdint>

#include "openmp/lock/lock.h"
#include "openmp/record/team.h"
#include "openmp/team/barrier.h"
#include "openmp/team/cancel.h"
#include "openmp/team/reduction_tree.h"
#include "openmp/tool/events.h"

namespace weft::openmp {

// WEFT_REPRODUCIBLE=true: parts are combined in an order that depends on the members' numbers only. Else by arrival:
// then no member waits for another one. Known when the library has been loaded.
extern const bool g_reduces_in_order;

// A team so large combines in that order anyway: else all its members would update one variable, or take one lock, one
// after the other. Its members run at once, so they do not wait for each other for long.
inline bool combines_by_tree(const Team* team) noexcept {
  constexpr int kLeastMembers = 16;
  // Members that leave a loop which has been cancelled combine nothing.
  return team->flat && team->size >= kLeastMembers && !cancellation_enabled();
}

enum class Combining : uint8_t {
  done,    // others have the member's part: it combines nothing
  locked,  // the member combines its part; it holds the lock, unless it is alone
  atomic,  // the member combines by atomic operations
};

// Where a member that has handed its part on waits for the whole: nowhere, or in the construct's barrier.
enum class ReductionEnd : uint8_t { nowait, barrier };

// The initial threads of a league combine too.
inline bool reduces_alone(const Member* self) noexcept { return self->team->size == 1 && self->team->league.size == 1; }

// Whether the member is the one that combines the whole.
[[gnu::noinline]] inline bool combine_in_order(Member* self, void* part, Combine combine, ReductionEnd end,
                                               const void* caller, tool::Listener listener) noexcept {
  if (self->team->size == 1) {
    if (LeagueTurn* turn = self->team->league.turn) turn->await(self);
    return true;
  }
  if (combine_parts(self, part, combine)) return true;
  if (end == ReductionEnd::barrier) barrier(self, Barrier::end_of_workshare, caller, listener);
  await_taken(self);
  return false;
}

// `atomic`: the program has atomic operations for it. Members of several teams may combine into one variable, so the
// one that has the whole of its team uses these or takes the lock too.
[[gnu::always_inline]] inline Combining begin_reduction(Member* self, void* part, Combine combine, LockWord& word,
                                                        bool atomic, ReductionEnd end, const void* caller,
                                                        tool::Listener listener) noexcept {
  const bool alone = reduces_alone(self);
  if (!alone && g_reduces_in_order) {
    if (!combine_in_order(self, part, combine, end, caller, listener)) return Combining::done;
  } else if (!alone) {
    const bool by_tree = combine != nullptr && combines_by_tree(self->team);
    if (by_tree && !combine_in_order(self, part, combine, end, caller, listener)) return Combining::done;
    if (atomic) return Combining::atomic;
  }
  if (!alone) lock(word);
  tool::begin_reduction(listener, self);
  return Combining::locked;
}

// Called by the members that have combined.
[[gnu::always_inline]] inline void end_reduction(Member* self, LockWord& word, bool atomic,
                                                 tool::Listener listener) noexcept {
  const bool alone = reduces_alone(self);
  if (!alone && !g_reduces_in_order && atomic) return;
  tool::end_reduction(listener, self);
  if (alone) return;
  unlock(word);
  TeamLeague& league = self->team->league;
  if (g_reduces_in_order && league.turn != nullptr) {
    league.turn->pass(self);
    league.turn = nullptr;
  }
}

}  // namespace weft::openmp
