// SPDX-License-Identifier: Apache-2.0
// A run whose factors are known from its own clocks:
//   planted_factors IMBALANCE SERIAL LOCKS CHUNKS [SECONDS]
// Each of the first four is the part of the run's time, from 0 to 1, that has this fault; in the rest all threads do
// the same. The last line is JSON: each factor is 1 less its part of CPUs x time, as a report's are. `blocked` is the
// time in which a thread had work and no CPU. The test compares it with the report of the same run.
#define _GNU_SOURCE
#include <omp.h>
#include <stdlib.h>

#include "busy.h"

enum { ROUNDS = 20, MOST = 1024 };

// What a thread has done, in seconds. On lines of its own.
struct thread {
  double useful;
  double blocked;
  double waited;   // for the lock
  double dealing;  // in the runtime, for chunks
  // Of the phase:
  double began;
  double began_cpu;
  double finished;
  char other_lines[128];
};

static struct thread threads[MOST];
static int members = 1;
static double serial_wall = 0;
static double imbalance = 0;
static double overhead = 0;
static double clock_cost = 0;  // seconds, of a call of seconds_now()
static double interrupted = 0;  // part of the time that interrupts take from a thread that has its CPU
static double sum = 0;
static omp_lock_t lock;

static double cpu_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static struct thread* begin(int number) {
  struct thread* thread = &threads[number];
  thread->began = seconds_now();
  thread->began_cpu = cpu_now();
  return thread;
}

// The thread has done nothing but work since begin().
static void end(struct thread* thread) {
  const double cpu = cpu_now() - thread->began_cpu;
  thread->finished = seconds_now();
  const double wall = thread->finished - thread->began;
  thread->useful += cpu < wall ? cpu : wall;
  thread->blocked += cpu < wall ? wall - cpu : 0;
}

// Of a region that the program met at `start` and has left now: who has finished waits for the last one, and the rest
// is the runtime's.
static void close_region(double start) {
  const double left = seconds_now();
  double first = threads[0].began;
  double last = 0;
  for (int i = 0; i < members; ++i) {
    if (threads[i].began < first) first = threads[i].began;
    if (threads[i].finished > last) last = threads[i].finished;
  }
  for (int i = 0; i < members; ++i) imbalance += (threads[i].began - first) + (last - threads[i].finished);
  overhead += members * ((first - start) + (left - last));
}

// Thread 0 works for so long, the last one for `least` of it.
static void by_all(double seconds, double least) {
  const double start = seconds_now();
#pragma omp parallel num_threads(members) reduction(+ : sum)
  {
    const int me = omp_get_thread_num();
    struct thread* thread = begin(me);
    const double part = members > 1 ? 1 - (1 - least) * me / (members - 1) : 1;
    sum += work(steps_of(part * seconds * 1e6));
    end(thread);
  }
  close_region(start);
}

static void by_one(double seconds) {
  struct thread* thread = begin(0);
  sum += work(steps_of(seconds * 1e6));
  end(thread);
  serial_wall += thread->finished - thread->began;
}

// Work whose part without a CPU is noted. What is shorter than a time slice is the clocks' own, or an interrupt's: on a
// virtual machine one takes up to 50 us.
static double noted_work(struct thread* thread, long steps) {
  const double start = seconds_now();
  const double cpu = cpu_now();
  const double done = work(steps);
  const double blocked = (seconds_now() - start) - (cpu_now() - cpu);
  if (blocked > 500e-6) thread->blocked += blocked;
  return done;
}

// 60 us of 90 us by one thread at a time.
static void locked(double seconds) {
  const long outside = steps_of(30);
  const long inside = steps_of(60);
  const double start = seconds_now();
#pragma omp parallel num_threads(members) reduction(+ : sum)
  {
    struct thread* thread = begin(omp_get_thread_num());
    const double waited_before = thread->waited;
    const double blocked_before = thread->blocked;
    while (seconds_now() < start + seconds) {
      sum += noted_work(thread, outside);
      const double asked = seconds_now();
      omp_set_lock(&lock);
      thread->waited += seconds_now() - asked;
      sum += noted_work(thread, inside);
      omp_unset_lock(&lock);
    }
    thread->finished = seconds_now();
    thread->useful +=
        (thread->finished - thread->began) - (thread->waited - waited_before) - (thread->blocked - blocked_before);
  }
  close_region(start);
}

