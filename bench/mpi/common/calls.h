// SPDX-License-Identifier: Apache-2.0
// How a task sends and receives numbers: the whole difference between the two modes of task-aware MPI.
#pragma once

#include <mpi.h>

struct calls {
  void (*send)(const double* numbers, int count, int rank, int tag, MPI_Comm comm);
  void (*receive)(double* numbers, int count, int rank, int tag, MPI_Comm comm);
};

// MPI_Send and MPI_Recv, which the task waits in.
extern const struct calls blocking_calls;
// MPI_Isend and MPI_Irecv, which the task does not wait for; it ends when they have completed. They need TAMPI_Iwait.
extern const struct calls event_calls;
