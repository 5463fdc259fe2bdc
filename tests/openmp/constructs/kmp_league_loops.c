// SPDX-License-Identifier: Apache-2.0
// Loops shared among the teams of a league and then among their members by one call, as icc emits distribute parallel
// for: every iteration runs once, and one member has the last.
#include "../support/check.h"

#include <stdint.h>
#include <stdlib.h>

enum { static_chunked = 33, static_plain = 34, dynamic_chunked = 35, guided_chunked = 36 };

#define DECLARE(suffix, value, stride)                                                                                 \
  void __kmpc_dist_for_static_init_##suffix(void *, int, int, int *, value *, value *, value *, stride *, stride,      \
                                            stride);                                                                   \
  void __kmpc_team_static_init_##suffix(void *, int, int *, value *, value *, stride *, stride, stride);               \
  void __kmpc_dist_dispatch_init_##suffix(void *, int, int, int *, value, value, stride, stride);                      \
  int __kmpc_dispatch_next_##suffix(void *, int, int *, value *, value *, stride *);                                   \
                                                                                                                       \
  static int inside_##suffix(value i, value upper, stride step) { return step > 0 ? i <= upper : i >= upper; }         \
                                                                                                                       \
  /* Marks from lower to upper what a member runs, in `hits` by number of the iteration. */                            \
  static void mark_##suffix(int *hits, value first, value lower, value upper, value end, stride step)                  \
  {                                                                                                                    \
    for (value i = lower; inside_##suffix(i, upper, step) && inside_##suffix(i, end, step); i += (value)step)          \
      __atomic_add_fetch(&hits[(stride)(i - first) / step], 1, __ATOMIC_RELAXED);                                      \
  }                                                                                                                    \
                                                                                                                       \
  static void by_static_##suffix(value first, value end, stride step, int count, int teams, int threads, int schedule, \
                                 stride chunk)                                                                         \
  {                                                                                                                    \
    int *hits = calloc((size_t)count + 1, sizeof *hits), lasts = 0;                                                    \
    _Pragma("omp teams num_teams(teams)") _Pragma("omp parallel num_threads(threads)")                                 \
    {                                                                                                                  \
      value lower = first, upper = end, team_upper = 0;                                                                \
      stride next = step;                                                                                              \
      int last = 0;                                                                                                    \
      __kmpc_dist_for_static_init_##suffix(NULL, 0, schedule, &last, &lower, &upper, &team_upper, &next, step, chunk); \
      if (schedule == static_plain) {                                                                                  \
        mark_##suffix(hits, first, lower, upper, team_upper, step);                                                    \
      } else {                                                                                                         \
        while (inside_##suffix(lower, team_upper, step)) {                                                             \
          mark_##suffix(hits, first, lower, upper, team_upper, step);                                                  \
          lower += (value)next;                                                                                        \
          upper += (value)next;                                                                                        \
        }                                                                                                              \
      }                                                                                                                \
      __atomic_add_fetch(&lasts, last, __ATOMIC_RELAXED);                                                              \
    }                                                                                                                  \
    for (int i = 0; i < count; i++) CHECK_EQ(hits[i], 1);                                                              \
    CHECK_EQ(lasts, count > 0);                                                                                        \
    free(hits);                                                                                                        \
  }                                                                                                                    \
                                                                                                                       \
  static void by_team_##suffix(value first, value end, stride step, int count, int teams, stride chunk)                \
  {                                                                                                                    \
    int *hits = calloc((size_t)count + 1, sizeof *hits), lasts = 0;                                                    \
    _Pragma("omp teams num_teams(teams)")                                                                              \
    {                                                                                                                  \
      value lower = first, upper = end;                                                                                \
      stride next = 0;                                                                                                 \
      int last = 0;                                                                                                    \
      __kmpc_team_static_init_##suffix(NULL, 0, &last, &lower, &upper, &next, step, chunk);                            \
      CHECK(!inside_##suffix(lower, end, step) || inside_##suffix(upper, end, step));                                  \
      while (count > 0 && inside_##suffix(lower, end, step)) {                                                         \
        mark_##suffix(hits, first, lower, upper, end, step);                                                           \
        lower += (value)next;                                                                                          \
        upper += (value)next;                                                                                          \
      }                                                                                                                \
      __atomic_add_fetch(&lasts, last, __ATOMIC_RELAXED);                                                              \
    }                                                                                                                  \
    for (int i = 0; i < count; i++) CHECK_EQ(hits[i], 1);                                                              \
    CHECK_EQ(lasts, count > 0);                                                                                        \
    free(hits);                                                                                                        \
  }                                                                                                                    \
                                                                                                                       \
  static void by_dispatch_##suffix(value first, value end, stride step, int count, int teams, int threads,             \
                                   int schedule, stride chunk)                                                         \
  {                                                                                                                    \
    int *hits = calloc((size_t)count + 1, sizeof *hits), lasts = 0;                                                    \
    _Pragma("omp teams num_teams(teams)") _Pragma("omp parallel num_threads(threads)")                                 \
    {                                                                                                                  \
      value lower, upper;                                                                                              \
      stride next;                                                                                                     \
      int last_team = 0, last = 0, mine = 0;                                                                           \
      __kmpc_dist_dispatch_init_##suffix(NULL, 0, schedule, &last_team, first, end, step, chunk);                      \
      while (__kmpc_dispatch_next_##suffix(NULL, 0, &last, &lower, &upper, &next)) {                                   \
        mark_##suffix(hits, first, lower, upper, upper, step);                                                         \
        mine |= last;                                                                                                  \
      }                                                                                                                \
      __atomic_add_fetch(&lasts, mine && last_team, __ATOMIC_RELAXED);                                                 \
    }                                                                                                                  \
    for (int i = 0; i < count; i++) CHECK_EQ(hits[i], 1);                                                              \
    CHECK_EQ(lasts, count > 0);                                                                                        \
    free(hits);                                                                                                        \
  }                                                                                                                    \
                                                                                                                       \
  static void test_##suffix(void)                                                                                      \
  {                                                                                                                    \
    static const int counts[] = {0, 1, 3, 7, 100, 1001};                                                               \
    for (unsigned c = 0; c < sizeof counts / sizeof *counts; c++) {                                                    \
      for (int teams = 1; teams <= 4; teams += 3) {                                                                    \
        for (int threads = 1; threads <= 3; threads += 2) {                                                            \
          const int count = counts[c];                                                                                 \
          for (int down = 0; down < 2; down++) {                                                                       \
            const stride step = down ? -3 : 2;                                                                         \
            const value first = down ? 10000 : 10, end = (value)(first + (value)((count - 1) * step));                 \
            by_static_##suffix(first, end, step, count, teams, threads, static_plain, 0);                              \
            by_static_##suffix(first, end, step, count, teams, threads, static_chunked, 4);                            \
            by_team_##suffix(first, end, step, count, teams, 5);                                                       \
            by_dispatch_##suffix(first, end, step, count, teams, threads, dynamic_chunked, 3);                         \
            by_dispatch_##suffix(first, end, step, count, teams, threads, guided_chunked, 1);                          \
          }                                                                                                            \
        }                                                                                                              \
      }                                                                                                                \
    }                                                                                                                  \
  }

DECLARE(4, int32_t, int32_t)
DECLARE(4u, uint32_t, int32_t)
DECLARE(8, int64_t, int64_t)
DECLARE(8u, uint64_t, int64_t)

int main(void)
{
  test_4();
  test_4u();
  test_8();
  test_8u();
  return check_result();
}
