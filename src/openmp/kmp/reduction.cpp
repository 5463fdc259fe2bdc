// SPDX-License-Identifier: Apache-2.0
// KMP: reductions. The answer tells the program how to combine: 1 its own way, while we hold the lock it
// brought; 2 with the atomic operations that the compiler has prepared; 0 not at all, since others have its part.
#include "openmp/team/reduction.h"
#include "openmp/kmp/kmp.h"

using namespace weft::openmp;
using namespace weft::openmp::kmp;

namespace {

bool has_atomics(const Ident* location) noexcept { return (location->flags & kAtomicReduce) != 0; }

LockWord& word_of(CriticalName* name) noexcept { return *reinterpret_cast<LockWord*>(name); }

[[gnu::always_inline]] inline int32_t reduce(const Ident* location, void* part, Combine combine, CriticalName* name,
                                             ReductionEnd end) {
  return tool::enter([=](Member* member, auto listener, const void* caller) -> int32_t {
    switch (begin_reduction(member, part, combine, word_of(name), has_atomics(location), end, caller, listener)) {
      case Combining::locked: return 1;
      case Combining::atomic: return 2;
      case Combining::done: break;
    }
    return 0;
  });
}

}  // namespace

WEFT_ABI(int32_t, __kmpc_reduce_nowait)(Ident* location, int32_t, int32_t, size_t, void* data, Combine combine,
                                        CriticalName* name) {
  return reduce(location, data, combine, name, ReductionEnd::nowait);
}

// Called by those that were told to combine their own way only.
WEFT_ABI(void, __kmpc_end_reduce_nowait)(Ident* location, int32_t, CriticalName* name) {
  tool::enter([=](Member* member, auto listener, const void*) {
    end_reduction(member, word_of(name), has_atomics(location), listener);
  });
}

WEFT_ABI(int32_t, __kmpc_reduce)(Ident* location, int32_t, int32_t, size_t, void* data, Combine combine,
                                 CriticalName* name) {
  return reduce(location, data, combine, name, ReductionEnd::barrier);
}

// By all that were told to combine.
WEFT_ABI(void, __kmpc_end_reduce)(Ident* location, int32_t, CriticalName* name) {
  tool::enter([=](Member* member, auto listener, const void* caller) {
    end_reduction(member, word_of(name), has_atomics(location), listener);
    barrier(member, Barrier::end_of_workshare, caller, listener);
  });
}
