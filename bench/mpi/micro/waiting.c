// SPDX-License-Identifier: Apache-2.0
// CPU time that a process uses while all of its tasks wait for messages for a second, in percent of one CPU.
#include <time.h>

#include "common/report.h"
#include "mpi/common/job.h"
#include "mpi/micro/micro.h"

static const struct timespec pause_of_sender = {.tv_sec = 1};

static double cpu_seconds(void) {
  struct timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void receive(int tag) {
  double number;
  MPI_Recv(&number, 1, MPI_DOUBLE, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static double percent_while_receiving(int tasks) {
  const double start = now(), cpu_start = cpu_seconds();
#pragma omp parallel default(none) shared(tasks)
#pragma omp single
  for (int task = 0; task < tasks; task++) {
#pragma omp task default(none) firstprivate(task)
    receive(task);
  }
  return 100 * (cpu_seconds() - cpu_start) / (now() - start);
}

static double waiting(const struct measurement* self) {
  double percent = 0;
  const int result_tag = self->tasks;
  if (rank_in(MPI_COMM_WORLD) == 1) {
    percent = percent_while_receiving(self->tasks);
    MPI_Send(&percent, 1, MPI_DOUBLE, 0, result_tag, MPI_COMM_WORLD);
  } else {
    nanosleep(&pause_of_sender, NULL);
    for (int task = 0; task < self->tasks; task++) MPI_Send(&percent, 1, MPI_DOUBLE, 1, task, MPI_COMM_WORLD);
    MPI_Recv(&percent, 1, MPI_DOUBLE, 1, result_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  return percent;
}

const struct measurement waiting_measurements[] = {
    {.name = "waiting", .sample = waiting, .unit = "%", .tasks = 16},
    {0},
};
