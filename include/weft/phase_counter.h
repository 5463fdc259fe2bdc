/* SPDX-License-Identifier: Apache-2.0 */
/* Where the time of a short operation goes. Points P1 to Pn of the operation are marked; what passes from each to the
 * next is counted in histograms, and a table says mean, median and 99th percentile of each phase, in ticks and
 * nanoseconds:
 *
 *   static _Thread_local weft_phase_counter counter;
 *   weft_phase_init(&counter, 3);                once per thread, before the first mark
 *   WEFT_PHASE(&counter, 1);                     P1, where the operation begins
 *   find();
 *   WEFT_PHASE(&counter, 2);
 *   copy();
 *   WEFT_PHASE(&counter, 3);                     Pn, where it ends
 *   weft_phase_record(&counter);                 outside of what is measured
 *   ...
 *   weft_phase_print_head(stdout, 3, "clients");
 *   weft_phase_print(stdout, "N = 2", &counter);
 *
 * A mark reads the time stamp counter (x86-64, where cpuid says that it ticks at one rate; AArch64: the virtual
 * counter), or else CLOCK_MONOTONIC_RAW, and stores it. What reading it takes is measured by weft_phase_init() and
 * subtracted from each phase. The instructions of a phase end before its mark is read, so that phases do not overlap as
 * they would without marks.
 *
 * A counter belongs to one thread. It holds no pointers: it may lie in shared memory, and others may merge and print it
 * once its thread has come to rest. Nothing is allocated.
 *
 * With WEFT_PHASE_COUNTER_OFF defined before this header is included, marks and weft_phase_record() are nothing at all,
 * and the counter stays empty. C11 and C++17; needs no library. Compilers that are told -std=c11 need _GNU_SOURCE for
 * the clock. */
#ifndef WEFT_PHASE_COUNTER_H
#define WEFT_PHASE_COUNTER_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#ifndef CLOCK_MONOTONIC_RAW
#error "weft/phase_counter.h needs the system's clocks: compile with -std=gnu11 or -D_GNU_SOURCE"
#endif
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* How many points an operation can have. */
#define WEFT_PHASES 16
/* Each power of two has so many counts; a value is known to one in 32. */
#define WEFT_PHASE_STEPS 16
/* Longer times than 2^44 ticks, an hour, count as that. */
#define WEFT_PHASE_BUCKETS (WEFT_PHASE_STEPS * 41)

typedef struct weft_phase_histogram {
  uint64_t count;
  uint64_t sum;   /* ticks, with those of the marks */
  uint64_t marks; /* how many of them are within */
  uint32_t buckets[WEFT_PHASE_BUCKETS];
} weft_phase_histogram;

typedef struct weft_phase_counter {
  int points;
  int has_ticks;       /* 0: no counter that can be relied on, the clock is read */
  uint32_t passed;     /* points of the operation at hand */
  double overhead;     /* ticks of one mark; less than one step of some counters */
  uint64_t first_tick; /* these two: when it was made, by both clocks */
  uint64_t first_ns;
  uint64_t stamps[WEFT_PHASES];
  weft_phase_histogram whole;                /* Pn - P1 */
  weft_phase_histogram phases[WEFT_PHASES];  /* [k]: P(k + 2) - P(k + 1) */
} weft_phase_counter;

static inline uint64_t weft_phase_now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC_RAW, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Whether the processor counts ticks at one rate, whatever its clock does, and goes on in sleep. */
static inline int weft_phase_ticks_are_steady(void) {
#if defined(__x86_64__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(0x80000007u, &a, &b, &c, &d) != 0 && (d & (1u << 8)) != 0 &&
         __get_cpuid(0x80000001u, &a, &b, &c, &d) != 0 && (d & (1u << 27)) != 0; /* the second: rdtscp */
#elif defined(__aarch64__)
  return 1;
#else
  return 0;
#endif
}

static inline uint64_t weft_phase_now(const weft_phase_counter *counter) {
#if defined(__x86_64__)
  if (counter->has_ticks) {
    /* rdtscp waits for what stands before it; what stands behind the fence waits for rdtscp. */
    unsigned cpu;
    const uint64_t ticks = __builtin_ia32_rdtscp(&cpu);
    __builtin_ia32_lfence();
    return ticks;
  }
#elif defined(__aarch64__)
  if (counter->has_ticks) {
    uint64_t ticks;
    __asm__ volatile("isb\n\tmrs %0, cntvct_el0\n\tisb" : "=r"(ticks) : : "memory");
    return ticks;
  }
#endif
  (void)counter;
  return weft_phase_now_ns();
}

