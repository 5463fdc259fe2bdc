// SPDX-License-Identifier: Apache-2.0
// How work is spread over more CPUs than there are: WEFT_NUM_CPUS says how many the runtime is to use, and all work is
// a sleep, so that a small machine carries it. A case tells how long it takes at best, in sleeps; it is repeated until
// it took at most 1.3 times that, and every CPU was used, since the machine may be busy with other things meanwhile. A
// case that never comes near fails. Each failed try makes the sleep longer, up to some limit: wake-ups that come late
// are then less of the whole, but work that waits for nobody in particular still shows. On a machine whose own threads
// cannot do it in time either, what they take is the measure (see `machine_takes`).
#pragma once

#include "../openmp/support/check.h"

#include <omp.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>

typedef struct {
  const char* name;
  void (*run)(int cpus);
  int (*ideal)(int cpus);  // sleeps, one after the other
  int (*used)(int cpus);   // OS threads that are to sleep; null: all CPUs
} spread_case;

enum { spread_most_threads = 1024, spread_tries = 60, spread_most_us = 8000 };

static struct {
  int us;  // one sleep
  double began;
  double took;
  int used;
  int threads[spread_most_threads];
  int sleeps[spread_most_threads];
} spread = {.us = 2000};

static double spread_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

__attribute__((unused)) static void pause_ms(int ms) {
  const struct timespec time = {0, ms * 1000000L};
  nanosleep(&time, NULL);
}

// What counts is the time between these two. A case that does not call them is timed as a whole.
static void begin_clock(void) {
  memset(spread.threads, 0, sizeof spread.threads);
  memset(spread.sleeps, 0, sizeof spread.sleeps);
  spread.used = 0;
  spread.began = spread_now();
}
static void end_clock(void) { spread.took = spread_now() - spread.began; }

static void count_thread(void) {
  const int self = (int)syscall(SYS_gettid);
  for (int i = 0; i < spread_most_threads; i++) {
    int seen = __atomic_load_n(&spread.threads[i], __ATOMIC_RELAXED);
    if (seen == 0 &&
        __atomic_compare_exchange_n(&spread.threads[i], &seen, self, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
      __atomic_add_fetch(&spread.used, 1, __ATOMIC_RELAXED);
      seen = self;
    }
    if (seen != self) continue;
    __atomic_add_fetch(&spread.sleeps[i], 1, __ATOMIC_RELAXED);
    return;
  }
}

// One piece of work: it occupies a CPU of the runtime's, and none of the machine's.
static void work(void) {
  count_thread();
  const struct timespec time = {0, spread.us * 1000L};
  nanosleep(&time, NULL);
}

static void report_try(const spread_case* one, double took, int ideal, int used) {
  // To stdout, and at once: a run that hangs has said where.
  setbuf(stdout, NULL);
  printf("%-28s %6.1f ms of %3d x %.1f ms = %5.2f; %d of %d used:", one->name, took * 1e3, ideal, spread.us * 1e-3,
         took * 1e6 / (ideal * spread.us), spread.used, used);
  for (int i = 0; i < spread.used; i++) printf(" %d", spread.sleeps[i]);
  putchar('\n');
}

typedef struct {
  pthread_barrier_t* all;
  int sleeps;
} machine_thread;

static void* sleep_and_meet(void* argument) {
  const machine_thread* self = argument;
  const struct timespec time = {0, spread.us * 1000L};
  pthread_barrier_wait(self->all);
  for (int i = 0; i < self->sleeps; i++) {
    nanosleep(&time, NULL);
    pthread_barrier_wait(self->all);
  }
  return NULL;
}

// Seconds that the machine takes now for as many sleeps with as many threads of its own that meet after each: none of
// the runtime's work is in it. Beside busy loops each wake-up may wait for some time slices.
static double machine_takes(int cpus, int sleeps) {
  pthread_t threads[spread_most_threads];
  pthread_barrier_t all;
  pthread_barrier_init(&all, NULL, (unsigned)cpus);
  machine_thread each = {&all, sleeps};
  for (int i = 1; i < cpus; i++) {
    if (pthread_create(&threads[i], NULL, sleep_and_meet, &each) != 0) abort();
  }
  const double began = spread_now();
  sleep_and_meet(&each);
  const double took = spread_now() - began;
  for (int i = 1; i < cpus; i++) pthread_join(threads[i], NULL);
  pthread_barrier_destroy(&all);
  return took;
}

static int try_once(const spread_case* one, int cpus, int verbose) {
  const int ideal = one->ideal(cpus);
  const int used = one->used ? one->used(cpus) : cpus;
  spread.took = 0;
  begin_clock();
  one->run(cpus);
  if (spread.took == 0) end_clock();
  if (verbose) report_try(one, spread.took, ideal, used);
  // What a sleep takes beyond its time is the system's doing: the timer's slack, and the way back to a CPU.
  const double slack = 150e-6 * ideal;
  if (spread.used < used) return 0;
  if (spread.took - slack <= 1.3e-6 * ideal * spread.us) return 1;
  pause_ms(20);  // the runtime's threads sleep meanwhile
  // A moment in which the machine was busier than before says nothing.
  const double first = machine_takes(cpus, ideal);
  const double second = machine_takes(cpus, ideal);
  return spread.took <= 1.3 * (first < second ? first : second);
}

static void check_case(const spread_case* one, int cpus, int verbose) {
  spread.us = 2000;
  for (int tries = 0; tries < spread_tries; tries++) {
    if (try_once(one, cpus, verbose > 0) && verbose < 2) return;
    if (verbose < 2 && spread.us < spread_most_us) spread.us += spread.us / 4;
    if (verbose >= 2 && tries == 7) return;
  }
  check_failed(__FILE__, __LINE__, one->name, "the work is not spread over %d CPUs: see %s -v", cpus, one->name);
}

// The program: all cases or those that are named; -v shows each try, -a each of eight whatever they take.
__attribute__((unused)) static int check_spread(const spread_case* cases, int count, int argc, char** argv) {
  const int cpus = omp_get_num_procs();
  int verbose = 0;
  int named = 0;
  for (int i = 1; i < argc; i++) {
    if (argv[i][0] == '-') verbose = argv[i][1] == 'a' ? 2 : 1;
    named += argv[i][0] != '-';
  }
  for (int i = 0; i < count; i++) {
    int wanted = named == 0;
    for (int k = 1; k < argc; k++) wanted |= strcmp(argv[k], cases[i].name) == 0;
    if (wanted) check_case(&cases[i], cpus, verbose);
  }
  return check_result();
}

// ---- ideals that many cases have ----
__attribute__((unused)) static int one_sleep(int cpus) { return (void)cpus, 1; }
__attribute__((unused)) static int two_sleeps(int cpus) { return (void)cpus, 2; }
__attribute__((unused)) static int four_sleeps(int cpus) { return (void)cpus, 4; }
__attribute__((unused)) static int eight_sleeps(int cpus) { return (void)cpus, 8; }
