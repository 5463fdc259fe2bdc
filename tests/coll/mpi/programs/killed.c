// SPDX-License-Identifier: Apache-2.0
// killed ELEMENTS MICROSECONDS: rank 1 is killed so long after the start, wherever it is then. The others wait for it.
#include <signal.h>
#include <time.h>

#include "check.h"

static void kill_after(long microseconds) {
  struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGKILL};
  struct itimerspec until = {.it_value = {.tv_sec = microseconds / 1000000, .tv_nsec = microseconds % 1000000 * 1000 + 1}};
  timer_t timer;
  struct timespec now;
  timer_create(CLOCK_MONOTONIC, &event, &timer);
  clock_gettime(CLOCK_MONOTONIC, &now);
  printf("killed %.6f\n", (double)now.tv_sec + now.tv_nsec / 1e9 + microseconds / 1e6);
  fflush(stdout);
  timer_settime(timer, 0, &until, NULL);
}

int main(int count, char** arguments) {
  MPI_Init(&count, &arguments);
  check_begin();
  if (count != 3) return 2;
  const int length = atoi(arguments[1]);
  double* in = calloc(length * check_size, sizeof(double));
  double* out = calloc(length * check_size, sizeof(double));
  for (int i = 0;; ++i) {
    // All share memory by then.
    if (check_rank == 1 && i == 10) kill_after(atol(arguments[2]));
    MPI_Allreduce(in, out, length, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Bcast(out, length, MPI_DOUBLE, i % check_size, MPI_COMM_WORLD);
    MPI_Alltoall(in, length, MPI_DOUBLE, out, length, MPI_DOUBLE, MPI_COMM_WORLD);
    MPI_Allgather(in, length, MPI_DOUBLE, out, length, MPI_DOUBLE, MPI_COMM_WORLD);
    MPI_Reduce(in, out, length, MPI_DOUBLE, MPI_SUM, i % check_size, MPI_COMM_WORLD);
  }
}