static inline void weft_phase_mark(weft_phase_counter *counter, int point) {
  if (point < 1 || point > WEFT_PHASES) return;
  counter->passed = point == 1 ? 1u : counter->passed | (1u << (point - 1));
  counter->stamps[point - 1] = weft_phase_now(counter);
}

static inline int weft_phase_bucket(uint64_t ticks) {
  int power = 0; /* of two, that the value is shifted by to have four bits behind its first one */
  if (ticks < WEFT_PHASE_STEPS) return (int)ticks;
  power = 63 - __builtin_clzll(ticks) - 4;
  if (power >= WEFT_PHASE_BUCKETS / WEFT_PHASE_STEPS - 1) return WEFT_PHASE_BUCKETS - 1;
  return (power + 1) * WEFT_PHASE_STEPS + (int)((ticks >> power) - WEFT_PHASE_STEPS);
}

/* The middle of what a bucket counts. */
static inline double weft_phase_bucket_ticks(int bucket) {
  const int power = bucket / WEFT_PHASE_STEPS - 1;
  if (power < 0) return bucket;
  return ((double)(bucket % WEFT_PHASE_STEPS + WEFT_PHASE_STEPS) + 0.5 - 0.5 / (double)(1ull << power)) *
         (double)(1ull << power);
}

/* From one mark to a later one, with so many marks behind the first; 0 at least: a thread that has changed its CPU may
 * see a counter go back. */
static inline void weft_phase_add(weft_phase_histogram *histogram, uint64_t from, uint64_t to, int marks) {
  const uint64_t ticks = (int64_t)(to - from) > 0 ? to - from : 0;
  ++histogram->count;
  histogram->sum += ticks;
  histogram->marks += (uint64_t)marks;
  ++histogram->buckets[weft_phase_bucket(ticks)];
}

/* Counts the operation whose last point has been marked. A phase counts when both of its points were passed, the whole
 * when the first and the last were. */
static inline void weft_phase_record_marked(weft_phase_counter *counter) {
  const int last = counter->points;
  int marks = 0;
  for (int k = 1; k < last; ++k) {
    if ((counter->passed >> k & 1u) == 0) continue;
    ++marks;
    if ((counter->passed >> (k - 1) & 1u) != 0)
      weft_phase_add(&counter->phases[k - 1], counter->stamps[k - 1], counter->stamps[k], 1);
  }
  if (last > 1 && (counter->passed & 1u) != 0 && (counter->passed >> (last - 1) & 1u) != 0)
    weft_phase_add(&counter->whole, counter->stamps[0], counter->stamps[last - 1], marks);
  counter->passed = 0;
}

#ifdef WEFT_PHASE_COUNTER_OFF
#define WEFT_PHASE(counter, point) ((void)0)
#define weft_phase_record(counter) ((void)0)
#else
/* There is no such function: a constant point that cannot be is found by the compiler. */
void weft_phase_no_such_point(void) __attribute__((error("WEFT_PHASE: points go from 1 to WEFT_PHASES")));
/* The operation passes point 1 .. n of the counter; other points are ignored. Point 1 begins a new operation. */
#define WEFT_PHASE(counter, point)                                                   \
  (__builtin_constant_p(point) && ((point) < 1 || (point) > WEFT_PHASES)             \
       ? weft_phase_no_such_point()                                                  \
       : weft_phase_mark((counter), (point)))
#define weft_phase_record(counter) weft_phase_record_marked(counter)
#endif

/* Makes the counter empty, with 2 to WEFT_PHASES points; other numbers become the nearest of these. Takes some 50 us.
 */
static inline void weft_phase_init(weft_phase_counter *counter, int points) {
  const int tries = 16;
  const int marks = 64;
  uint64_t least = UINT64_MAX;
  memset(counter, 0, sizeof(*counter));
  counter->points = points < 2 ? 2 : points > WEFT_PHASES ? WEFT_PHASES : points;
  counter->has_ticks = weft_phase_ticks_are_steady();
  for (int i = 0; i < tries; ++i) {
    uint64_t taken;
    weft_phase_mark(counter, 1);
    for (int k = 0; k < marks; ++k) weft_phase_mark(counter, 2);
    taken = counter->stamps[1] - counter->stamps[0];
    if (taken < least) least = taken;
  }
  counter->passed = 0;
  counter->overhead = (double)least / marks;
  counter->first_tick = weft_phase_now(counter);
  counter->first_ns = weft_phase_now_ns();
}

