// SPDX-License-Identifier: Apache-2.0
// schedule(runtime) under every kind that omp_set_schedule knows and under what OMP_SCHEDULE says, and schedule(auto).
#include "../support/check.h"
#include "../support/everywhere.h"

enum { n = 501 };

static void loops(int threads)
{
  int times[5][n] = {{0}};
  long long total = 0;
#pragma omp parallel num_threads(threads)
  {
#pragma omp for schedule(runtime)
    for (int i = 0; i < n; i++) times[0][i]++;
#pragma omp for schedule(runtime) nowait
    for (int i = n - 1; i >= 0; i--) times[1][i]++;
#pragma omp for schedule(auto)
    for (int i = 0; i < n; i++) times[2][i]++;
#pragma omp for schedule(runtime) reduction(+ : total)
    for (unsigned long long i = 0; i < 5 * n; i += 5) {
      times[3][i / 5]++;
      total += (long long)i;
    }
#pragma omp for schedule(auto) nowait
    for (long i = 0; i < n; i++) times[4][i]++;
  }
  for (int loop = 0; loop < 5; loop++)
    for (int i = 0; i < n; i++) CHECK_EQ(times[loop][i], 1);
  CHECK_EQ(total, 5LL * n * (n - 1) / 2);
}

static void combined(int threads)
{
  int times[3][n] = {{0}};
#pragma omp parallel for num_threads(threads) schedule(runtime)
  for (int i = 0; i < 501; i++) times[0][i]++;
#pragma omp parallel for num_threads(threads) schedule(monotonic : runtime)
  for (int i = 0; i < 501; i++) times[1][i]++;
#pragma omp parallel for num_threads(threads) schedule(nonmonotonic : runtime)
  for (int i = 0; i < 501; i++) times[2][i]++;
  for (int loop = 0; loop < 3; loop++)
    for (int i = 0; i < n; i++) CHECK_EQ(times[loop][i], 1);
}

static void every_kind(int threads)
{
  static const omp_sched_t kinds[] = {omp_sched_static, omp_sched_dynamic, omp_sched_guided, omp_sched_auto};
  static const int sizes[] = {0, 1, 7, 1000000000};
  omp_sched_t kind_before;
  int size_before;
  omp_get_schedule(&kind_before, &size_before);
  for (int monotonic = 0; monotonic < 2; monotonic++)
    for (int kind = 0; kind < 4; kind++)
      for (int size = 0; size < 4; size++) {
        omp_set_schedule((omp_sched_t)(kinds[kind] | (monotonic ? (int)omp_sched_monotonic : 0)), sizes[size]);
        loops(threads);
        if (size < 2) combined(threads);
      }
  omp_set_schedule(kind_before, size_before);
}

// Static with a chunk keeps its fixed distribution when it is chosen at run time.
static void fixed_distribution(int threads)
{
  int owner[n];
  omp_set_schedule(omp_sched_static, 3);
#pragma omp parallel for num_threads(threads) schedule(runtime)
  for (int i = 0; i < 501; i++) owner[i] = omp_get_thread_num();
  for (int i = 0; i < n; i++) CHECK_EQ(owner[i], i / 3 % threads);
}

int main(void)
{
  everywhere(loops, combined);
  every_kind(1);
  every_kind(4);
  omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2)
  every_kind(3);
  fixed_distribution(1);
  fixed_distribution(5);
  return check_result();
}
