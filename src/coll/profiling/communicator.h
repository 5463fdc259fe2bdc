// SPDX-License-Identifier: Apache-2.0
// What weft keeps of a communicator: an attribute of it, which ends with it. A copy of the communicator has none.
#pragma once

#include "coll/front/front.h"
#include "coll/profiling/process_mpi.h"

namespace weft::coll {

struct Communicator {
  int rank;
  int size;
  // Whether weft can serve it: it is no intercommunicator, has two ranks or more, and all of them belong to this
  // process's MPI_COMM_WORLD.
  bool fits;
  Front front;
};

// To be called when MPI has started: weft takes part from now on, unless something in this process says no; or it does
// not.
void begin_world() noexcept;
void leave_world() noexcept;

// Finds what weft keeps of a communicator that is not MPI_COMM_NULL. Null: MPI makes the call, and tells the program of
// any error.
Communicator* find_communicator(MPI_Comm comm) noexcept;

// Lets MPI move its messages.
void make_progress() noexcept;

// The group, if the call is weft's.
Group* take(Communicator& communicator, MPI_Comm comm, Operation operation, size_t bytes,
            Comparison::Timing& timing) noexcept;

}  // namespace weft::coll
