// SPDX-License-Identifier: Apache-2.0
// The usual calls of a program without tasks, by two ranks; an item is one call at each rank.
#include "common/report.h"
#include "mpi/common/job.h"
#include "mpi/micro/micro.h"

enum { small = 1, large = 1024 };  // numbers of a message

static double sent[2 * large], received[2 * large];

static void send_recv(int rank) {
  if (rank == 0) {
    MPI_Send(sent, small, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
    MPI_Recv(received, small, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else {
    MPI_Recv(received, small, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(sent, small, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
  }
}

static void sendrecv(int rank) {
  MPI_Sendrecv(sent, small, MPI_DOUBLE, 1 - rank, 0, received, small, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
}

static void begin_exchange(int rank, MPI_Request* requests) {
  MPI_Irecv(received, small, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(sent, small, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, &requests[1]);
}

static void wait_each(int rank) {
  MPI_Request requests[2];
  begin_exchange(rank, requests);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
}

static void waitall(int rank) {
  MPI_Request requests[2];
  begin_exchange(rank, requests);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

static void waitany(int rank) {
  MPI_Request requests[2];
  begin_exchange(rank, requests);
  for (int i = 0; i < 2; i++) {
    int index;
    MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
  }
}

static void testall(int rank) {
  MPI_Request requests[2];
  begin_exchange(rank, requests);
  for (int done = 0; !done;) MPI_Testall(2, requests, &done, MPI_STATUSES_IGNORE);
}

static void probe(int rank) {
  MPI_Request request;
  MPI_Isend(sent, small, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, &request);
  MPI_Probe(1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Recv(received, small, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void barrier(int rank) {
  (void)rank;
  MPI_Barrier(MPI_COMM_WORLD);
}

static void bcast(int rank) { MPI_Bcast(rank == 0 ? sent : received, small, MPI_DOUBLE, 0, MPI_COMM_WORLD); }

static void reduce(int rank) {
  (void)rank;
  MPI_Reduce(sent, received, small, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
}

static void allreduce(int rank) {
  (void)rank;
  MPI_Allreduce(sent, received, small, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void allreduce_large(int rank) {
  (void)rank;
  MPI_Allreduce(sent, received, large, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void gather(int rank) {
  (void)rank;
  MPI_Gather(sent, small, MPI_DOUBLE, received, small, MPI_DOUBLE, 0, MPI_COMM_WORLD);
}

static void scatter(int rank) {
  (void)rank;
  MPI_Scatter(sent, small, MPI_DOUBLE, received, small, MPI_DOUBLE, 0, MPI_COMM_WORLD);
}

static void allgather(int rank) {
  (void)rank;
  MPI_Allgather(sent, small, MPI_DOUBLE, received, small, MPI_DOUBLE, MPI_COMM_WORLD);
}

static void alltoall(int rank) {
  (void)rank;
  MPI_Alltoall(sent, large, MPI_DOUBLE, received, large, MPI_DOUBLE, MPI_COMM_WORLD);
}

static double repeat(const struct measurement* self, long count) {
  const int rank = rank_in(MPI_COMM_WORLD);
  const double start = now();
  for (long i = 0; i < count; i++) self->call(rank);
  return now() - start;
}

static void all(int rank);

#define CALL(function) {.name = "call_" #function, .run = repeat, .call = function}

const struct measurement call_measurements[] = {
    CALL(send_recv), CALL(sendrecv), CALL(wait_each), CALL(waitall),  CALL(waitany),   CALL(testall),
    CALL(probe),     CALL(barrier),  CALL(bcast),     CALL(reduce),   CALL(allreduce), CALL(allreduce_large),
    CALL(gather),    CALL(scatter),  CALL(allgather), CALL(alltoall), CALL(all),       {0},
};

// One of each.
static void all(int rank) {
  for (const struct measurement* it = call_measurements; it->call != all; it++) it->call(rank);
}
