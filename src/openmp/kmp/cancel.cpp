// SPDX-License-Identifier: Apache-2.0
// KMP: cancellation.
#include "openmp/cancel.h"

#include "openmp/kmp/kmp.h"

using namespace weft::openmp;
using namespace weft::openmp::kmp;

namespace {

// 1 parallel, 2 loop, 3 sections, 4 taskgroup.
Construct construct_of(int32_t kind) noexcept {
  return kind == 4 ? Construct::taskgroup : kind == 1 ? Construct::parallel : Construct::loop;
}

}  // namespace

WEFT_ABI int32_t weft_abi___kmpc_cancel(Ident*, int32_t, int32_t kind) {
  return cancel(self(), construct_of(kind)) ? 1 : 0;
}
WEFT_ABI_EXPORT(__kmpc_cancel);

WEFT_ABI int32_t weft_abi___kmpc_cancellationpoint(Ident*, int32_t, int32_t kind) {
  return is_cancelled(self(), construct_of(kind)) ? 1 : 0;
}
WEFT_ABI_EXPORT(__kmpc_cancellationpoint);

// Whether the region has been cancelled.
WEFT_ABI int32_t weft_abi___kmpc_cancel_barrier(Ident*, int32_t) { return cancellable_barrier(self()) ? 1 : 0; }
WEFT_ABI_EXPORT(__kmpc_cancel_barrier);

WEFT_ABI int weft_abi_kmp_get_cancellation_status(int kind) { return is_cancelled(self(), construct_of(kind)) ? 1 : 0; }
WEFT_ABI_EXPORT(kmp_get_cancellation_status);

WEFT_ABI int weft_abi_kmp_get_cancellation_status_(const int* kind) {
  return is_cancelled(self(), construct_of(*kind)) ? 1 : 0;
}
WEFT_ABI_EXPORT(kmp_get_cancellation_status_);
