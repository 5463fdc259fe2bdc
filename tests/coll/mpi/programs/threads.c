// SPDX-License-Identifier: Apache-2.0
// Threads in collectives of different communicators at the same time (MPI_THREAD_MULTIPLE), which also make communicators
// and send messages. The argument: rounds.
#include <pthread.h>

#include "check.h"

enum { kThreads = 4 };

static int g_rounds = 150;

static MPI_Comm g_comms[kThreads];

static void* work(void* argument) {
  const int number = (int)(size_t)argument;
  MPI_Comm comm = g_comms[number];
  double* all = malloc(sizeof(double) * 3000 * check_size);
  double mine[3000];
  for (int round = 0; round < g_rounds; ++round) {
    const int length = 1 + (round * 131 + number * 17) % 3000;
    for (int i = 0; i < length; ++i) mine[i] = check_rank * 10000 + number * 100 + round + i;
    double value = check_rank == round % check_size ? round * 8 + number : -1;
    MPI_Bcast(&value, 1, MPI_DOUBLE, round % check_size, comm);
    CHECK(value == round * 8 + number, "thread %d, round %d: bcast %g", number, round, value);
    MPI_Allgather(mine, length, MPI_DOUBLE, all, length, MPI_DOUBLE, comm);
    for (int r = 0; r < check_size; ++r) {
      for (int i = 0; i < length; ++i) {
        CHECK(all[r * length + i] == r * 10000 + number * 100 + round + i, "thread %d, round %d: allgather", number, round);
      }
    }
    double sum;
    MPI_Allreduce(&mine[0], &sum, 1, MPI_DOUBLE, MPI_SUM, comm);
    CHECK(sum == check_size * (check_size - 1) / 2 * 10000.0 + check_size * (number * 100 + round), "sum %g", sum);
    int token = round, got = -1;
    MPI_Sendrecv(&token, 1, MPI_INT, (check_rank + 1) % check_size, number, &got, 1, MPI_INT,
                 (check_rank + check_size - 1) % check_size, number, comm, MPI_STATUS_IGNORE);
    CHECK(got == round, "thread %d: message %d in round %d", number, got, round);
    MPI_Barrier(comm);
    // Now and then it goes on with a new one.
    if (round % 10 != 9) continue;
    MPI_Comm next;
    MPI_Comm_dup(comm, &next);
    MPI_Comm_free(&comm);
    comm = next;
  }
  MPI_Comm_free(&comm);
  free(all);
  return NULL;
}

int main(int count, char** arguments) {
  int level;
  MPI_Init_thread(&count, &arguments, MPI_THREAD_MULTIPLE, &level);
  check_begin();
  if (count > 1) g_rounds = atoi(arguments[1]);
  CHECK(level == MPI_THREAD_MULTIPLE, "level %d", level);
  for (int i = 0; i < kThreads; ++i) MPI_Comm_dup(MPI_COMM_WORLD, &g_comms[i]);
  pthread_t threads[kThreads];
  for (int i = 0; i < kThreads; ++i) pthread_create(&threads[i], NULL, work, (void*)(size_t)i);
  for (int i = 0; i < kThreads; ++i) pthread_join(threads[i], NULL);
  MPI_Barrier(MPI_COMM_WORLD);
  return check_end();
}
