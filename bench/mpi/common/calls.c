// SPDX-License-Identifier: Apache-2.0
#include "mpi/common/calls.h"

// Null where no library of task-aware MPI is in the process.
int TAMPI_Iwait(MPI_Request* request, MPI_Status* status) __attribute__((weak));

static void send_blocking(const double* numbers, int count, int rank, int tag, MPI_Comm comm) {
  MPI_Send(numbers, count, MPI_DOUBLE, rank, tag, comm);
}

static void receive_blocking(double* numbers, int count, int rank, int tag, MPI_Comm comm) {
  MPI_Recv(numbers, count, MPI_DOUBLE, rank, tag, comm, MPI_STATUS_IGNORE);
}

static void send_by_event(const double* numbers, int count, int rank, int tag, MPI_Comm comm) {
  MPI_Request request;
  MPI_Isend(numbers, count, MPI_DOUBLE, rank, tag, comm, &request);
  TAMPI_Iwait(&request, MPI_STATUS_IGNORE);
}

static void receive_by_event(double* numbers, int count, int rank, int tag, MPI_Comm comm) {
  MPI_Request request;
  MPI_Irecv(numbers, count, MPI_DOUBLE, rank, tag, comm, &request);
  TAMPI_Iwait(&request, MPI_STATUS_IGNORE);
}

const struct calls blocking_calls = {send_blocking, receive_blocking};
const struct calls event_calls = {send_by_event, receive_by_event};
