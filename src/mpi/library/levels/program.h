// SPDX-License-Identifier: Apache-2.0
// Which kinds of parallelism the objects of the process use, and so from where they may call MPI.
#pragma once

namespace weft::mpi {

enum class Parallelism {
  none,     // no object opens a parallel region: MPI had best work as without weft
  regions,  // OpenMP's regions, but no explicit tasks
  tasks,    // explicit tasks, or the interfaces by which other libraries make or pause some
};

// Looks at all objects that are mapped by now, except the runtime's own.
Parallelism parallelism_of_program() noexcept;

}  // namespace weft::mpi
