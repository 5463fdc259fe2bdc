// SPDX-License-Identifier: Apache-2.0
// Members that block in read(2), poll and sleep while the others must go on, since it is these that end the wait.
#include "../support/check.h"
#include "../support/everywhere.h"

#include <poll.h>
#include <sys/socket.h>

// All members but the last wait for a byte from their right neighbour.
static void chained_pipes(int threads)
{
  int ends[most_members][2];
  for (int i = 0; i < threads; i++) CHECK_EQ(pipe(ends[i]), 0);
#pragma omp parallel num_threads(threads)
  {
    int me = omp_get_thread_num();
    unsigned char byte = 0;
    if (me + 1 < threads) CHECK_EQ(read(ends[me + 1][0], &byte, 1), 1);
    CHECK_EQ(byte, threads - 1 - me);
    byte++;
    CHECK_EQ(write(ends[me][1], &byte, 1), 1);
  }
  for (int i = 0; i < threads; i++) close(ends[i][0]), close(ends[i][1]);
}

// A thread that has had no region for some 10 ms gives up its CPU in the runtime's books; it may be beginning the next one
// at that moment.
static void after_a_pause(int threads)
{
  for (int i = 0; i < 10; i++) {
    usleep(9000 + 200 * i);
    chained_pipes(threads);
  }
}

// All but one block; that one works through a loop of tasks and inner regions before it wakes them.
static void one_goes_on(int threads)
{
  if (threads < 2) return;
  int ends[2], work = 0, woken = 0;
  CHECK_EQ(pipe(ends), 0);
#pragma omp parallel num_threads(threads)
  {
    if (omp_get_thread_num() == threads - 1) {
      usleep(2000);
      for (int i = 0; i < 10; i++) {
#pragma omp parallel num_threads(3)
        {
#pragma omp barrier
#pragma omp atomic
          work++;
        }
      }
      for (int i = 1; i < threads; i++) CHECK_EQ(write(ends[1], "x", 1), 1);
    } else {
      struct pollfd ready = {ends[0], POLLIN, 0};
      CHECK_EQ(poll(&ready, 1, -1), 1);
      char byte;
      CHECK_EQ(read(ends[0], &byte, 1), 1);
#pragma omp atomic
      woken++;
    }
  }
  CHECK_EQ(work, 30);
  CHECK_EQ(woken, threads - 1);
  close(ends[0]), close(ends[1]);
}

// Sleepers overlap: none of them wakes for good before all are asleep.
static void sleepers_overlap(int threads)
{
  int asleep = 0;
#pragma omp parallel num_threads(threads)
  {
    __atomic_add_fetch(&asleep, 1, __ATOMIC_ACQ_REL);
    while (__atomic_load_n(&asleep, __ATOMIC_ACQUIRE) < omp_get_num_threads()) usleep(20000);
  }
  CHECK_IN(asleep, 1, threads + 1);
}

static void sockets(int threads)
{
  int pair[2];
  CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
  int rounds = 20;
#pragma omp parallel num_threads(threads < 2 ? 2 : threads)
  {
    int me = omp_get_thread_num();
    char byte;
    if (me == 0)
      for (int i = 0; i < rounds; i++) {
        CHECK_EQ(write(pair[0], "a", 1), 1);
        CHECK_EQ(read(pair[0], &byte, 1), 1);
      }
    else if (me == omp_get_num_threads() - 1)
      for (int i = 0; i < rounds; i++) {
        CHECK_EQ(read(pair[1], &byte, 1), 1);
        CHECK_EQ(write(pair[1], "b", 1), 1);
      }
  }
  close(pair[0]), close(pair[1]);
}

int main(void)
{
  everywhere(chained_pipes);
  after_a_pause(3);
  everywhere(one_goes_on, sockets);
  sleepers_overlap(2);
  sleepers_overlap(8);
  sleepers_overlap(40);
  return check_result();
}
