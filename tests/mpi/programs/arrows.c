/* SPDX-License-Identifier: Apache-2.0 */
/* Messages between two ranks, for trace_test.py: by tasks in opposite orders, by receives that take any message, by
 * exchanges, in a communicator of its own. */
#include "say.h"

enum { kTasks = 4, kSame = 3 };

static void by_tasks(void) {
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < kTasks; ++i) {
#pragma omp task firstprivate(i)
    {
      int tag = rank == 0 ? i : kTasks - 1 - i, got;
      if (rank == 0) MPI_Ssend(&tag, 1, MPI_INT, peer, tag, MPI_COMM_WORLD);
      else MPI_Recv(&got, 1, MPI_INT, peer, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
  }
}

static void in_order(MPI_Comm comm) {
  for (int i = 0; i < kSame; ++i) {
    double number = i;
    if (rank == 0) MPI_Send(&number, 1, MPI_DOUBLE, peer, 50, comm);
    else if (i == 1) MPI_Recv(&number, 1, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, MPI_STATUS_IGNORE);
    else MPI_Recv(&number, 1, MPI_DOUBLE, peer, 50, comm, MPI_STATUS_IGNORE);
  }
}

static void exchange(void) {
  int sent = rank, received;
  MPI_Sendrecv(&sent, 1, MPI_INT, peer, 60 + rank, &received, 1, MPI_INT, peer, 60 + peer, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
}

int main(int argc, char **argv) {
  MPI_Comm ring;
  start(argc, argv);
  MPI_Comm_dup(MPI_COMM_WORLD, &ring);
  MPI_Comm_set_name(ring, "ring");
  by_tasks();
  in_order(MPI_COMM_WORLD);
  in_order(ring);
  exchange();
  MPI_Barrier(ring);
  MPI_Comm_free(&ring);
  say("done");
  MPI_Finalize();
  return 0;
}
