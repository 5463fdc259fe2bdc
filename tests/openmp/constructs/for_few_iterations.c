// SPDX-License-Identifier: Apache-2.0
// Regions that are one loop of fewer iterations than members. gcc tells the runtime of them before they begin, where the
// bounds are constants, so the members that would get nothing may be left out. Each is run several times: the first
// time nothing is known of it.
#include "../support/check.h"
#include "../support/everywhere.h"

enum { rounds = 6 };

static int team_size(int threads)
{
  int size = 0;
#pragma omp parallel num_threads(threads)
#pragma omp master
  size = omp_get_num_threads();
  return size;
}

#define EACH_ONCE(CLAUSES, ITERATIONS)                                                                                 \
  for (int round = 0; round < rounds; round++) {                                                                       \
    int hits[ITERATIONS + 1] = {0}, wrong = 0;                                                                         \
    _Pragma(CLAUSES) for (int i = 0; i < ITERATIONS; i++)                                                              \
    {                                                                                                                  \
      __atomic_add_fetch(&hits[i], 1, __ATOMIC_RELAXED);                                                               \
      if (omp_get_num_threads() != size || omp_get_thread_num() < 0 || omp_get_thread_num() >= size)                   \
        __atomic_add_fetch(&wrong, 1, __ATOMIC_RELAXED);                                                               \
    }                                                                                                                  \
    for (int i = 0; i < ITERATIONS; i++) CHECK_EQ(hits[i], 1);                                                         \
    CHECK_EQ(wrong, 0);                                                                                                \
  }

static void schedules(int threads)
{
  const int size = team_size(threads);
  EACH_ONCE("omp parallel for num_threads(threads) schedule(dynamic)", 0)
  EACH_ONCE("omp parallel for num_threads(threads) schedule(dynamic)", 1)
  EACH_ONCE("omp parallel for num_threads(threads) schedule(dynamic)", 3)
  EACH_ONCE("omp parallel for num_threads(threads) schedule(dynamic, 2)", 5)
  EACH_ONCE("omp parallel for num_threads(threads) schedule(dynamic, 100)", 7)
  EACH_ONCE("omp parallel for num_threads(threads) schedule(guided)", 3)
  EACH_ONCE("omp parallel for num_threads(threads) schedule(guided, 2)", 6)
  EACH_ONCE("omp parallel for num_threads(threads) schedule(monotonic : dynamic)", 3)
  EACH_ONCE("omp parallel for num_threads(threads) schedule(static)", 3)
  EACH_ONCE("omp parallel for num_threads(threads) schedule(auto)", 3)
  static const omp_sched_t kinds[] = {omp_sched_dynamic, omp_sched_guided, omp_sched_static, omp_sched_auto};
  for (int k = 0; k < 4; k++) {
    omp_set_schedule(kinds[k], k % 2);
    EACH_ONCE("omp parallel for num_threads(threads) schedule(runtime)", 3)
  }
}

static void values(int threads)
{
  for (int round = 0; round < rounds; round++) {
    int last = -1, both = 40, first = 7, sum = 0;
    // Behind a barrier: all have copied `both` before one writes it.
#pragma omp parallel for num_threads(threads) schedule(dynamic) lastprivate(last) firstprivate(both, first)            \
    lastprivate(both)
    for (int i = 0; i < 3; i++) {
      last = i;
      both = both >= 40 ? 40 + i : -1;
      __atomic_add_fetch(&sum, first, __ATOMIC_RELAXED);
    }
    CHECK_EQ(last, 2);
    CHECK_EQ(both, 42);
    CHECK_EQ(sum, 21);
    int down = 0;
#pragma omp parallel for num_threads(threads) schedule(dynamic) lastprivate(last)
    for (int i = 10; i > 4; i -= 3) {
      __atomic_add_fetch(&down, i, __ATOMIC_RELAXED);
      last = i;
    }
    CHECK_EQ(down, 17);
    CHECK_EQ(last, 7);
  }
}

