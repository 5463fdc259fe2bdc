// SPDX-License-Identifier: Apache-2.0
// Tables of fixed size at their end and one beyond (docs/reference/limits.md): open regions of one thread, worksharing constructs
// that members are apart, tasks that nobody has taken and tasks with priorities, members of a region.
#include "../support/check.h"
#include "../support/modes.h"

#include <omp.h>

enum { most_open = 64, most_apart = 8, most_tasks = 256, most_ordered = 1024, most_members = 4096 };

// Regions inside of regions; the primary goes on, so that all are open on one carrier.
static int descend(int depth)
{
  int members = 0, below = 0;
#pragma omp parallel num_threads(2) reduction(+ : members, below)
  {
    members++;
    if (omp_get_thread_num() == 0 && depth > 1) below += descend(depth - 1);
#pragma omp barrier
  }
  return below + (members == 2);
}

static void open_regions(void)
{
  omp_set_max_active_levels(2 * most_open);
  for (int depth = most_open - 1; depth <= most_open + 2; depth++) CHECK_EQ(descend(depth), depth);
  omp_set_max_active_levels(1);
}

static void constructs_apart(void)
{
  enum { loops = 3 * most_apart, iterations = 20 };
  int done[loops] = {0}, singles = 0;
#pragma omp parallel num_threads(4)
  {
    if (omp_get_thread_num() == 0) usleep(3000);
    for (int loop = 0; loop < loops; loop++) {
#pragma omp for schedule(dynamic) nowait
      for (int i = 0; i < iterations; i++)
#pragma omp atomic
        done[loop]++;
#pragma omp single nowait
#pragma omp atomic
      singles++;
    }
  }
  for (int loop = 0; loop < loops; loop++) CHECK_EQ(done[loop], iterations);
  CHECK_EQ(singles, loops);
}

static void tasks(int count, int with_priority)
{
  int done = 0, sum = 0;
#pragma omp parallel num_threads(4)
#pragma omp single
  for (int i = 0; i < count; i++) {
#pragma omp task shared(done, sum) firstprivate(i) priority(with_priority ? 1 + i % 5 : 0)
    {
#pragma omp atomic
      done++;
#pragma omp atomic
      sum += i;
    }
  }
  CHECK_EQ(done, count);
  CHECK_EQ(sum, count * (count - 1) / 2);
}

static void many_members(int wanted)
{
  int members = 0, numbers = 0;
#pragma omp parallel num_threads(wanted) reduction(+ : members, numbers)
  {
    members++;
    numbers += omp_get_thread_num();
#pragma omp barrier
    CHECK_EQ(omp_get_num_threads() <= wanted, 1);
  }
  CHECK_IN(members, 1, wanted + 1);
  CHECK_EQ(numbers, members * (members - 1) / 2);
}

static int run(const char *mode)
{
  omp_set_dynamic(0);
  if (strcmp(mode, "members") == 0) {
    many_members(most_members);
    many_members(most_members + 1);
    return check_result();
  }
  open_regions();
  constructs_apart();
  for (int over = -1; over <= 1; over++) {
    tasks(most_tasks + over, 0);
    tasks(most_ordered + over, 1);
  }
  return check_result();
}

int main(int count, char **arguments)
{
  if (count > 1) return run(arguments[1]);
  setenv("OMP_MAX_TASK_PRIORITY", "5", 1);
  expect_exit(__FILE__, __LINE__, "constructs", 0, 50);
  setenv("OMP_STACKSIZE", "64K", 1);
  expect_exit(__FILE__, __LINE__, "members", 0, 50);
  return check_result();
}
