// SPDX-License-Identifier: Apache-2.0
// KMP: reductions. The answer tells the program how to combine: 1 its own way, while we hold the lock it
// brought; 2 with the atomic operations that the compiler has prepared; 0 not at all, since others have its part.
#include "base/options.h"
#include "openmp/api/lock.h"
#include "openmp/kmp/kmp.h"
#include "openmp/team/reduction_tree.h"

using namespace weft;
using namespace weft::openmp;
using namespace weft::openmp::kmp;

namespace {

constexpr int32_t kDone = 0;
constexpr int32_t kCombine = 1;
constexpr int32_t kCombineAtomically = 2;

// The initial threads of a league combine too.
bool is_alone(const Member* member) noexcept {
  const Team* team = member->team;
  return team->size == 1 && team->league.size == 1;
}

// Else by arrival, as everywhere: then no member waits for another one. Known when the library has been loaded.
const bool g_in_order = base::options().reproducible == base::TriState::yes;

enum class Wait : uint8_t { no, at_end };

// Whether the member is the one that combines the whole.
template <bool Told>
[[gnu::noinline]] bool combine_in_order(Member* member, void* part, Combine combine, Wait wait,
                                        const void* caller) noexcept {
  if (member->team->size == 1) {
    if (LeagueTurn* turn = member->team->league.turn) turn->await(member);
    return true;
  }
  if (combine_parts(member, part, combine)) return true;
  if (wait == Wait::at_end) barrier<Told>(member, Barrier::end_of_workshare, caller);
  await_taken(member);
  return false;
}

[[gnu::always_inline]] inline int32_t reduce(const Ident* location, void* part, Combine combine, CriticalName* name,
                                             Wait wait) {
  return ompt::enter([=](Member* member, auto told, const void* caller) {
    const bool alone = is_alone(member);
    if (!alone && g_in_order) {
      if (!combine_in_order<told>(member, part, combine, wait, caller)) return kDone;
    } else if (!alone && (location->flags & kAtomicReduce) != 0) {
      return kCombineAtomically;
    }
    // Also for the whole: members of several teams may combine into one variable.
    if (!alone) lock(*reinterpret_cast<LockWord*>(name));
    if (ompt::on<told>()) ompt::begin_reduction(member);
    return kCombine;
  });
}

template <bool Told>
void end_reduce(Member* member, const Ident* location, CriticalName* name) {
  const bool alone = is_alone(member);
  if (!alone && !g_in_order && (location->flags & kAtomicReduce) != 0) return;
  if (ompt::on<Told>()) ompt::end_reduction(member);
  if (alone) return;
  unlock(*reinterpret_cast<LockWord*>(name));
  Team* team = member->team;
  if (g_in_order && team->league.turn != nullptr) {
    team->league.turn->pass(member);
    team->league.turn = nullptr;
  }
}

}  // namespace

WEFT_ABI int32_t weft_abi___kmpc_reduce_nowait(Ident* location, int32_t, int32_t, size_t, void* data, Combine combine,
                                               CriticalName* name) {
  return reduce(location, data, combine, name, Wait::no);
}
WEFT_ABI_EXPORT(__kmpc_reduce_nowait);

// Called by those that were told to combine their own way only.
WEFT_ABI void weft_abi___kmpc_end_reduce_nowait(Ident* location, int32_t, CriticalName* name) {
  ompt::enter([=](Member* member, auto told, const void*) { end_reduce<told>(member, location, name); });
}
WEFT_ABI_EXPORT(__kmpc_end_reduce_nowait);

WEFT_ABI int32_t weft_abi___kmpc_reduce(Ident* location, int32_t, int32_t, size_t, void* data, Combine combine,
                                        CriticalName* name) {
  return reduce(location, data, combine, name, Wait::at_end);
}
WEFT_ABI_EXPORT(__kmpc_reduce);

// By all that were told to combine.
WEFT_ABI void weft_abi___kmpc_end_reduce(Ident* location, int32_t, CriticalName* name) {
  ompt::enter([=](Member* member, auto told, const void* caller) {
    end_reduce<told>(member, location, name);
    barrier<told>(member, Barrier::end_of_workshare, caller);
  });
}
WEFT_ABI_EXPORT(__kmpc_end_reduce);