// Chunks of one iteration, each a tenth of a microsecond or less: how long they are is measured, and the rest of the
// thread's CPU time is the dealing. Of the two calls of the clock one is within the measured time and one is not: it is
// work of the program. A chunk in which the thread lost its CPU, or was interrupted, is taken to be as long as the
// others, and interrupts are no dealing.
static void dealt(double seconds) {
  const long piece = steps_of(0.1);
  const long iterations = (long)(seconds * 1e6 / 0.15) * members;
  const double start = seconds_now();
#pragma omp parallel num_threads(members) reduction(+ : sum)
  {
    struct thread* thread = begin(omp_get_thread_num());
    double measured = 0;
    long chunks = 0;
    long disturbed = 0;
#pragma omp for schedule(dynamic, 1) nowait
    for (long i = 0; i < iterations; ++i) {
      const double begun = seconds_now();
      sum += work(piece);
      const double length = seconds_now() - begun;
      ++chunks;
      if (length < 20e-6) {
        measured += length;
      } else {
        ++disturbed;
      }
    }
    const double useful_before = thread->useful;
    end(thread);
    const double had_cpu = thread->useful - useful_before;
    const double whole = chunks > disturbed ? measured * (double)chunks / (double)(chunks - disturbed) : 0;
    double dealing = had_cpu * (1 - interrupted) - whole - (double)chunks * clock_cost;
    if (dealing < 0) dealing = 0;
    thread->dealing += dealing;
    thread->useful -= dealing;
  }
  close_region(start);
}

static double time_the_clock(void) {
  enum { TRIES = 100, CALLS = 1000 };
  double best = 1;
  for (int i = 0; i < TRIES; ++i) {
    const double start = seconds_now();
    for (int k = 0; k < CALLS; ++k) seconds_now();
    const double seconds = (seconds_now() - start) / (CALLS + 1);
    if (seconds < best) best = seconds;
  }
  return best;
}

// Of a tenth of a second, the part that lies between two looks at the clock that are far apart.
static double time_interrupts(void) {
  const double start = seconds_now();
  double last = start;
  double lost = 0;
  while (last < start + 0.1) {
    const double now = seconds_now();
    if (now - last > 5e-6) lost += now - last;
    last = now;
  }
  return lost / (last - start);
}

int main(int count, char** arguments) {
  if (count < 5) return fprintf(stderr, "usage: planted_factors IMBALANCE SERIAL LOCKS CHUNKS [SECONDS]\n"), 2;
  double parts[4];
  double rest = 1;
  for (int i = 0; i < 4; ++i) {
    parts[i] = strtod(arguments[i + 1], NULL);
    rest -= parts[i];
  }
  const double round = (count > 5 ? strtod(arguments[5], NULL) : 3) / ROUNDS;
  // What comes before the regions is serial, too.
  const double start = seconds_now();
  calibrate();
  clock_cost = time_the_clock();
  interrupted = time_interrupts();
  serial_wall = seconds_now() - start;
  threads[0].useful = serial_wall;
  const int cpus = omp_get_num_procs();
  members = omp_get_max_threads() < MOST ? omp_get_max_threads() : MOST;
  omp_init_lock(&lock);
  for (int i = 0; i < ROUNDS; ++i) {
    if (parts[0] > 0) by_all(parts[0] * round, 0.3);
    if (parts[1] > 0) by_one(parts[1] * round);
    if (parts[2] > 0) locked(parts[2] * round);
    if (parts[3] > 0) dealt(parts[3] * round);
    if (rest > 0.001) by_all(rest * round, 1);
  }
  const double seconds = seconds_now() - start;

  double useful = 0;
  double blocked = 0;
  double waited = 0;
  for (int i = 0; i < members; ++i) {
    useful += threads[i].useful;
    blocked += threads[i].blocked;
    waited += threads[i].waited;
    overhead += threads[i].dealing;
  }
  const double all = seconds * cpus;
  printf("checksum %.0f\n", sum);
  printf("{\"seconds\": %.6f, \"cpus\": %d, \"members\": %d, \"interrupted\": %.5f, \"factors\": {", seconds, cpus, members,
         interrupted);
  printf("\"parallel_efficiency\": %.5f, \"serial\": %.5f, ", useful / all, 1 - serial_wall * (cpus - 1) / all);
  printf("\"imbalance\": %.5f, \"synchronisation\": %.5f, ", 1 - imbalance / all, 1 - waited / all);
  printf("\"overhead\": %.5f, \"blocked\": %.5f}}\n", 1 - overhead / all, 1 - blocked / all);
  return 0;
}
