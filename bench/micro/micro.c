// SPDX-License-Identifier: Apache-2.0
// What single constructs cost, flat and nested. `micro NAME...` runs the measurements named (default: all of the family)
// and reports nanoseconds of one construct; each is calibrated to some milliseconds and repeated.
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/report.h"

enum { repeats = 15, most_roots = 64 };
static int threads;
static volatile double sink;

// Runs the construct `count` times and returns the seconds it took.
typedef double (*measurement)(int count);

static double parallel(int count)
{
  const double start = now();
  for (int i = 0; i < count; i++) {
#pragma omp parallel
    __asm__ volatile("");
  }
  return now() - start;
}

static double parallel_for(int count)
{
  const double start = now();
  for (int i = 0; i < count; i++) {
#pragma omp parallel for schedule(static)
    for (int k = 0; k < 16; k++) __asm__ volatile("");
  }
  return now() - start;
}

static double reduction(int count)
{
  double sum = 0;
  const double start = now();
  for (int i = 0; i < count; i++) {
#pragma omp parallel reduction(+ : sum)
    sum += 1;
  }
  const double seconds = now() - start;
  sink = sum;
  return seconds;
}

// The same inside one region, by all members together.
#define INSIDE(NAME, CONSTRUCT)                                       \
  static double NAME(int count)                                       \
  {                                                                   \
    double start = 0, end = 0;                                        \
    _Pragma("omp parallel")                                           \
    {                                                                 \
      _Pragma("omp barrier")                                          \
      if (omp_get_thread_num() == 0) start = now();                   \
      for (int i = 0; i < count; i++) { CONSTRUCT }                   \
      _Pragma("omp barrier")                                          \
      if (omp_get_thread_num() == 0) end = now();                     \
    }                                                                 \
    return end - start;                                               \
  }
INSIDE(barrier, _Pragma("omp barrier"))
INSIDE(single, _Pragma("omp single") __asm__ volatile("");)
INSIDE(for_static, _Pragma("omp for schedule(static)") for (int k = 0; k < 16; k++) __asm__ volatile("");)
INSIDE(critical, _Pragma("omp critical") __asm__ volatile("");)

// One iteration each: what handing it out costs.
static double for_dynamic(int count)
{
  const double start = now();
#pragma omp parallel for schedule(dynamic, 1)
  for (int k = 0; k < count; k++) __asm__ volatile("");
  return now() - start;
}

static double task_one_producer(int count)
{
  const double start = now();
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < count; i++) {
#pragma omp task
    __asm__ volatile("");
  }
  return now() - start;
}

static double task_many_producers(int count)
{
  const double start = now();
#pragma omp parallel
  {
    const int mine = count / omp_get_num_threads();
    for (int i = 0; i < mine; i++) {
#pragma omp task
      __asm__ volatile("");
    }
  }
  return now() - start;
}

static int fib_tree(int n)
{
  if (n < 2) return n;
  int left, right;
#pragma omp task shared(left)
  left = fib_tree(n - 1);
  right = fib_tree(n - 2);
#pragma omp taskwait
  return left + right;
}

// A tree of some 2600 tasks for each count of 2600: the time of one task.
static double task_fib(int count)
{
  enum { depth = 17, tasks = 2583 };
  const int trees = count / tasks + 1;
  const double start = now();
  for (int i = 0; i < trees; i++) {
#pragma omp parallel
#pragma omp single
    sink = fib_tree(depth);
  }
  return (now() - start) * count / ((double)trees * tasks);
}

// An outer region of 8 whose members open regions of 8: the time of one inner region, seen by all together.
static double nested_inner_region(int count)
{
  const double start = now();
#pragma omp parallel num_threads(8)
  for (int i = 0; i < (count + 7) / 8; i++) {
#pragma omp parallel num_threads(8)
    __asm__ volatile("");
  }
  return now() - start;
}

static int outer = 2, inner = 2;
static double nested_outer_region(int count)
{
  const double start = now();
  for (int i = 0; i < count; i++) {
#pragma omp parallel num_threads(outer)
    {
#pragma omp parallel num_threads(inner)
      __asm__ volatile("");
    }
  }
  return now() - start;
}

INSIDE(nested_of_one, _Pragma("omp parallel num_threads(1)") __asm__ volatile("");)
INSIDE(nested_serial, _Pragma("omp parallel if (0)") __asm__ volatile("");)

