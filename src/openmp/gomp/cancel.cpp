// SPDX-License-Identifier: Apache-2.0
// GOMP: cancellation.
#include "openmp/team/cancel.h"

#include "openmp/gomp/loop.h"

using namespace weft::openmp;
using namespace weft::openmp::gomp;

namespace {

// Bits of `which`: 1 parallel, 2 loop, 4 sections, 8 taskgroup.
Construct construct_of(int which) noexcept {
  if ((which & 8) != 0) return Construct::taskgroup;
  return (which & 4) != 0 ? Construct::sections : (which & 2) != 0 ? Construct::loop : Construct::parallel;
}

bool end_cancellable(Member* member, const void* caller) {
  leave_loop(member);
  return cancellable_barrier(member, Barrier::end_of_workshare, caller);
}

}  // namespace

WEFT_ABI(bool, GOMP_cancellation_point)(int which) {
  const tool::Entry entry(WEFT_CALLER);
  return cancellation_point(self(), construct_of(which));
}

// Where the if clause is false it is a cancellation point.
WEFT_ABI(bool, GOMP_cancel)(int which, bool wanted) {
  const tool::Entry entry(WEFT_CALLER);
  return wanted ? cancel(self(), construct_of(which)) : cancellation_point(self(), construct_of(which));
}

// These say whether the region has been cancelled.
WEFT_ABI(bool, GOMP_barrier_cancel)() { return cancellable_barrier(self(), Barrier::construct, WEFT_CALLER); }

WEFT_ABI(bool, GOMP_loop_end_cancel)() {
  const tool::Entry entry(WEFT_CALLER);
  return end_cancellable(self(), WEFT_CALLER);
}

WEFT_ABI(bool, GOMP_sections_end_cancel)() {
  const tool::Entry entry(WEFT_CALLER);
  return end_cancellable(self(), WEFT_CALLER);
}
