// SPDX-License-Identifier: Apache-2.0
// What weft knows of a communicator: an attribute of it, which goes with it. A copy of the communicator has none.
#pragma once

#include <mpi.h>

#include "coll/front/front.h"

namespace weft::coll {

struct Communicator {
  int rank;
  int size;
  // Not between groups, of two ranks or more, and all of them of this process's MPI_COMM_WORLD.
  bool fits;
  Front front;
};

// Of a communicator that is not null; null: MPI cannot say, and will tell the program why.
Communicator* find_communicator(MPI_Comm comm) noexcept;

// MPI moves what it has.
void make_progress() noexcept;

// The group, if the call is weft's.
Group* take(Communicator& communicator, MPI_Comm comm, Operation operation, size_t bytes,
            Comparison::Timing& timing) noexcept;

}  // namespace weft::coll
