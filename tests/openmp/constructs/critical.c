// SPDX-License-Identifier: Apache-2.0
// critical: unnamed, named, with hints; names do not exclude each other; an exclusive section may contain a region.
#include "../support/check.h"
#include "../support/everywhere.h"

static long unnamed, first_named, second_named, hinted;  // only ever written inside the section of that name

static void exclusive(int threads)
{
  int inside = 0, most = 0;
#pragma omp parallel num_threads(threads)
  for (int i = 0; i < 200; i++) {
#pragma omp critical
    {
      unnamed++;
      if (++inside > most) most = inside;
      inside--;
    }
#pragma omp critical(weft_test_first)
    first_named++;
#pragma omp critical(weft_test_second)
    second_named++;
#pragma omp critical(weft_test_hinted) hint(omp_sync_hint_contended | omp_sync_hint_nonspeculative)
    hinted++;
  }
  CHECK(most <= 1);
}

// In one section while another name's is taken.
static void names_differ(int threads)
{
  int count = 0;
#pragma omp parallel num_threads(threads)
  {
#pragma omp critical(weft_test_outer)
    {
#pragma omp critical(weft_test_inner)
      count++;
    }
  }
  CHECK_EQ(count, threads);
}

static void region_inside(int threads)
{
  int total = 0;
#pragma omp parallel num_threads(threads)
  {
#pragma omp critical(weft_test_region)
    {
#pragma omp parallel num_threads(3)
      {
#pragma omp atomic
        total++;
#pragma omp barrier
#pragma omp critical(weft_test_region_inner)
        total++;
      }
    }
  }
  CHECK_EQ(total, 6 * threads);
}

// The holder sleeps: the others must wait without harm, however many they are.
static void slow_holder(int threads)
{
  int order = 0;
#pragma omp parallel num_threads(threads)
  {
#pragma omp critical(weft_test_slow)
    {
      int before = order;
      usleep(300);
      order = before + 1;
    }
  }
  CHECK_EQ(order, threads);
}

int main(void)
{
  // The counters are shared by teams that run at once, hence checked only in the end: how many members there were in all
  // is counted by a plain reduction.
  long members = 0;
  static const int sizes[] = {1, 2, 3, 4, 7, 16};
  omp_set_max_active_levels(4);
  for (int i = 0; i < 6; i++) exclusive(sizes[i]), members += sizes[i];
#pragma omp parallel num_threads(3) reduction(+ : members)
  exclusive(5), members += 5;
  CHECK_EQ(unnamed, 200 * members);
  CHECK_EQ(first_named, 200 * members);
  CHECK_EQ(second_named, 200 * members);
  CHECK_EQ(hinted, 200 * members);
  everywhere(names_differ, region_inside, slow_holder);
  return check_result();
}
