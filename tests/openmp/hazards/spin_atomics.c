// SPDX-License-Identifier: Apache-2.0
// Members that spin on each other with plain atomics, without any call that a runtime could notice, in teams larger than the
// number of CPUs, at level 1 and nested: legal, and must finish. One thread each, the kernel takes the CPU away from a
// spinner; a runtime with fewer threads than members has to notice that nothing moves.
#include "../support/check.h"

#include <omp.h>

#define LOAD(X) __atomic_load_n(&(X), __ATOMIC_ACQUIRE)
#define STORE(X, V) __atomic_store_n(&(X), V, __ATOMIC_RELEASE)

// A token goes round all members.
static void ring(int threads, int rounds)
{
  int turn = 0;
#pragma omp parallel num_threads(threads)
  {
    int me = omp_get_thread_num();
    for (int round = 0; round < rounds; round++) {
      while (LOAD(turn) != round * threads + me) continue;
      STORE(turn, round * threads + me + 1);
    }
  }
  CHECK_EQ(turn, threads * rounds);
}

// Everybody waits for everybody: a barrier of the program's own.
static void rendezvous(int threads, int rounds)
{
  int arrived = 0;
#pragma omp parallel num_threads(threads)
  for (int round = 1; round <= rounds; round++) {
    __atomic_add_fetch(&arrived, 1, __ATOMIC_ACQ_REL);
    while (LOAD(arrived) < round * threads) continue;
  }
  CHECK_EQ(arrived, threads * rounds);
}

// The last member first, so that those that started early wait for those that start late.
static void last_releases(int threads)
{
  int gate = 0, passed = 0;
#pragma omp parallel num_threads(threads)
  {
    if (omp_get_thread_num() == threads - 1)
      STORE(gate, 1);
    else
      while (!LOAD(gate)) continue;
    __atomic_add_fetch(&passed, 1, __ATOMIC_RELAXED);
  }
  CHECK_EQ(passed, threads);
}

static void last_releases_all_teams(int outer, int inner)
{
  int arrived = 0;
#pragma omp parallel num_threads(outer)
#pragma omp parallel num_threads(inner)
  {
    __atomic_add_fetch(&arrived, 1, __ATOMIC_ACQ_REL);
    while (LOAD(arrived) < outer * inner) continue;
  }
  CHECK_EQ(arrived, outer * inner);
}

int main(void)
{
  omp_set_max_active_levels(3);
  omp_set_dynamic(0);
  rendezvous(2, 100);
  ring(2, 50);
  ring(4, 5);
  rendezvous(5, 5);
  rendezvous(9, 3);
  last_releases(4);
  last_releases(12);
  last_releases_all_teams(2, 2);
  last_releases_all_teams(3, 3);
#pragma omp parallel num_threads(2)
  {
    ring(3, 3);
    rendezvous(3, 3);
    last_releases(4);
  }
  return check_result();
}
