// SPDX-License-Identifier: Apache-2.0
// parallel with num_threads, if and proc_bind: as many members as asked for, each with a number of its own.
#include "../support/check.h"
#include "../support/everywhere.h"

static void team_of(int threads)
{
  int seen[most_members] = {0};
  int outside = omp_get_thread_num();
  int level = omp_get_level();
  int was_parallel = omp_in_parallel();
#pragma omp parallel num_threads(threads)
  {
    int me = omp_get_thread_num();
    CHECK_IN(me, 0, threads);
    CHECK_EQ(omp_get_num_threads(), threads);
    CHECK_EQ(omp_get_level(), level + 1);
    CHECK_EQ(omp_in_parallel() != 0, was_parallel || threads > 1);
    CHECK_EQ(omp_get_ancestor_thread_num(level), outside);
#pragma omp atomic
    seen[me]++;
  }
  for (int i = 0; i < threads; i++) CHECK_EQ(seen[i], 1);
  CHECK_EQ(omp_get_thread_num(), outside);
  CHECK_EQ(omp_get_level(), level);
  CHECK_EQ(omp_in_parallel() != 0, was_parallel != 0);
}

// A false if clause makes a team of one, whatever num_threads says; a level is counted all the same.
static void conditional(int threads)
{
  int level = omp_get_level();
  for (int on = 0; on < 2; on++) {
    int members = 0;
#pragma omp parallel num_threads(threads) if (on) reduction(+ : members)
    {
      members++;
      CHECK_EQ(omp_get_level(), level + 1);
      CHECK_EQ(omp_get_num_threads(), on ? threads : 1);
      if (!on) CHECK_EQ(omp_get_thread_num(), 0);
    }
    CHECK_EQ(members, on ? threads : 1);
  }
}

static void bound(int threads)
{
  int members = 0;
#pragma omp parallel num_threads(threads) proc_bind(close) reduction(+ : members)
  members++;
#pragma omp parallel num_threads(threads) proc_bind(spread) reduction(+ : members)
  members++;
#pragma omp parallel num_threads(threads) proc_bind(master) reduction(+ : members)
  members++;
  CHECK_EQ(members, 3 * threads);
}

// Members see what the primary wrote before, and it sees what they wrote, once the region has ended.
static void visible(int threads)
{
  int data[most_members];
  for (int round = 0; round < 20; round++) {
    for (int i = 0; i < threads; i++) data[i] = round + i;
#pragma omp parallel num_threads(threads)
    data[omp_get_thread_num()] *= 2;
    for (int i = 0; i < threads; i++) CHECK_EQ(data[i], 2 * (round + i));
  }
}

// Successive teams of changing size.
static void resized(int threads)
{
  for (int size = 1; size <= threads; size++) {
    int members = 0;
#pragma omp parallel num_threads(size) reduction(+ : members)
    members++;
    CHECK_EQ(members, size);
  }
  for (int size = threads; size >= 1; size--) {
    int members = 0;
#pragma omp parallel num_threads(size) reduction(+ : members)
    members++;
    CHECK_EQ(members, size);
  }
}

// Where nesting is off, an inner region is serial, whatever it asks for.
static void nesting_off(int threads)
{
  int members = 0;
  omp_set_max_active_levels(1);
#pragma omp parallel num_threads(threads) reduction(+ : members)
  {
#pragma omp parallel num_threads(4) reduction(+ : members)
    {
      members++;
      CHECK_EQ(omp_get_num_threads(), threads > 1 ? 1 : 4);
      CHECK_EQ(omp_get_level(), 2);
    }
  }
  CHECK_EQ(members, threads > 1 ? threads : 4);
}

int main(void)
{
  everywhere(team_of, conditional, bound, visible, resized);
  team_of(64);
  team_of(200);
  nesting_off(1);
  nesting_off(2);
  nesting_off(5);
  return check_result();
}
