// SPDX-License-Identifier: Apache-2.0
// KMP: reductions. The answer tells the program how to combine: 1 its own way, while we hold the lock it
// brought; 2 with the atomic operations that the compiler has prepared.
#include "openmp/kmp/kmp.h"
#include "openmp/lock.h"

using namespace weft::openmp;
using namespace weft::openmp::kmp;

namespace {

constexpr int32_t kCombine = 1;
constexpr int32_t kCombineAtomically = 2;

// The initial threads of a league combine too.
bool is_alone(const Member* member) noexcept {
  const Team* team = member->team;
  return team->size == 1 && team->league_size == 1;
}

[[gnu::always_inline]] inline int32_t reduce(const Ident* location, CriticalName* name) {
  return ompt::enter([=](Member* member, auto told, const void*) {
    const bool alone = is_alone(member);
    if (!alone && (location->flags & kAtomicReduce) != 0) return kCombineAtomically;
    if (!alone) lock(*reinterpret_cast<LockWord*>(name));
    if (ompt::on<told>()) ompt::begin_reduction(member);
    return kCombine;
  });
}

template <bool Told>
void end_reduce(Member* member, const Ident* location, CriticalName* name) {
  const bool alone = is_alone(member);
  if (!alone && (location->flags & kAtomicReduce) != 0) return;
  if (ompt::on<Told>()) ompt::end_reduction(member);
  if (!alone) unlock(*reinterpret_cast<LockWord*>(name));
}

}  // namespace

WEFT_ABI int32_t weft_abi___kmpc_reduce_nowait(Ident* location, int32_t, int32_t, size_t, void*, void (*)(void*, void*),
                                               CriticalName* name) {
  return reduce(location, name);
}
WEFT_ABI_EXPORT(__kmpc_reduce_nowait);

// Called by those that were told to combine their own way only.
WEFT_ABI void weft_abi___kmpc_end_reduce_nowait(Ident* location, int32_t, CriticalName* name) {
  ompt::enter([=](Member* member, auto told, const void*) { end_reduce<told>(member, location, name); });
}
WEFT_ABI_EXPORT(__kmpc_end_reduce_nowait);

WEFT_ABI int32_t weft_abi___kmpc_reduce(Ident* location, int32_t, int32_t, size_t, void*, void (*)(void*, void*),
                                        CriticalName* name) {
  return reduce(location, name);
}
WEFT_ABI_EXPORT(__kmpc_reduce);

WEFT_ABI void weft_abi___kmpc_end_reduce(Ident* location, int32_t, CriticalName* name) {
  ompt::enter([=](Member* member, auto told, const void* caller) {
    end_reduce<told>(member, location, name);
    barrier<told>(member, Barrier::end_of_workshare, caller);
  });
}
WEFT_ABI_EXPORT(__kmpc_end_reduce);