// Programs number their threads this way.
static void iterations_meet(int threads)
{
  if (team_size(threads) < 3) return;
  for (int round = 0; round < TIMES(3); round++) {
    int here = 0, met = 0;
#pragma omp parallel for num_threads(threads) schedule(dynamic)
    for (int i = 0; i < 3; i++) {
      __atomic_add_fetch(&here, 1, __ATOMIC_RELAXED);
      while (__atomic_load_n(&here, __ATOMIC_RELAXED) < 3) {
#pragma omp taskyield
      }
      __atomic_add_fetch(&met, 1, __ATOMIC_RELAXED);
    }
    CHECK_EQ(met, 3);
  }
}

static void tasks(int threads)
{
  for (int round = 0; round < rounds; round++) {
    int done = 0;
#pragma omp parallel for num_threads(threads) schedule(dynamic)
    for (int i = 0; i < 2; i++) {
      for (int k = 0; k < 5; k++) {
#pragma omp task shared(done)
        __atomic_add_fetch(&done, 1, __ATOMIC_RELAXED);
      }
    }
    CHECK_EQ(done, 10);
  }
}

// What the members that get no iterations are good for.
static void tasks_for_all(int threads)
{
  if (team_size(threads) < 3) return;
  for (int round = 0; round < rounds; round++) {
    int here = 0;
#pragma omp parallel for num_threads(threads) schedule(dynamic)
    for (int i = 0; i < 2; i++) {
      for (int k = 0; i == 0 && k < 3; k++) {
#pragma omp task shared(here)
        __atomic_add_fetch(&here, 1, __ATOMIC_RELAXED);
      }
    }
    CHECK_EQ(here, 3);
  }
}

// The same function in teams of one and of several, by turns.
static int three(int threads)
{
  int hits = 0;
#pragma omp parallel for num_threads(threads) schedule(dynamic)
  for (int i = 0; i < 3; i++) __atomic_add_fetch(&hits, 1, __ATOMIC_RELAXED);
  return hits;
}

static void teams_of_one(int threads)
{
  for (int round = 0; round < rounds; round++) {
    CHECK_EQ(three(threads), 3);
    CHECK_EQ(three(1), 3);
#pragma omp parallel num_threads(3)
    CHECK_EQ(three(threads), 3);
    const int levels = omp_get_max_active_levels();
    omp_set_max_active_levels(omp_get_active_level());
    CHECK_EQ(three(threads), 3);
    omp_set_max_active_levels(levels);
  }
}

static void regions_inside(int threads)
{
  for (int round = 0; round < rounds; round++) {
    int done = 0, inner = 0;
#pragma omp parallel for num_threads(threads) schedule(dynamic)
    for (int i = 0; i < 2; i++) {
      const int size = team_size(2);
      int mine = 0;
#pragma omp parallel num_threads(2)
      __atomic_add_fetch(&mine, 1, __ATOMIC_RELAXED);
      if (mine == size) __atomic_add_fetch(&inner, 1, __ATOMIC_RELAXED);
#pragma omp parallel for num_threads(4) schedule(dynamic)
      for (int k = 0; k < 3; k++) __atomic_add_fetch(&done, 1, __ATOMIC_RELAXED);
    }
    CHECK_EQ(inner, 2);
    CHECK_EQ(done, 6);
  }
}

// Members that have been left out are where the others are in the regions that follow.
static void others_in_between(int threads)
{
  for (int round = 0; round < rounds; round++) {
    int few = 0;
    long sum = 0, singles = 0;
    for (int again = 0; again <= round; again++) {
#pragma omp parallel for num_threads(threads) schedule(dynamic)
      for (int i = 0; i < 2; i++) __atomic_add_fetch(&few, 1, __ATOMIC_RELAXED);
    }
    CHECK_EQ(few, 2 * (round + 1));
#pragma omp parallel num_threads(threads) reduction(+ : sum)
    {
      for (int k = 0; k < 11; k++) {
#pragma omp for schedule(dynamic) nowait
        for (int i = 0; i < 30; i++) sum += i;
      }
#pragma omp single
      singles++;
#pragma omp barrier
#pragma omp for schedule(dynamic, 3)
      for (int i = 0; i < 30; i++) sum += i;
#pragma omp single
      singles++;
    }
    CHECK_EQ(sum, 12 * 435);
    CHECK_EQ(singles, 2);
  }
}

int main(void)
{
  everywhere(schedules, values, iterations_meet, tasks, tasks_for_all, teams_of_one, regions_inside, others_in_between);
  return check_result();
}
