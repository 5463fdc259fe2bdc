// SPDX-License-Identifier: Apache-2.0
// single, with its barrier and without, and copyprivate of scalars, arrays, structures and threadprivate data.
#include "../support/check.h"
#include "../support/everywhere.h"

struct item {
  int number;
  char filler[900];
  double value;
};

static int persistent;
#pragma omp threadprivate(persistent)

static void once(int threads)
{
  int count = 0, nowait_count = 0;
#pragma omp parallel num_threads(threads)
  for (int round = 0; round < 50; round++) {
#pragma omp single
    count++;
    CHECK_EQ(count, round + 1);
#pragma omp barrier
#pragma omp single nowait
    {
#pragma omp atomic
      nowait_count++;
    }
  }
  CHECK_EQ(count, 50);
  CHECK_EQ(nowait_count, 50);
}

static void broadcast(int threads)
{
#pragma omp parallel num_threads(threads)
  {
    int number = -1, array[20];
    struct item item;
    memset(&item, 0, sizeof item);
    memset(array, 0, sizeof array);
    for (int round = 0; round < 20; round++) {
#pragma omp single copyprivate(number, array, item)
      {
        number = round * 10;
        for (int i = 0; i < 20; i++) array[i] = round + i;
        item.number = round, item.value = round * 0.5;
      }
      CHECK_EQ(number, round * 10);
      for (int i = 0; i < 20; i++) CHECK_EQ(array[i], round + i);
      CHECK_EQ(item.number, round);
      CHECK_NEAR(item.value, round * 0.5, 0);
      number = -omp_get_thread_num();  // the copies are independent again at once
    }
  }
}

static void threadprivate_broadcast(int threads)
{
#pragma omp parallel num_threads(threads)
  {
    persistent = -omp_get_thread_num();
#pragma omp barrier
#pragma omp single copyprivate(persistent)
    persistent = 42;
    CHECK_EQ(persistent, 42);
  }
}

static void region_inside(int threads)
{
  int total = 0;
#pragma omp parallel num_threads(threads)
  {
#pragma omp single
    {
#pragma omp parallel num_threads(4)
#pragma omp atomic
      total++;
    }
    CHECK_EQ(total, 4);
  }
}

int main(void)
{
  everywhere(once, broadcast, threadprivate_broadcast, region_inside);
  return check_result();
}
