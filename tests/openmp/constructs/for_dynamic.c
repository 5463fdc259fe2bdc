// SPDX-License-Identifier: Apache-2.0
// schedule(dynamic) and schedule(guided), with the monotonic and nonmonotonic modifiers: every iteration once, whole
// chunks, and an ascending order within a member where that is promised.
#include "../support/check.h"
#include "../support/everywhere.h"

enum { n = 613 };

struct trace {
  int owner[n], times[n], descents;
};

// A chunk is never divided among members; only the one that holds the last iteration may be shorter.
static void check_dynamic(const struct trace *trace, int chunk, int threads, int monotonic)
{
  for (int i = 0; i < n; i++) {
    CHECK_EQ(trace->times[i], 1);
    CHECK_IN(trace->owner[i], 0, threads);
    CHECK_EQ(trace->owner[i], trace->owner[i / chunk * chunk]);
  }
  if (monotonic) CHECK_EQ(trace->descents, 0);
}

static void check_guided(const struct trace *trace, int chunk, int threads)
{
  int run = 0;
  for (int i = 0; i < n; i++) {
    CHECK_EQ(trace->times[i], 1);
    CHECK_IN(trace->owner[i], 0, threads);
    run++;
    if (i + 1 < n && trace->owner[i] != trace->owner[i + 1]) {
      CHECK(run >= chunk);
      run = 0;
    }
  }
}

#define LOOP(CLAUSE)                                                                                                   \
  _Pragma("omp parallel num_threads(threads)")                                                                         \
  {                                                                                                                    \
    int before = -1;                                                                                                   \
    _Pragma(CLAUSE) for (int i = 0; i < n; i++)                                                                        \
    {                                                                                                                  \
      trace.owner[i] = omp_get_thread_num();                                                                           \
      trace.times[i]++;                                                                                                \
      if (i < before) __atomic_add_fetch(&trace.descents, 1, __ATOMIC_RELAXED);                                        \
      before = i;                                                                                                      \
    }                                                                                                                  \
  }

static void dynamic(int threads)
{
  for (int chunk = 1; chunk < 1000; chunk = chunk * 3 + 1) {
    struct trace trace;
#define DYNAMIC(CLAUSE, MONOTONIC)                                                                                     \
  memset(&trace, 0, sizeof trace);                                                                                     \
  LOOP(CLAUSE);                                                                                                        \
  check_dynamic(&trace, chunk, threads, MONOTONIC)
    DYNAMIC("omp for schedule(dynamic, chunk)", 0);
    DYNAMIC("omp for schedule(monotonic : dynamic, chunk)", 1);
    DYNAMIC("omp for schedule(nonmonotonic : dynamic, chunk)", 0);
  }
  struct trace trace;
  int chunk = 1;
  DYNAMIC("omp for schedule(dynamic)", 0);
  DYNAMIC("omp for schedule(monotonic : dynamic)", 1);
}

static void guided(int threads)
{
  for (int chunk = 1; chunk < 1000; chunk = chunk * 3 + 1) {
    struct trace trace;
#define GUIDED(CLAUSE)                                                                                                 \
  memset(&trace, 0, sizeof trace);                                                                                     \
  LOOP(CLAUSE);                                                                                                        \
  check_guided(&trace, chunk, threads)
    GUIDED("omp for schedule(guided, chunk)");
    GUIDED("omp for schedule(monotonic : guided, chunk)");
    CHECK_EQ(trace.descents, 0);
    GUIDED("omp for schedule(nonmonotonic : guided, chunk)");
  }
  struct trace trace;
  int chunk = 1;
  GUIDED("omp for schedule(guided)");
}

// Programs by gcc rely on what libgomp has always done: each member's iterations ascend, whatever the modifier. Many
// iterations, some of them long, so that members that are ahead run out of work.
static void ascending(int threads)
{
#ifndef __clang__
#define ASCENDING(CLAUSE)                                                                                              \
  _Pragma("omp parallel num_threads(threads)")                                                                         \
  {                                                                                                                    \
    int before = -1;                                                                                                   \
    _Pragma(CLAUSE) for (int i = 0; i < 20000; i++)                                                                    \
    {                                                                                                                  \
      CHECK(i > before);                                                                                               \
      before = i;                                                                                                      \
      if (i % 4096 < 3) usleep(1000);                                                                                  \
    }                                                                                                                  \
  }
  ASCENDING("omp for schedule(dynamic)");
  ASCENDING("omp for schedule(nonmonotonic : dynamic, 2)");
  omp_set_schedule(omp_sched_dynamic, 1);
  ASCENDING("omp for schedule(runtime)");
#pragma omp parallel num_threads(threads)
  {
    int before = -1;
#pragma omp for schedule(dynamic) nowait
    for (unsigned long long i = 0; i < 20000; i++) {
      CHECK((int)i > before);
      before = (int)i;
      if (i % 4096 < 3) usleep(1000);
    }
  }
#else
  (void)threads;
#endif
}

// One member is held up in its first iteration: the others must take everything else.
static void uneven(int threads)
{
  if (threads < 2) return;
  int done = 0, late = 0;
#pragma omp parallel num_threads(threads)
  {
#pragma omp for schedule(dynamic, 1)
    for (int i = 0; i < 200; i++) {
      if (i == 0) {
        int others = 0;
        for (int spin = 0; others < 199 && spin < 3000; spin++) {
          usleep(1000);
#pragma omp atomic read
          others = done;
        }
        late = others;
      } else {
#pragma omp atomic
        done++;
      }
    }
  }
  CHECK_EQ(late, 199);
}

int main(void)
{
  everywhere(dynamic, guided);
  ascending(2);
  ascending(5);
  omp_set_max_active_levels(2);
  uneven(2);
  uneven(6);
#pragma omp parallel num_threads(2)
  uneven(3);
  return check_result();
}
