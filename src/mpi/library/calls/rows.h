// SPDX-License-Identifier: Apache-2.0
// The rows of the tables of calls, by their kinds.
#pragma once

#include "mpi/library/calls/attempted.h"
#include "mpi/library/calls/collectives.h"
#include "mpi/library/calls/helped.h"
#include "mpi/library/calls/sendrecv.h"
#include "mpi/library/calls/started.h"
#include "mpi/library/calls/tested.h"
#include "mpi/library/mpi.h"
#include "mpi/link.h"

// A function by name, and what stands in its place.
#define ROW(name, ...) {"MPI_" #name, reinterpret_cast<void (*)()>(__VA_ARGS__)},
// Calls that have a non-blocking twin.
#define MESSAGE(name, twin) ROW(name, &Message<PMPI_##name, PMPI_##twin>::call)
#define COLLECTIVE(name, twin) ROW(name, &Collective<PMPI_##name, PMPI_##twin>::call)
// The operation is that many arguments before the end.
#define REDUCTION(name, twin, arguments, operation) \
  ROW(name, &Reduction<PMPI_##name, PMPI_##twin, (arguments) - (operation)>::call)
// What attempts it, and the place of its flag.
#define ATTEMPTED(name, attempt, flag) ROW(name, &Attempted<PMPI_##name, PMPI_##attempt, flag>::call)
#define TESTED(name, found) ROW(name, &Tested<PMPI_##name, found>::call)
// Calls for a helper, and the place of what they are ordered by.
#define HELPED(name, ordered_by) ROW(name, &Helped<PMPI_##name, ordered_by>::call)
#define IN_PLACE(name) ROW(name, &InPlace<PMPI_##name>::call)

#ifdef OPEN_MPI
// Seen with 4.1.4 and 5.0.11: a non-blocking read beyond the end of a file never completes, and between two neighbours
// that are the same rank the non-blocking exchanges swap what they bring. So helpers make these calls.
#define FILE_CALL(name, twin) HELPED(name, kUnordered)
#define FILE_COLLECTIVE(name, twin) HELPED(name, 0)
#define EXCHANGE(name, twin, ordered_by) HELPED(name, ordered_by)
#else
#define FILE_CALL(name, twin) ROW(name, &Started<PMPI_##name, PMPI_##twin, Alone, File>::call)
#define FILE_COLLECTIVE(name, twin) ROW(name, &Started<PMPI_##name, PMPI_##twin, Together, File>::call)
#define EXCHANGE(name, twin, ordered_by) COLLECTIVE(name, twin)
#endif