// Barriers in a team of 8 members a CPU.
static double oversubscribed_barrier(int count)
{
  omp_set_num_threads(8 * threads);
  const double seconds = barrier(count);
  omp_set_num_threads(threads);
  return seconds;
}

static void work(int units)
{
  double x = 1;
  for (int i = 0; i < units * 100; i++) x = x * 1.0000001 + 1e-9;
  sink = x;
}

static int root_regions;
static void *root(void *unused)
{
  for (int i = 0; i < root_regions; i++) {
#pragma omp parallel for schedule(dynamic, 1)
    for (int k = 0; k < 16; k++) work(20);
  }
  return unused;
}

// 32 application threads that open regions: the time over what perfect sharing of the CPUs would take.
static void measure_roots(double *ratios, int count)
{
  enum { roots = 32 };
  root_regions = 8;
  for (int r = 0; r < count; r++) {
    double start = now();
    for (int i = 0; i < 16 * root_regions * roots; i++) work(20);
    const double ideal = (now() - start) / threads;
    pthread_t ids[roots];
    start = now();
    for (int i = 0; i < roots; i++) pthread_create(&ids[i], NULL, root, NULL);
    for (int i = 0; i < roots; i++) pthread_join(ids[i], NULL);
    ratios[r] = (now() - start) / ideal;
  }
}

static double cpu_seconds(void)
{
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

// Percent of one CPU used in the 200 ms that begin 20 ms after the last region.
static void measure_idle(double *percent, int count)
{
  for (int r = 0; r < count; r++) {
    parallel(100);
    usleep(20000);
    const double before = cpu_seconds();
    usleep(200000);
    percent[r] = 100 * (cpu_seconds() - before) / 0.2;
  }
}

static long resident_kb(void)
{
  char line[256];
  long kb = 0;
  FILE *rollup = fopen("/proc/self/smaps_rollup", "r");
  while (rollup && fgets(line, sizeof line, rollup)) sscanf(line, "Rss: %ld", &kb);
  if (rollup) fclose(rollup);
  return kb;
}

static const struct {
  const char *name;
  measurement run;
} constructs[] = {
    {"parallel", parallel},
    {"parallel_for", parallel_for},
    {"reduction", reduction},
    {"barrier", barrier},
    {"single", single},
    {"for_static", for_static},
    {"critical", critical},
    {"for_dynamic", for_dynamic},
    {"task_one_producer", task_one_producer},
    {"task_many_producers", task_many_producers},
    {"task_fib", task_fib},
    {"nested_inner_region", nested_inner_region},
    {"nested_of_one", nested_of_one},
    {"nested_serial", nested_serial},
    {"nested_2x2", nested_outer_region},
    {"nested_8x8", nested_outer_region},
    {"nested_64x64", nested_outer_region},
    {"oversubscribed_barrier", oversubscribed_barrier},
};

static void measure(const char *name, measurement run)
{
  sscanf(name, "nested_%dx%d", &outer, &inner);
  // As many as fill some milliseconds.
  const double wanted = 4e-3;
  int count = 1;
  double seconds = run(count);
  while (seconds < wanted && count < 1 << 22) {
    count *= seconds > 0 && wanted / seconds < 8 ? 2 : 4;
    seconds = run(count);
  }
  double samples[repeats];
  for (int r = 0; r < repeats; r++) samples[r] = 1e9 * run(count) / count;
  report_samples(name, "ns", samples, repeats);
}

int main(int argument_count, char **arguments)
{
  threads = omp_get_max_threads();
  omp_set_max_active_levels(2);
  parallel(100);
  begin_report();
  report_text("benchmark", "micro");
  report_number("team", threads);
  for (int i = 1; i < argument_count; i++) {
    int known = 0;
    for (size_t k = 0; k < sizeof constructs / sizeof *constructs; k++)
      if (strcmp(constructs[k].name, arguments[i]) == 0) known = 1, measure(arguments[i], constructs[k].run);
    double samples[repeats];
    if (strcmp(arguments[i], "roots") == 0) known = 1, measure_roots(samples, 5), report_samples("roots", "x", samples, 5);
    if (strcmp(arguments[i], "idle") == 0) known = 1, measure_idle(samples, 3), report_samples("idle", "%", samples, 3);
    if (strcmp(arguments[i], "resident") == 0) {
      known = 1;
      samples[0] = (double)resident_kb();
      report_samples("resident", "KB", samples, 1);
    }
    if (!known) return fprintf(stderr, "micro: %s: no such measurement\n", arguments[i]), 2;
  }
  end_report();
  return 0;
}
