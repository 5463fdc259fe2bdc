// SPDX-License-Identifier: Apache-2.0
// Sixteen tasks on each of two ranks: rank 0 sends synchronously with tags upwards, rank 1 receives with tags
// downwards. The tasks must all be able to wait at once, whatever the number of threads. `opposite_order [TIMES]`;
// prints nothing and exits with 0 when all messages have come.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { task_count = 16 };

static void send(int tag, int round) {
  const int number = round * task_count + tag;
  MPI_Ssend(&number, 1, MPI_INT, 1, tag, MPI_COMM_WORLD);
}

static void receive(int tag, int round) {
  int number = -1;
  MPI_Status status;
  MPI_Recv(&number, 1, MPI_INT, 0, tag, MPI_COMM_WORLD, &status);
  if (number == round * task_count + tag && status.MPI_TAG == tag && status.MPI_SOURCE == 0) return;
  fprintf(stderr, "opposite_order: round %d, tag %d: got %d from %d with tag %d\n", round, tag, number,
          status.MPI_SOURCE, status.MPI_TAG);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void exchange(int rank, int round) {
#pragma omp parallel
#pragma omp single
  for (int task = 0; task < task_count; task++) {
    const int tag = rank == 0 ? task : task_count - 1 - task;
#pragma omp task
    if (rank == 0)
      send(tag, round);
    else
      receive(tag, round);
  }
}

int main(int argument_count, char** arguments) {
  int provided, rank, ranks;
  MPI_Init_thread(&argument_count, &arguments, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (provided < MPI_THREAD_MULTIPLE || ranks != 2) {
    fprintf(stderr, "opposite_order: thread level %d, %d ranks: MPI_THREAD_MULTIPLE and two ranks are wanted\n",
            provided, ranks);
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  const long times = argument_count > 1 ? strtol(arguments[1], NULL, 10) : 1;
  if (times < 1) {
    fputs("opposite_order: the first argument is how often, from 1\n", stderr);
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  for (int round = 0; round < (int)times; round++) exchange(rank, round);
  MPI_Finalize();
  return 0;
}
