// SPDX-License-Identifier: Apache-2.0
// Places: what the routines say fits together, by whatever policy; members of the outermost team run in their places,
// whatever they wait for; and where nothing was asked for, nobody is bound.
#define _GNU_SOURCE
#include "../support/check.h"

#include <omp.h>
#include <sched.h>
#include <unistd.h>

enum { most_cpus = 1024 };

static cpu_set_t process_mask;

static cpu_set_t own_mask(void)
{
  cpu_set_t mask;
  CPU_ZERO(&mask);
  CHECK_EQ(sched_getaffinity(0, sizeof mask, &mask), 0);
  return mask;
}

static cpu_set_t mask_of(int place)
{
  int ids[most_cpus], count = omp_get_place_num_procs(place);
  cpu_set_t mask;
  CPU_ZERO(&mask);
  CHECK_IN(count, 1, most_cpus);
  omp_get_place_proc_ids(place, ids);
  for (int i = 0; i < count; i++) CPU_SET((size_t)ids[i], &mask);
  return mask;
}

static void check_queries(void)
{
  int places = omp_get_num_places();
  int place = omp_get_place_num();
  int count = omp_get_partition_num_places();
  CHECK_EQ(omp_get_place_num_procs(-1), 0);
  CHECK_EQ(omp_get_place_num_procs(places), 0);
  if (omp_get_proc_bind() == omp_proc_bind_false) {
    CHECK_EQ(places, 0);
    CHECK_EQ(place, -1);
    CHECK_EQ(count, 0);
    return;
  }
  CHECK_IN(places, 1, most_cpus);
  CHECK_IN(place, 0, places);
  CHECK_IN(count, 1, places + 1);
  int nums[most_cpus], own = 0;
  omp_get_partition_place_nums(nums);
  for (int i = 0; i < count; i++) {
    CHECK_EQ(nums[i], nums[0] + i);
    own += nums[i] == place;
  }
  CHECK_EQ(own, 1);
  CHECK_IN(nums[0], 0, places);
  CHECK_IN(nums[count - 1], 0, places);
}

static void check_mask(const char *when)
{
  cpu_set_t mask = own_mask();
  if (omp_get_proc_bind() == omp_proc_bind_false) {
    if (!CPU_EQUAL(&mask, &process_mask)) check_failed(__FILE__, __LINE__, when, "an unbound member is bound");
    return;
  }
  cpu_set_t expected = mask_of(omp_get_place_num());
  if (!CPU_EQUAL(&mask, &expected)) {
    check_failed(__FILE__, __LINE__, when, "member %d of %d, place %d, is bound to %d CPUs, not to those of its place",
                 omp_get_thread_num(), omp_get_num_threads(), omp_get_place_num(), CPU_COUNT(&mask));
  }
  CHECK(CPU_ISSET((size_t)sched_getcpu(), &mask));
}

static void member(int rounds)
{
  check_queries();
  check_mask("at first");
  for (int i = 0; i < rounds; i++) {
#pragma omp barrier
    check_mask("after a barrier");
  }
#pragma omp task
  check_queries();
#pragma omp taskwait
  if (omp_get_thread_num() == 0) usleep(2000);
#pragma omp barrier
  check_mask("after a long wait");
}

static int place_of[4096];

static void note_places(void) { place_of[omp_get_thread_num()] = omp_get_place_num(); }

static void check_policies(int threads)
{
  int places = omp_get_num_places(), first = omp_get_place_num();
#pragma omp parallel num_threads(threads) proc_bind(primary)
  note_places();
  for (int i = 0; i < threads; i++) CHECK_EQ(place_of[i], first);
#pragma omp parallel num_threads(threads) proc_bind(close)
  note_places();
  if (threads <= places)
    for (int i = 0; i < threads; i++) CHECK_EQ(place_of[i], (first + i) % places);
#pragma omp parallel num_threads(threads) proc_bind(spread)
  {
    note_places();
    CHECK_IN(omp_get_partition_num_places(), 1, threads < places ? places : 2);
    check_queries();
  }
  if (threads <= places)
    for (int i = 1; i < threads; i++)
      for (int k = 0; k < i; k++) CHECK(place_of[i] != place_of[k]);
}

int main(void)
{
  process_mask = own_mask();
  check_queries();
  int bound = omp_get_proc_bind() != omp_proc_bind_false;

  for (int threads = 1; threads <= 9; threads++) {
    for (int round = 0; round < 3; round++) {
#pragma omp parallel num_threads(threads)
      member(TIMES(10));
    }
  }
#pragma omp parallel
  member(TIMES(40));

  // The policy of a clause holds for its region only, and the members move there and back.
  for (int round = 0; round < TIMES(10); round++) {
#pragma omp parallel num_threads(4) proc_bind(primary)
    {
      if (bound) check_mask("by a clause");
#pragma omp barrier
      if (bound) check_mask("by a clause, after a barrier");
    }
#pragma omp parallel num_threads(4)
    {
      check_mask("after a clause");
#pragma omp barrier
      check_mask("after a clause and a barrier");
    }
  }
  if (bound)
    for (int threads = 2; threads <= 5; threads++) check_policies(threads);

  // Nested regions: their members' places are within the partition of their parent.
  omp_set_max_active_levels(3);
#pragma omp parallel num_threads(3)
  {
    int nums[most_cpus], count = omp_get_partition_num_places();
    omp_get_partition_place_nums(nums);
#pragma omp parallel num_threads(2)
    {
      check_queries();
      if (omp_get_proc_bind() != omp_proc_bind_false) CHECK_IN(omp_get_place_num(), nums[0], nums[0] + count);
    }
    check_mask("after a nested region");
#pragma omp parallel num_threads(1)
    check_queries();
  }
  return check_result();
}
