// SPDX-License-Identifier: Apache-2.0
// The combined parallel for: gcc hands bounds that are constants to the runtime at the fork, so these loops have them
// written out; with if, num_threads, data clauses and reductions.
#include "../support/check.h"
#include "../support/everywhere.h"

#define SUM(CLAUSES)                                                                                                   \
  {                                                                                                                    \
    long total = 0;                                                                                                    \
    int times[300] = {0};                                                                                              \
    _Pragma(CLAUSES) for (int i = 0; i < 300; i++)                                                                     \
    {                                                                                                                  \
      times[i]++;                                                                                                      \
      total += i;                                                                                                      \
    }                                                                                                                  \
    CHECK_EQ(total, 300 * 299 / 2);                                                                                    \
    for (int i = 0; i < 300; i++) CHECK_EQ(times[i], 1);                                                               \
  }

static void schedules(int threads)
{
  SUM("omp parallel for num_threads(threads) reduction(+ : total)")
  SUM("omp parallel for num_threads(threads) reduction(+ : total) schedule(static, 7)")
  SUM("omp parallel for num_threads(threads) reduction(+ : total) schedule(dynamic)")
  SUM("omp parallel for num_threads(threads) reduction(+ : total) schedule(dynamic, 13)")
  SUM("omp parallel for num_threads(threads) reduction(+ : total) schedule(dynamic, 100000)")
  SUM("omp parallel for num_threads(threads) reduction(+ : total) schedule(monotonic : dynamic, 13)")
  SUM("omp parallel for num_threads(threads) reduction(+ : total) schedule(guided)")
  SUM("omp parallel for num_threads(threads) reduction(+ : total) schedule(guided, 9)")
  SUM("omp parallel for num_threads(threads) reduction(+ : total) schedule(monotonic : guided, 9)")
  SUM("omp parallel for num_threads(threads) reduction(+ : total) schedule(runtime)")
  SUM("omp parallel for num_threads(threads) reduction(+ : total) schedule(auto)")
  SUM("omp parallel for num_threads(threads) reduction(+ : total) if (threads > 2) schedule(dynamic)")
  SUM("omp parallel for num_threads(threads) reduction(+ : total) if (0) schedule(guided)")
}

// More members than iterations, and none at all.
static void short_loops(int threads)
{
  int bodies = 0;
#pragma omp parallel for num_threads(threads) schedule(dynamic) reduction(+ : bodies)
  for (int i = 0; i < 1; i++) bodies++;
  CHECK_EQ(bodies, 1);
#pragma omp parallel for num_threads(threads) schedule(guided, 5) reduction(+ : bodies)
  for (int i = 5; i > 3; i--) bodies++;
  CHECK_EQ(bodies, 3);
#pragma omp parallel for num_threads(threads) schedule(dynamic, 5) reduction(+ : bodies)
  for (int i = 5; i < 3; i++) bodies++;
  CHECK_EQ(bodies, 3);
#pragma omp parallel for num_threads(threads) reduction(+ : bodies)
  for (long i = 0; i < 2; i++) bodies++;
  CHECK_EQ(bodies, 5);
}

static void data(int threads)
{
  int base = 5, last = 0, touched[most_members] = {0};
  double sum = 0;
#pragma omp parallel for num_threads(threads) firstprivate(base) lastprivate(last) reduction(+ : sum) schedule(dynamic)
  for (int i = 0; i < 100; i++) {
    base++;  // private: other members do not see it
    touched[omp_get_thread_num()] = base;
    last = i;
    sum += 0.5;
  }
  CHECK_EQ(base, 5);
  CHECK_EQ(last, 99);
  CHECK_NEAR(sum, 50, 0);
  int iterations = 0;
  for (int i = 0; i < threads; i++)
    if (touched[i]) iterations += touched[i] - 5;
  CHECK_EQ(iterations, 100);
}

static void inner(int threads)
{
  int times[8][64];
  memset(times, 0, sizeof times);
#pragma omp parallel for num_threads(threads) schedule(dynamic)
  for (int i = 0; i < 8; i++) {
#pragma omp parallel for num_threads(3) schedule(dynamic, 2)
    for (int j = 0; j < 64; j++) times[i][j]++;
  }
  for (int i = 0; i < 8; i++)
    for (int j = 0; j < 64; j++) CHECK_EQ(times[i][j], 1);
}

int main(void)
{
  everywhere(schedules, short_loops, data, inner);
  return check_result();
}
