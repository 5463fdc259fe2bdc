// SPDX-License-Identifier: Apache-2.0
// Leagues of teams on the host: numbers, distribute, parallel regions inside, limits.
#include <omp.h>

#include "../support/check.h"

static void numbers(void)
{
  for (int wanted = 1; wanted <= 5; wanted += 2) {
    int teams = 0, seen[8] = {0}, wrong = 0;
#pragma omp teams num_teams(wanted) shared(teams, seen, wrong)
    {
      const int number = omp_get_team_num();
#pragma omp parallel num_threads(2)
      {
#pragma omp master
        {
#pragma omp atomic
          seen[number & 7]++;
#pragma omp atomic write
          teams = omp_get_num_teams();
        }
        if (!omp_in_parallel() || omp_get_level() != 1 || omp_get_ancestor_thread_num(0) != 0) {
#pragma omp atomic
          wrong++;
        }
      }
    }
    CHECK_IN(teams, 1, wanted + 1);
    for (int i = 0; i < 8; i++) CHECK_EQ(seen[i], i < teams);
    CHECK_EQ(wrong, 0);
  }
  CHECK_EQ(omp_get_num_teams(), 1);
  CHECK_EQ(omp_get_team_num(), 0);
}

static void regions_inside(void)
{
  int members = 0, wrong = 0;
#pragma omp teams num_teams(3) reduction(+ : members, wrong)
  {
    const int team = omp_get_team_num();
#pragma omp parallel num_threads(4) reduction(+ : members, wrong)
    {
      members++;
      wrong += omp_get_team_num() != team || omp_get_level() != 1;
#pragma omp barrier
    }
#pragma omp parallel num_threads(2) reduction(+ : members)
    members++;
  }
  CHECK(members > 0 && members % 6 == 0);
  CHECK_EQ(wrong, 0);
}

static void distribution(void)
{
  enum { n = 1000 };
  int hits[n] = {0}, last = -1;
  long sum = 0;
#pragma omp teams num_teams(4)
#pragma omp distribute
  for (int i = 0; i < n; i++) hits[i]++;
  for (int i = 0; i < n; i++) CHECK_EQ(hits[i], 1);
#pragma omp teams num_teams(3)
#pragma omp distribute dist_schedule(static, 7)
  for (int i = n - 1; i >= 0; i--) hits[i]++;
  for (int i = 0; i < n; i++) CHECK_EQ(hits[i], 2);
#pragma omp teams distribute parallel for num_teams(2) num_threads(3) reduction(+ : sum)
  for (int i = 0; i < n; i++) {
    hits[i]++;
    sum += i;
  }
  for (int i = 0; i < n; i++) CHECK_EQ(hits[i], 3);
  CHECK_EQ(sum, (long)n * (n - 1) / 2);
#pragma omp teams distribute parallel for schedule(dynamic, 3) collapse(2)
  for (int i = 0; i < 10; i++)
    for (int k = 0; k < n / 10; k++) hits[i * (n / 10) + k]++;
  for (int i = 0; i < n; i++) CHECK_EQ(hits[i], 4);
#pragma omp teams distribute lastprivate(last) num_teams(3)
  for (int i = 0; i < n; i++) last = i;
  CHECK_EQ(last, n - 1);
}

static void limits(void)
{
  int most = 0;
#pragma omp teams num_teams(2) thread_limit(2) reduction(max : most)
  {
#pragma omp parallel num_threads(8) reduction(max : most)
    most = omp_get_num_threads();
  }
  CHECK_IN(most, 1, 3);
}

int main(void)
{
  for (int round = 0; round < 20; round++) {
    numbers();
    regions_inside();
    distribution();
    limits();
  }
  return check_result();
}
