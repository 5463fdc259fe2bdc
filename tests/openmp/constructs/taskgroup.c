// SPDX-License-Identifier: Apache-2.0
// taskgroup waits for all descendants, taskwait for children only; groups nest, and stand in tasks and inner regions.
#include "../support/check.h"
#include "../support/everywhere.h"

static void spawn(int depth, int *count)
{
#pragma omp atomic
  ++*count;
  if (depth == 0) return;
  for (int i = 0; i < 2; i++) {
#pragma omp task firstprivate(depth, count)
    spawn(depth - 1, count);
  }
}

static void descendants(int threads)
{
#pragma omp parallel num_threads(threads)
#pragma omp single
  for (int round = 0; round < 5; round++) {
    int inside = 0;
#pragma omp taskgroup
    {
#pragma omp task shared(inside)
      spawn(5, &inside);
    }
    CHECK_EQ(inside, 63);
  }
}

static void nested_groups(int threads)
{
#pragma omp parallel num_threads(threads)
  {
    int outer = 0, inner = 0;
#pragma omp taskgroup
    {
      spawn(3, &outer);
#pragma omp taskgroup
      spawn(4, &inner);
      CHECK_EQ(inner, 31);
#pragma omp task shared(outer)
      {
        int local = 0;
#pragma omp taskgroup
        spawn(2, &local);
        CHECK_EQ(local, 7);
#pragma omp atomic
        outer++;
      }
    }
    CHECK_EQ(outer, 16);
  }
}

// The group waits for its own tasks, not for those created before it.
static void earlier_tasks(int threads)
{
  if (threads < 2) return;
  int gate = 0, early = 0;
#pragma omp parallel num_threads(threads) shared(gate, early)
#pragma omp master
  {
#pragma omp task shared(gate, early)
    {
      int open = 0;
      for (int spin = 0; spin < 5000 && !open; spin++) {
        usleep(200);
#pragma omp atomic read
        open = gate;
      }
      early = open;
    }
    // Only once another member holds the early task, else this member might have to run it inside the group.
    usleep(3000);
    int late = 0;
#pragma omp taskgroup
    {
#pragma omp task shared(late) if (0)
      late = 1;
    }
    CHECK_EQ(late, 1);
#pragma omp atomic write
    gate = 1;
  }
  CHECK_EQ(early, 1);
}

static void empty(int threads)
{
#pragma omp parallel num_threads(threads)
  for (int i = 0; i < 10; i++) {
#pragma omp taskgroup
    {
    }
  }
}

int main(void)
{
  everywhere(descendants, nested_groups, empty);
  omp_set_max_active_levels(2);
  earlier_tasks(2);
  earlier_tasks(4);
  return check_result();
}
