// SPDX-License-Identifier: Apache-2.0
// omp_get_level and its kin: levels, active levels, ancestors, team sizes, the limit on active levels, nesting on and off.
#include "../support/check.h"
#include "../support/everywhere.h"

static void deep(int depth, int numbers[], int sizes[])
{
  int level = omp_get_level();
  CHECK_EQ(level, depth);
  for (int i = 0; i <= depth; i++) {
    CHECK_EQ(omp_get_ancestor_thread_num(i), numbers[i]);
    CHECK_EQ(omp_get_team_size(i), sizes[i]);
  }
  CHECK_EQ(omp_get_ancestor_thread_num(depth + 1), -1);
  CHECK_EQ(omp_get_ancestor_thread_num(-1), -1);
  CHECK_EQ(omp_get_team_size(depth + 1), -1);
  CHECK_EQ(omp_get_team_size(-1), -1);
  int active = 0;
  for (int i = 0; i <= depth; i++) active += sizes[i] > 1;
  CHECK_EQ(omp_get_active_level(), active);
  CHECK_EQ(omp_in_parallel() != 0, active > 0);
  if (depth == 4) return;
  int size = depth == 2 ? 1 : 1 + depth % 2 + 1;  // 2, 3, 1, 3
#pragma omp parallel num_threads(size)
  {
    int mine[8], teams[8];
    memcpy(mine, numbers, sizeof mine);
    memcpy(teams, sizes, sizeof teams);
    mine[depth + 1] = omp_get_thread_num();
    teams[depth + 1] = size;
    deep(depth + 1, mine, teams);
  }
}

static void limited(int limit)
{
  omp_set_max_active_levels(limit);
  CHECK_EQ(omp_get_max_active_levels(), limit);
  int members = 0;
#pragma omp parallel num_threads(2) reduction(+ : members)
#pragma omp parallel num_threads(2) reduction(+ : members)
#pragma omp parallel num_threads(2) reduction(+ : members)
  {
    members++;
    CHECK_EQ(omp_get_active_level(), limit);
    CHECK_EQ(omp_get_level(), 3);
  }
  CHECK_EQ(members, 1 << limit);
}

int main(void)
{
  int numbers[8] = {0}, sizes[8] = {1};
  omp_set_dynamic(0);
  CHECK_EQ(omp_get_level(), 0);
  CHECK_EQ(omp_get_active_level(), 0);
  CHECK(omp_get_supported_active_levels() >= 4);
  omp_set_max_active_levels(8);
  deep(0, numbers, sizes);
  for (int limit = 0; limit <= 3; limit++) limited(limit);

  // A limit that is too high is cut.
  omp_set_max_active_levels(2);
  CHECK_EQ(omp_get_max_active_levels(), 2);
  omp_set_max_active_levels(2147483647);
  CHECK_EQ(omp_get_max_active_levels(), omp_get_supported_active_levels());

  omp_set_nested(0);
  CHECK_EQ(omp_get_max_active_levels(), 1);
  CHECK_EQ(omp_get_nested() != 0, 0);
  omp_set_nested(1);
  CHECK(omp_get_max_active_levels() > 1);
  CHECK_EQ(omp_get_nested() != 0, 1);
  return check_result();
}
