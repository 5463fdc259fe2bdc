/* SPDX-License-Identifier: Apache-2.0 */
/* Blocking calls by more tasks than threads, in orders that need all of them at once. Says "done" when all is right. */
#include <omp.h>

#include "check.h"

/* 16 tasks send in one order and receive in the other. */
static void opposite(void) {
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 16; ++i) {
#pragma omp task firstprivate(i)
    {
      const int tag = rank % 2 ? 15 - i : i;
      int got = -1;
      if (rank % 2 == 0) {
        MPI_Ssend(&tag, 1, MPI_INT, peer, tag, MPI_COMM_WORLD);
      } else {
        MPI_Recv(&got, 1, MPI_INT, peer, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        check(got == tag);
      }
    }
  }
}

/* Each construct of OpenMP in which a thread may block: members of a team wait for members of the other rank's. */
static void implicit_tasks(void) {
#pragma omp parallel num_threads(6)
  {
    const int me = omp_get_thread_num();
    int got = -1;
    if (rank % 2 == 0) {
      MPI_Ssend(&me, 1, MPI_INT, peer, 100 + me, MPI_COMM_WORLD);
    } else {
      MPI_Recv(&got, 1, MPI_INT, peer, 105 - me, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      check(got == 5 - me);
    }
#pragma omp barrier
#pragma omp for schedule(dynamic, 1)
    for (int i = 0; i < 12; ++i) {
      int sent = i, received = -1;
      MPI_Sendrecv(&sent, 1, MPI_INT, peer, 200 + i, &received, 1, MPI_INT, peer, 200 + i, MPI_COMM_WORLD,
                   MPI_STATUS_IGNORE);
      check(received == i);
    }
  }
}

/* Tasks look for their messages in loops, by taskyield and without, and what they wait for is sent by later tasks. */
static void looking(void) {
  enum { messages = 8 };
  int sent[messages], got[messages];
#pragma omp parallel
#pragma omp single
  {
    for (int i = 0; i < messages; ++i) {
#pragma omp task firstprivate(i) shared(got)
      {
        MPI_Request request;
        int done = 0;
        MPI_Irecv(&got[i], 1, MPI_INT, peer, 600 + i, MPI_COMM_WORLD, &request);
        for (MPI_Test(&request, &done, MPI_STATUS_IGNORE); !done; MPI_Test(&request, &done, MPI_STATUS_IGNORE)) {
          if (i % 4 != 3) {
#pragma omp taskyield
          }
        }
      }
    }
    for (int i = 0; i < messages; ++i) {
      sent[i] = i;
#pragma omp task firstprivate(i) shared(sent)
      MPI_Send(&sent[i], 1, MPI_INT, peer, 600 + i, MPI_COMM_WORLD);
    }
  }
  for (int i = 0; i < messages; ++i) check(got[i] == i);
}

/* Groups of requests, of which the first ones come last; and any of a group. */
static void groups(void) {
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 12; ++i) {
#pragma omp task firstprivate(i)
    {
      enum { kMany = 40 };
      int values[kMany], place = -1;
      MPI_Request requests[kMany];
      MPI_Status statuses[kMany];
      if (rank % 2 == 0) {
        for (int k = 0; k < kMany; ++k) MPI_Irecv(&values[k], 1, MPI_INT, peer, 1000 + 100 * i + k, MPI_COMM_WORLD, &requests[k]);
        MPI_Waitany(kMany, requests, &place, &statuses[0]);
        check(statuses[0].MPI_TAG == 1000 + 100 * i + place && requests[place] == MPI_REQUEST_NULL);
        MPI_Waitall(kMany, requests, statuses);
        for (int k = 0; k < kMany; ++k) {
          check(values[k] == 100 * i + k);
          check(k == place || statuses[k].MPI_TAG == 1000 + 100 * i + k);
        }
      } else {
        for (int k = kMany - 1; k >= 0; --k) {
          const int mine = 11 - i;
          const int value = 100 * mine + k;
          MPI_Ssend(&value, 1, MPI_INT, peer, 1000 + 100 * mine + k, MPI_COMM_WORLD);
        }
      }
    }
  }
}

/* Every kind of wait at the same time. */
static void kinds(void) {
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 24; ++i) {
#pragma omp task firstprivate(i)
    {
      const int mine = rank % 2 ? 23 - i : i, tag = 5000 + mine;
      int value = mine, flag = 0;
      MPI_Status status;
      MPI_Message message;
      if (rank % 2 == 0) {
        MPI_Ssend(&value, 1, MPI_INT, peer, tag, MPI_COMM_WORLD);
      } else {
        value = -1;
        switch (mine % 4) {
          case 0: MPI_Probe(peer, tag, MPI_COMM_WORLD, &status); break;
          case 1:
            while (!flag) MPI_Iprobe(peer, tag, MPI_COMM_WORLD, &flag, &status);
            break;
          case 2:
            MPI_Mprobe(peer, tag, MPI_COMM_WORLD, &message, &status);
            MPI_Mrecv(&value, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
            break;
          default: break;
        }
        if (mine % 4 != 2) MPI_Recv(&value, 1, MPI_INT, peer, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        check(value == mine);
      }
    }
  }
}

/* Collectives, each task's on a communicator of its own, in opposite orders; some have no twin. */
static void collectives(void) {
  enum { kTasks = 6 };
  MPI_Comm comms[kTasks];
  for (int i = 0; i < kTasks; ++i) MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < kTasks; ++i) {
#pragma omp task firstprivate(i)
    {
      const int mine = rank % 2 ? kTasks - 1 - i : i;
      int sum = 0, part, n;
      MPI_Comm half;
      MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comms[mine]);
      check(sum == size * (size - 1) / 2);
      MPI_Comm_split(comms[mine], rank % 2, rank, &half);
      MPI_Comm_size(half, &n);
      MPI_Allreduce(&mine, &part, 1, MPI_INT, MPI_SUM, half);
      check(part == n * mine);
      MPI_Comm_free(&half);
      MPI_Barrier(comms[mine]);
    }
  }
  for (int i = 0; i < kTasks; ++i) MPI_Comm_free(&comms[i]);
}

/* Many short messages, so that pauses end on all threads. */
static void stress(void) {
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 400; ++i) {
#pragma omp task firstprivate(i)
    {
      const int tag = 10000 + (rank % 2 ? 399 - i : i);
      int numbers[100];
      for (int k = 0; k < 100; ++k) numbers[k] = rank % 2 ? -1 : tag + k;
      if (rank % 2 == 0) MPI_Send(numbers, 100, MPI_INT, peer, tag, MPI_COMM_WORLD);
      else MPI_Recv(numbers, 100, MPI_INT, peer, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      check(numbers[0] == tag && numbers[99] == tag + 99);
    }
  }
}

int main(int argc, char **argv) {
  start(argc, argv);
  const char *names[] = {"opposite", "implicit tasks", "looking", "groups", "kinds", "collectives", "stress"};
  void (*const parts[])(void) = {opposite, implicit_tasks, looking, groups, kinds, collectives, stress};
  for (int i = 0; i < 7; ++i) {
    parts[i]();
    MPI_Barrier(MPI_COMM_WORLD);
    if (wrong != 0) say("%s: %d wrong", names[i], wrong);
  }
  if (wrong == 0) say("done");
  MPI_Finalize();
  return wrong != 0;
}
