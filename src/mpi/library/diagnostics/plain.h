// SPDX-License-Identifier: Apache-2.0
// A blocking call that goes to MPI as it is. Tables and traces show it as they show converted calls.
#pragma once

#include "mpi/library/diagnostics/call.h"
#include "mpi/library/diagnostics/in_place.h"
#include "mpi/library/diagnostics/trace.h"
#include "mpi/library/mpi.h"
#include "mpi/library/runtime.h"

namespace weft::mpi {

// The trace needs the status, even where the program passes MPI_STATUS_IGNORE.
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

// make(status) calls MPI, with the program's status. All parameters are passed by value, so that they stay in
// registers: a program without tasks makes all its calls here.
template <class Arguments, class Make>
[[gnu::always_inline]] inline int call_plain(Describe describe, Arguments arguments, const void* caller,
                                             MPI_Status* status, Make make) noexcept {
  if (runtime_here() == nullptr) return make(status);
  if (__builtin_expect(traces(), 0)) return call_plain_traced(describe, arguments, caller, status, make);
  const WaitInPlace wait(describe, arguments, caller);
  return make(status);
}

// The same for a call without a status, or with one in which a trace finds nothing.
template <class Arguments, class Make>
[[gnu::always_inline]] inline int call_plain(Describe describe, Arguments arguments, const void* caller,
                                             Make make) noexcept {
  return call_plain(describe, arguments, caller, MPI_STATUS_IGNORE, [=](MPI_Status*) { return make(); });
}

}  // namespace weft::mpi
