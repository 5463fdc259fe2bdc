// SPDX-License-Identifier: Apache-2.0
// What the objects of the process ask for, which tells what their calls of MPI may meet.
#pragma once

namespace weft::mpi {

enum class Parallelism {
  none,     // nothing that opens a parallel region: MPI had best do as without weft
  regions,  // OpenMP's regions, but no explicit tasks
  tasks,    // explicit tasks, or the interfaces by which other libraries make or pause some
};

// Looks at all objects that are mapped by now, except the runtime's own.
Parallelism parallelism_of_program() noexcept;

}  // namespace weft::mpi
