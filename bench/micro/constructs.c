// SPDX-License-Identifier: Apache-2.0
// What single flat constructs cost: they do nothing, so all the time is overhead.
#include <omp.h>

#include "common/measure.h"

static volatile double sink;

static double parallel(const measurement* self, long count) {
  (void)self;
  const double start = now();
  for (long i = 0; i < count; i++) {
#pragma omp parallel
    __asm__ volatile("");
  }
  return now() - start;
}

static double parallel_for(const measurement* self, long count) {
  (void)self;
  const double start = now();
  for (long i = 0; i < count; i++) {
#pragma omp parallel for schedule(static)
    for (int k = 0; k < 16; k++) __asm__ volatile("");
  }
  return now() - start;
}

static double reduction(const measurement* self, long count) {
  (void)self;
  double sum = 0;
  const double start = now();
  for (long i = 0; i < count; i++) {
#pragma omp parallel reduction(+ : sum)
    sum += 1;
  }
  const double seconds = now() - start;
  sink = sum;
  return seconds;
}

// Inside one region, by all members together.
#define INSIDE(NAME, CONSTRUCT)                             \
  static double NAME(const measurement* self, long count) { \
    (void)self;                                             \
    double start = 0, end = 0;                              \
    _Pragma("omp parallel") {                               \
      _Pragma("omp barrier");                               \
      if (omp_get_thread_num() == 0) start = now();         \
      for (long i = 0; i < count; i++) {                    \
        CONSTRUCT                                           \
      }                                                     \
      _Pragma("omp barrier");                               \
      if (omp_get_thread_num() == 0) end = now();           \
    }                                                       \
    return end - start;                                     \
  }

static omp_lock_t lock;

static void locked(void) {
  omp_set_lock(&lock);
  __asm__ volatile("");
  omp_unset_lock(&lock);
}

INSIDE(barrier, _Pragma("omp barrier"))
INSIDE(single, _Pragma("omp single") __asm__ volatile("");)
INSIDE(for_static, _Pragma("omp for schedule(static)") for (int k = 0; k < 16; k++) __asm__ volatile("");)
INSIDE(critical, _Pragma("omp critical") __asm__ volatile("");)
INSIDE(set_lock, locked();)

// What handing out one iteration costs.
static double for_dynamic(const measurement* self, long count) {
  (void)self;
  const double start = now();
#pragma omp parallel for schedule(dynamic, 1)
  for (long k = 0; k < count; k++) __asm__ volatile("");
  return now() - start;
}

int main(int argument_count, char** arguments) {
  static const measurement measurements[] = {
      {.name = "parallel", .run = parallel},       {.name = "parallel_for", .run = parallel_for},
      {.name = "reduction", .run = reduction},     {.name = "barrier", .run = barrier},
      {.name = "single", .run = single},           {.name = "for_static", .run = for_static},
      {.name = "for_dynamic", .run = for_dynamic}, {.name = "critical", .run = critical},
      {.name = "lock", .run = set_lock},           {0}};
  omp_init_lock(&lock);
  return measure_family(argument_count, arguments, "constructs", measurements);
}
