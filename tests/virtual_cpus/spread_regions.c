// SPDX-License-Identifier: Apache-2.0
// Regions, flat and nested: members, and who runs them.
#include "spread.h"

#include <pthread.h>

static void flat(int cpus) {
#pragma omp parallel num_threads(cpus)
  work();
}
static void flat_after_pause(int cpus) {
#pragma omp parallel num_threads(cpus)
  work();
  pause_ms(30);
  begin_clock();
#pragma omp parallel num_threads(cpus)
  work();
}
static void more_members(int cpus) {
#pragma omp parallel num_threads(4 * cpus)
  work();
}
static void more_after_pause(int cpus) {
#pragma omp parallel num_threads(4 * cpus)
  work();
  pause_ms(30);
  begin_clock();
#pragma omp parallel num_threads(4 * cpus)
  work();
}
// One that grows and shrinks from region to region.
static void changing(int cpus) {
  for (int i = 0; i < 4; i++) {
#pragma omp parallel num_threads(i % 2 ? cpus / 2 : cpus)
    work();
  }
}
static int changing_ideal(int cpus) { return (void)cpus, 4; }

static void even(int cpus) {
#pragma omp parallel num_threads(4)
#pragma omp parallel num_threads(cpus / 4)
  work();
}
static void even_after_pause(int cpus) {
  even(cpus);
  pause_ms(30);
  begin_clock();
  even(cpus);
}
static void even_many(int cpus) {
#pragma omp parallel num_threads(4)
#pragma omp parallel num_threads(cpus)
  work();
}
static void all_in_all(int cpus) {
#pragma omp parallel num_threads(cpus)
#pragma omp parallel num_threads(4)
  work();
}
// The outer members sleep before they open theirs, one after the other: so do all carriers meanwhile.
static void one_opens(int cpus) {
#pragma omp parallel num_threads(2)
  {
    if (omp_get_thread_num() == 1) {
      pause_ms(30);
      begin_clock();
#pragma omp parallel num_threads(8 * cpus)
      work();
      end_clock();
    }
  }
}
static void three_levels(int cpus) {
#pragma omp parallel num_threads(2)
#pragma omp parallel num_threads(2)
#pragma omp parallel num_threads(2 * cpus)
  work();
}
// Inner regions of 1, 3, 5 ... members.
static void uneven(int cpus) {
#pragma omp parallel num_threads(cpus)
#pragma omp parallel num_threads(1 + 2 * omp_get_thread_num())
  work();
}
static int uneven_ideal(int cpus) { return cpus; }
// Half of the members end early; the others' inner regions are to have their CPUs.
static void tail(int cpus) {
#pragma omp parallel num_threads(cpus)
  {
    work();
    if (omp_get_thread_num() % 2 == 0) {
#pragma omp parallel num_threads(8)
      work();
    }
  }
}
static int tail_ideal(int cpus) { return (void)cpus, 5; }
static void long_tail(int cpus) {
#pragma omp parallel num_threads(cpus)
  {
    work();
    if (omp_get_thread_num() == cpus - 1) {
#pragma omp parallel num_threads(4 * cpus)
      work();
    }
  }
}
static int long_tail_ideal(int cpus) { return (void)cpus, 5; }
static void loop_of_regions(int cpus) {
#pragma omp parallel for schedule(dynamic, 1) num_threads(cpus)
  for (int i = 0; i < cpus + cpus / 2; i++) {
#pragma omp parallel num_threads(4)
    work();
  }
}
static int loop_of_regions_ideal(int cpus) { return (void)cpus, 6; }
static void inner_repeated(int cpus) {
#pragma omp parallel num_threads(2)
  for (int i = 0; i < 8; i++) {
#pragma omp parallel num_threads(cpus / 2)
    work();
  }
}
static void league(int cpus) {
#pragma omp teams num_teams(4)
#pragma omp parallel num_threads(cpus)
  work();
}

// ---- roots: threads of the program's own ----

static int root_count, root_members, root_regions;
static pthread_barrier_t together;
static void* root(void* unused) {
  (void)unused;
  pthread_barrier_wait(&together);
  for (int i = 0; i < root_regions; i++) {
#pragma omp parallel num_threads(root_members)
    work();
  }
  return NULL;
}
static void run_roots(int count, int members, int regions) {
  pthread_t threads[64];
  root_count = count;
  root_members = members;
  root_regions = regions;
  pthread_barrier_init(&together, NULL, (unsigned)count + 1);
  for (int i = 0; i < count; i++) pthread_create(&threads[i], NULL, root, NULL);
  pthread_barrier_wait(&together);
  begin_clock();
  for (int i = 0; i < count; i++) pthread_join(threads[i], NULL);
  end_clock();
  pthread_barrier_destroy(&together);
}
static void two_roots(int cpus) { run_roots(2, cpus / 2, 8); }
static void four_roots(int cpus) { run_roots(4, cpus, 2); }
static void all_roots(int cpus) { run_roots(cpus, 4, 2); }
// The only one that works among others that have.
static void* quiet_root(void* done) {
  root(NULL);
  pthread_barrier_wait(&together);
  while (!__atomic_load_n((int*)done, __ATOMIC_ACQUIRE)) pause_ms(1);
  return NULL;
}
static void one_of_roots(int cpus) {
  pthread_t threads[4];
  int done = 0;
  root_members = cpus;
  root_regions = 1;
  pthread_barrier_init(&together, NULL, 4);
  for (int i = 0; i < 3; i++) pthread_create(&threads[i], NULL, quiet_root, &done);
  pthread_barrier_wait(&together);
  pthread_barrier_wait(&together);
  pause_ms(30);
  begin_clock();
#pragma omp parallel num_threads(8 * cpus)
  work();
  end_clock();
  __atomic_store_n(&done, 1, __ATOMIC_RELEASE);
  for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
  pthread_barrier_destroy(&together);
}

static const spread_case cases[] = {
    {"flat", flat, one_sleep, 0},
    {"flat_after_pause", flat_after_pause, one_sleep, 0},
    {"more_members", more_members, four_sleeps, 0},
    {"more_after_pause", more_after_pause, four_sleeps, 0},
    {"changing", changing, changing_ideal, 0},
    {"even", even, one_sleep, 0},
    {"even_after_pause", even_after_pause, one_sleep, 0},
    {"even_many", even_many, four_sleeps, 0},
    {"all_in_all", all_in_all, four_sleeps, 0},
    {"one_opens", one_opens, eight_sleeps, 0},
    {"three_levels", three_levels, eight_sleeps, 0},
    {"uneven", uneven, uneven_ideal, 0},
    {"tail", tail, tail_ideal, 0},
    {"long_tail", long_tail, long_tail_ideal, 0},
    {"loop_of_regions", loop_of_regions, loop_of_regions_ideal, 0},
    {"inner_repeated", inner_repeated, eight_sleeps, 0},
    {"league", league, four_sleeps, 0},
    {"two_roots", two_roots, eight_sleeps, 0},
    {"four_roots", four_roots, eight_sleeps, 0},
    {"all_roots", all_roots, eight_sleeps, 0},
    {"one_of_roots", one_of_roots, eight_sleeps, 0},
};

int main(int argc, char** argv) { return check_spread(cases, (int)(sizeof cases / sizeof *cases), argc, argv); }