/* Adds what another counter of the same operation has counted. */
static inline void weft_phase_merge_one(weft_phase_histogram *into, const weft_phase_histogram *from) {
  into->count += from->count;
  into->sum += from->sum;
  into->marks += from->marks;
  for (int i = 0; i < WEFT_PHASE_BUCKETS; ++i) into->buckets[i] += from->buckets[i];
}
static inline void weft_phase_merge(weft_phase_counter *into, const weft_phase_counter *from) {
  weft_phase_merge_one(&into->whole, &from->whole);
  for (int k = 0; k < WEFT_PHASES; ++k) weft_phase_merge_one(&into->phases[k], &from->phases[k]);
}

/* Of one of the counter's histograms, in ticks, without the marks; 0 without operations. */
static inline double weft_phase_less_marks(const weft_phase_counter *counter, const weft_phase_histogram *histogram,
                                           double ticks) {
  const double marks = counter->overhead * (double)histogram->marks / (double)histogram->count;
  return ticks > marks ? ticks - marks : 0;
}
static inline double weft_phase_mean(const weft_phase_counter *counter, const weft_phase_histogram *histogram) {
  if (histogram->count == 0) return 0;
  return weft_phase_less_marks(counter, histogram, (double)histogram->sum / (double)histogram->count);
}
/* The value that the given share of the operations, 0 to 1, is at or below. */
static inline double weft_phase_quantile(const weft_phase_counter *counter, const weft_phase_histogram *histogram,
                                         double share) {
  const double wanted = share * (double)histogram->count;
  uint64_t seen = 0;
  int last = 0;
  if (histogram->count == 0) return 0;
  for (int i = 0; i < WEFT_PHASE_BUCKETS; ++i) {
    if (histogram->buckets[i] == 0) continue;
    seen += histogram->buckets[i];
    last = i;
    if ((double)seen >= wanted) break;
  }
  return weft_phase_less_marks(counter, histogram, weft_phase_bucket_ticks(last));
}

/* Nanoseconds of one tick, by what has passed since the counter was made. Waits until that is 2 ms. */
static inline double weft_phase_ns_per_tick(const weft_phase_counter *counter) {
  uint64_t ns = weft_phase_now_ns();
  uint64_t ticks;
  if (!counter->has_ticks) return 1;
  while (ns - counter->first_ns < 2000000u) ns = weft_phase_now_ns();
  ticks = weft_phase_now(counter);
  return (double)(ns - counter->first_ns) / (double)(ticks - counter->first_tick);
}

static inline void weft_phase_print_head(FILE *out, int points, const char *rows) {
  fprintf(out, "%-16s %-5s %18s", rows != NULL ? rows : "", "", "whole");
  for (int k = 1; k < points && k < WEFT_PHASES; ++k) fprintf(out, "          P%d - P%d", k + 1, k);
  fprintf(out, "\n");
}

static inline void weft_phase_print_cell(FILE *out, const weft_phase_counter *counter,
                                         const weft_phase_histogram *histogram, int what, double ns) {
  const double ticks =
      what == 0 ? weft_phase_mean(counter, histogram) : weft_phase_quantile(counter, histogram, what == 1 ? 0.5 : 0.99);
  if (histogram->count == 0)
    fprintf(out, " %18s", "not seen");
  else
    fprintf(out, " %8.0f %7.4gns", ticks, ns * ticks);
}

/* Three lines: mean, p50 and p99 of the whole operation and of each phase, as ticks and nanoseconds. */
static inline void weft_phase_print(FILE *out, const char *row, const weft_phase_counter *counter) {
  static const char *const whats[] = {"mean", "p50", "p99"};
  const double ns = weft_phase_ns_per_tick(counter);
  for (int what = 0; what < 3; ++what) {
    fprintf(out, "%-16s %-5s", what == 0 && row != NULL ? row : "", whats[what]);
    weft_phase_print_cell(out, counter, &counter->whole, what, ns);
    for (int k = 0; k + 1 < counter->points; ++k) weft_phase_print_cell(out, counter, &counter->phases[k], what, ns);
    fprintf(out, "\n");
  }
}

#ifdef __cplusplus
}
#endif

#endif
