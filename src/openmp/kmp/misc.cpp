// SPDX-License-Identifier: Apache-2.0
// KMP: what needs no machinery of its own: scope, the error directive, split barriers, numbers of threads in new forms.
#include <cstdlib>
#include <cstring>

#include "base/message.h"
#include "openmp/kmp/kmp.h"

using namespace weft;
using namespace weft::openmp;
using namespace weft::openmp::kmp;

// The barrier at the end of a scope region is a call of its own.
WEFT_ABI void weft_abi___kmpc_scope(Ident*, int32_t, void*) {
  const ompt::Entry entry(WEFT_CALLER);
  if (ompt::on()) ompt::begin_work(self(), ompt_work_scope, 1);
}
WEFT_ABI_EXPORT(__kmpc_scope);

WEFT_ABI void weft_abi___kmpc_end_scope(Ident*, int32_t, void*) {
  const ompt::Entry entry(WEFT_CALLER);
  if (ompt::on()) ompt::end_work(self());
}
WEFT_ABI_EXPORT(__kmpc_end_scope);

WEFT_ABI void weft_abi___kmpc_error(Ident* location, int32_t severity, const char* message) {
  constexpr int32_t kFatal = 2;
  const ompt::Entry entry(WEFT_CALLER);
  if (ompt::on()) ompt::error(severity == kFatal, message, message != nullptr ? std::strlen(message) : 0);
  const char* where = location != nullptr && location->source != nullptr ? location->source : "";
  base::warn("%s directive encountered: %s (%s)", severity == kFatal ? "error" : "warning",
             message != nullptr ? message : "", where);
  if (severity == kFatal) std::exit(EXIT_FAILURE);
}
WEFT_ABI_EXPORT(__kmpc_error);

// The primary goes on alone after the first barrier; the others wait for the second, which it enters when it is done.
WEFT_ABI int32_t weft_abi___kmpc_barrier_master(Ident*, int32_t) {
  Member* member = self();
  barrier(member, Barrier::runtime, WEFT_CALLER);
  if (member->number == 0) return 1;
  barrier(member, Barrier::runtime, WEFT_CALLER);
  return 0;
}
WEFT_ABI_EXPORT(__kmpc_barrier_master);

WEFT_ABI void weft_abi___kmpc_end_barrier_master(Ident*, int32_t) { barrier(self(), Barrier::runtime, WEFT_CALLER); }
WEFT_ABI_EXPORT(__kmpc_end_barrier_master);

WEFT_ABI int32_t weft_abi___kmpc_barrier_master_nowait(Ident*, int32_t) {
  Member* member = self();
  barrier(member, Barrier::runtime, WEFT_CALLER);
  return member->number == 0 ? 1 : 0;
}
WEFT_ABI_EXPORT(__kmpc_barrier_master_nowait);
