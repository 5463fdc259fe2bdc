// SPDX-License-Identifier: Apache-2.0
// KMP: cancellation.
#include "openmp/team/cancel.h"

#include "openmp/kmp/kmp.h"

using namespace weft::openmp;
using namespace weft::openmp::kmp;

namespace {

// 1 parallel, 2 loop, 3 sections, 4 taskgroup.
Construct construct_of(int32_t kind) noexcept {
  switch (kind) {
    case 1: return Construct::parallel;
    case 3: return Construct::sections;
    case 4: return Construct::taskgroup;
    default: return Construct::loop;
  }
}

// The program leaves a cancelled loop without a further call, so this is the loop's end.
int32_t leave_if(bool cancelled, Construct construct) noexcept {
  if (cancelled && (construct == Construct::loop || construct == Construct::sections)) end_loop(self());
  return cancelled ? 1 : 0;
}

}  // namespace

WEFT_ABI(int32_t, __kmpc_cancel)(Ident*, int32_t, int32_t kind) {
  const tool::Entry entry(WEFT_CALLER);
  return leave_if(cancel(self(), construct_of(kind)), construct_of(kind));
}

WEFT_ABI(int32_t, __kmpc_cancellationpoint)(Ident*, int32_t, int32_t kind) {
  const tool::Entry entry(WEFT_CALLER);
  return leave_if(cancellation_point(self(), construct_of(kind)), construct_of(kind));
}

// Whether the region has been cancelled.
WEFT_ABI(int32_t, __kmpc_cancel_barrier)(Ident* location, int32_t) {
  return cancellable_barrier(self(), barrier_of(location), WEFT_CALLER) ? 1 : 0;
}

WEFT_ABI(int, kmp_get_cancellation_status)(int kind) { return is_cancelled(self(), construct_of(kind)) ? 1 : 0; }

WEFT_ABI(int, kmp_get_cancellation_status_)(const int* kind) {
  return is_cancelled(self(), construct_of(*kind)) ? 1 : 0;
}
