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
template <class Arguments, class Make>
[[gnu::cold, gnu::noinline]] int call_plain_traced(Describe describe, Arguments arguments, const void* caller,
                                                   MPI_Status* status, Make make) noexcept {
  TracedWait traced({describe, &arguments, caller});
  const WaitInPlace wait(describe, arguments, caller);
  MPI_Status own;
  if (status == MPI_STATUS_IGNORE) status = &own;
  const int code = make(status);
  if (code == MPI_SUCCESS) traced.came(*status);
  return code;
}

// By make(status), whose status the program has given. Everything by value, so that it stays in registers: a program
// without tasks makes all its calls here.
template <class Arguments, class Make>
[[gnu::always_inline]] inline int call_plain(Describe describe, Arguments arguments, const void* caller,
                                             MPI_Status* status, Make make) noexcept {
  if (runtime_here() == nullptr) return make(status);
  if (__builtin_expect(traces(), 0)) return call_plain_traced(describe, arguments, caller, status, make);
  const WaitInPlace wait(describe, arguments, caller);
  return make(status);
}

// By make(): its status, if it has one, says nothing that a trace wants.
template <class Arguments, class Make>
[[gnu::always_inline]] inline int call_plain(Describe describe, Arguments arguments, const void* caller,
                                             Make make) noexcept {
  return call_plain(describe, arguments, caller, MPI_STATUS_IGNORE, [=](MPI_Status*) { return make(); });
}

}  // namespace weft::mpi
