// SPDX-License-Identifier: Apache-2.0
// Tasks that each send or receive 8 bytes, 64 at once on each rank. An item is one message. The ranks send in turn, so
// that neither runs ahead.
#include "common/report.h"
#include "mpi/common/calls.h"
#include "mpi/common/job.h"
#include "mpi/micro/micro.h"

enum { task_count = 64 };

static void move(const struct calls* calls, int rank, bool sends, double* number, int tag) {
  if (sends)
    calls->send(number, 1, 1 - rank, tag, MPI_COMM_WORLD);
  else
    calls->receive(number, 1, 1 - rank, tag, MPI_COMM_WORLD);
}

static void exchange(const struct calls* calls, int rank, bool sends, double* numbers) {
  for (int task = 0; task < task_count; task++) {
#pragma omp task default(none) firstprivate(calls, rank, sends, numbers, task)
    move(calls, rank, sends, &numbers[task], task);
  }
#pragma omp taskwait
}

static double message_rate(const struct measurement* self, long count) {
  const int rank = rank_in(MPI_COMM_WORLD);
  const long rounds = (count + self->tasks - 1) / self->tasks;
  double numbers[task_count] = {0};
  const double start = now();
#pragma omp parallel default(none) shared(self, rank, rounds, numbers)
#pragma omp single
  for (long round = 0; round < rounds; round++) exchange(self->calls, rank, round % 2 == rank, numbers);
  // Of as many messages as were asked for.
  return (now() - start) * (double)count / (double)(rounds * self->tasks);
}

const struct measurement message_rate_measurements[] = {
    {.name = "message_blocking", .run = message_rate, .tasks = task_count, .calls = &blocking_calls},
    {.name = "message_events", .run = message_rate, .tasks = task_count, .calls = &event_calls, .by_events = true},
    {0},
};
