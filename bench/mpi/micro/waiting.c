// SPDX-License-Identifier: Apache-2.0
// What a process needs all of whose tasks wait for messages for a second: CPU time, in percent of one CPU; and where they
// are thousands, seconds until all are there, and OS threads beyond the CPUs.
#include <dirent.h>
#include <omp.h>
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

static void receive_in_tasks(int tasks) {
#pragma omp parallel default(none) shared(tasks)
#pragma omp single
  for (int task = 0; task < tasks; task++) {
#pragma omp task default(none) firstprivate(task)
    receive(task);
  }
}

static double percent_while_receiving(int tasks) {
  const double start = now(), cpu_start = cpu_seconds();
  receive_in_tasks(tasks);
  return 100 * (cpu_seconds() - cpu_start) / (now() - start);
}

static double seconds_of_receiving(int tasks) {
  const double start = now();
  receive_in_tasks(tasks);
  return now() - start;
}

// They are counted in the end: those that were needed stay for a while.
static double threads_after_receiving(int tasks) {
  receive_in_tasks(tasks);
  DIR* threads = opendir("/proc/self/task");
  if (threads == NULL) return -1;
  int count = 0;
  for (const struct dirent* entry = readdir(threads); entry; entry = readdir(threads)) count += entry->d_name[0] != '.';
  closedir(threads);
  return count - omp_get_num_procs();
}

// Of rank 1, whose tasks wait until the other rank sends.
static double of_receiver(int tasks, double (*measure)(int tasks)) {
  double found = 0;
  const int result_tag = tasks;
  if (rank_in(MPI_COMM_WORLD) == 1) {
    found = measure(tasks);
    MPI_Send(&found, 1, MPI_DOUBLE, 0, result_tag, MPI_COMM_WORLD);
  } else {
    nanosleep(&pause_of_sender, NULL);
    for (int task = 0; task < tasks; task++) MPI_Send(&found, 1, MPI_DOUBLE, 1, task, MPI_COMM_WORLD);
    MPI_Recv(&found, 1, MPI_DOUBLE, 1, result_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  return found;
}

static double waiting(const struct measurement* self) { return of_receiver(self->tasks, percent_while_receiving); }
static double seconds(const struct measurement* self) { return of_receiver(self->tasks, seconds_of_receiving); }
static double threads(const struct measurement* self) { return of_receiver(self->tasks, threads_after_receiving); }

const struct measurement waiting_measurements[] = {
    {.name = "waiting", .sample = waiting, .unit = "%", .tasks = 16},
    {.name = "blocked_seconds", .sample = seconds, .unit = "s", .tasks = 8000},
    {.name = "blocked_threads", .sample = threads, .unit = "threads", .tasks = 8000},
    {0},
};
