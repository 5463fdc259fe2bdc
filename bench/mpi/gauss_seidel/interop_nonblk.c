// SPDX-License-Identifier: Apache-2.0
#include "mpi/common/events.h"
#include "mpi/gauss_seidel/message_tasks.h"
#include "mpi/gauss_seidel/versions.h"

static void send(const double* row, int count, int rank, int tag, MPI_Comm comm) {
  MPI_Request request;
  MPI_Isend(row, count, MPI_DOUBLE, rank, tag, comm, &request);
  TAMPI_Iwait(&request, MPI_STATUS_IGNORE);
}

static void receive(double* row, int count, int rank, int tag, MPI_Comm comm) {
  MPI_Request request;
  MPI_Irecv(row, count, MPI_DOUBLE, rank, tag, comm, &request);
  TAMPI_Iwait(&request, MPI_STATUS_IGNORE);
}

void run_interop_nonblk(const struct field* field, int steps) {
  run_message_tasks(field, steps, &(const struct calls){send, receive}, false);
}
