// SPDX-License-Identifier: Apache-2.0
// A blocking call that goes to MPI as it is. It is seen as those that are converted: in the table, and by a trace.
#pragma once

#include "mpi/library/mpi.h"
#include "mpi/library/runtime.h"
#include "mpi/library/waits/call.h"
#include "mpi/library/waits/in_place.h"
#include "mpi/library/waits/trace.h"

namespace weft::mpi {

// The trace wants the status, even if the program does not.
template <class Make>
[[gnu::cold, gnu::noinline]] int call_plain_traced(const Call& call, MPI_Status* status, const Make& make) noexcept {
  TracedWait traced(call);
  const WaitInPlace wait(call);
  MPI_Status own;
  if (status == MPI_STATUS_IGNORE) status = &own;
  const int code = make(status);
  if (code == MPI_SUCCESS) traced.came(*status);
  return code;
}

// By make(status), whose status the program has given.
template <class Make>
int call_plain(const Call& call, MPI_Status* status, const Make& make) noexcept {
  if (runtime_here() == nullptr) return make(status);
  if (__builtin_expect(traces(), 0)) return call_plain_traced(call, status, make);
  const WaitInPlace wait(call);
  return make(status);
}

// By make(): its status, if it has one, says nothing that a trace wants.
template <class Make>
int call_plain(const Call& call, const Make& make) noexcept {
  if (runtime_here() == nullptr) return make();
  const TracedIfWanted traced(call);
  const WaitInPlace wait(call);
  return make();
}

}  // namespace weft::mpi
