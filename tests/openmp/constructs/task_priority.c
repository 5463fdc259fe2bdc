// SPDX-License-Identifier: Apache-2.0
// Tasks with a priority go before those with a lower one, where OMP_MAX_TASK_PRIORITY allows priorities.
#include <omp.h>
#include <sched.h>
#include <stdatomic.h>

#include "../support/check.h"

enum { tasks = 40, levels = 8 };

static int order[tasks];
static atomic_int taken, held, released;

// While the other members are held the creator runs the tasks itself, once all are there.
static void run_in_order(int members)
{
  taken = held = released = 0;
  for (int i = 1; i < members; i++) {
#pragma omp task
    {
      held++;
      while (!released) sched_yield();
    }
  }
  while (held < members - 1) sched_yield();
  for (int i = 0; i < tasks; i++) {
    const int priority = i * 5 % levels;
#pragma omp task priority(priority) firstprivate(priority)
    {
      order[taken++] = priority;
      if (taken == tasks) released = 1;
    }
  }
#pragma omp taskwait
}

int main(void)
{
  CHECK(omp_get_max_task_priority() >= 0);
  const int highest = omp_get_max_task_priority();
  int members = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
  {
    members = omp_get_num_threads();
    run_in_order(members);
  }
  CHECK(taken == tasks);
  if (members == 1) return check_result();
  int sum = 0, ordered = 1;
  for (int i = 0; i < tasks; i++) {
    sum += order[i];
    if (i > 0 && highest >= levels && order[i] > order[i - 1]) ordered = 0;
  }
  CHECK(sum == tasks / levels * (levels * (levels - 1) / 2));
  CHECK(ordered);
  return check_result();
}
