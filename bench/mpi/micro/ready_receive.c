// SPDX-License-Identifier: Apache-2.0
// MPI_Recv of 8 bytes that have already come.
#include "common/report.h"
#include "mpi/common/job.h"
#include "mpi/micro/micro.h"

// Messages that wait at once; few enough for every MPI to take them without a receiver.
enum { most_waiting = 64 };

enum { tag_of_message, tag_of_last, tag_of_turn };

struct receives {
  long count;
  double seconds;
};

static void wait_for_last(void) {
  for (int there = 0; !there;) MPI_Iprobe(1, tag_of_last, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
}

static double time_receives(long count) {
  double number;
  wait_for_last();
  const double start = now();
  for (long i = 0; i < count; i++)
    MPI_Recv(&number, 1, MPI_DOUBLE, 1, tag_of_message, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  const double seconds = now() - start;
  MPI_Recv(&number, 1, MPI_DOUBLE, 1, tag_of_last, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return seconds;
}

static void send_all(long count) {
  const double number = 0;
  for (long i = 0; i < count; i++) MPI_Send(&number, 1, MPI_DOUBLE, 0, tag_of_message, MPI_COMM_WORLD);
  MPI_Send(&number, 1, MPI_DOUBLE, 0, tag_of_last, MPI_COMM_WORLD);
}

static void run_all(void* argument) {
  struct receives* receives = argument;
  const int rank = rank_in(MPI_COMM_WORLD);
  for (long rest = receives->count; rest > 0; rest -= most_waiting) {
    const long count = rest < most_waiting ? rest : most_waiting;
    if (rank == 0)
      receives->seconds += time_receives(count);
    else
      send_all(count);
    // The sender does not run ahead.
    int turn = 0;
    if (rank == 0)
      MPI_Send(&turn, 1, MPI_INT, 1, tag_of_turn, MPI_COMM_WORLD);
    else
      MPI_Recv(&turn, 1, MPI_INT, 0, tag_of_turn, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

static double ready_receive(const struct measurement* self, long count) {
  struct receives receives = {.count = count};
  run_in(self->in_task, run_all, &receives);
  return receives.seconds;
}

const struct measurement ready_receive_measurements[] = {
    {.name = "ready_receive_outside", .run = ready_receive},
    {.name = "ready_receive_inside", .run = ready_receive, .in_task = true},
    {0},
};
