// SPDX-License-Identifier: Apache-2.0
// Cancellation of every kind of construct, that the rest of the program goes on as before, and that the directives do
// nothing where OMP_CANCELLATION does not allow it.
#include "../support/cancelled_regions.h"
#include "../support/check.h"
#include "../support/everywhere.h"

// A region that still works: barriers, loops, singles, tasks.
static void works(int threads)
{
  int sum = 0, singles = 0, tasks = 0, members = 0;
#pragma omp parallel num_threads(threads) reduction(+ : members)
  {
    members++;
    for (int round = 0; round < 3; round++) {
#pragma omp for schedule(dynamic) reduction(+ : sum)
      for (int i = 0; i < 50; i++) sum++;
#pragma omp single
      {
        singles++;
#pragma omp task shared(tasks)
        {
#pragma omp atomic
          tasks++;
        }
      }
#pragma omp barrier
    }
  }
  CHECK_EQ(sum, 150);
  CHECK_EQ(singles, 3);
  CHECK_EQ(tasks, 3);
}

static void sections(int threads)
{
  int done = 0;
#pragma omp parallel num_threads(threads)
#pragma omp sections
  {
#pragma omp section
    {
#pragma omp cancel sections
#pragma omp atomic
      done++;
    }
#pragma omp section
    {
#pragma omp cancellation point sections
#pragma omp atomic
      done++;
    }
  }
  if (omp_get_cancellation())
    CHECK_IN(done, 0, 2);
  else
    CHECK_EQ(done, 2);
  works(threads);
}

// A construct that ends with its region is cancelled: the first one of the next region is not.
static void next_region(int threads)
{
  int (*const construct[])(int, int) = {iterations, sections_done};
  const int whole[] = {40, 2};
  for (int cancelled = 0; cancelled < 2; cancelled++) {
    for (int next = 0; next < 2; next++) {
      CHECK_EQ(construct[cancelled](threads, 1) < whole[cancelled], omp_get_cancellation());
      CHECK_EQ(construct[next](threads, 0), whole[next]);
    }
  }
}

// The others wait in a barrier, or in the barrier of a loop.
static void waiting_members(int threads)
{
  int after = 0;
#pragma omp parallel num_threads(threads)
  {
    if (omp_get_thread_num() == omp_get_num_threads() - 1) {
#pragma omp cancel parallel
    }
#pragma omp barrier
#pragma omp for
    for (int i = 0; i < 10; i++)
      ;
#pragma omp barrier
#pragma omp atomic
    after++;
#pragma omp cancellation point parallel
  }
  if (omp_get_cancellation())
    CHECK_EQ(after, 0);
  else
    CHECK(after > 0);
  works(threads);
}

static void taskgroup(int threads)
{
  int ran = 0, inner = 0;
#pragma omp parallel num_threads(threads)
#pragma omp single
  {
#pragma omp taskgroup
    for (int i = 0; i < 500; i++) {
#pragma omp task shared(ran)
      {
#pragma omp atomic
        ran++;
#pragma omp cancel taskgroup
#pragma omp atomic
        ran++;
      }
    }
#pragma omp taskgroup
    for (int i = 0; i < 20; i++) {
#pragma omp task shared(inner)
      {
#pragma omp atomic
        inner++;
      }
    }
  }
  if (omp_get_cancellation())
    CHECK_IN(ran, 1, 501);
  else
    CHECK_EQ(ran, 1000);
  CHECK_EQ(inner, 20);
  works(threads);
}

// The tasks of a loop's reduction cancel the taskgroup around the loop, not one that the loop has for itself.
static void taskgroup_around_reduction(int threads)
{
  int sum = 0, ran = 0;
#pragma omp parallel num_threads(threads)
#pragma omp taskgroup
  {
    int mine = 0;
#pragma omp for schedule(static) reduction(task, + : sum)
    for (int i = 0; i < 64; i++) {
      mine++;
      sum++;
#pragma omp task in_reduction(+ : sum)
      {
        sum += 0;
#pragma omp cancel taskgroup
      }
    }
#pragma omp task firstprivate(mine) shared(ran)
    if (mine > 0) {
#pragma omp atomic
      ran++;
    }
  }
  CHECK_EQ(sum, 64);
  if (omp_get_cancellation()) CHECK_EQ(ran, 0);
  else CHECK_EQ(ran, threads < 64 ? threads : 64);
}

// One loop is cancelled, the next is not.
static void loop_after_loop(int threads)
{
  int first = 0, second = 0;
#pragma omp parallel num_threads(threads)
  {
#pragma omp for schedule(static)
    for (int i = 0; i < 1000; i++) {
#pragma omp cancel for if (i >= 0)
#pragma omp atomic
      first++;
    }
#pragma omp for schedule(dynamic)
    for (int i = 0; i < 100; i++) {
#pragma omp cancel for if (i < 0)
#pragma omp atomic
      second++;
    }
  }
  CHECK_EQ(first, omp_get_cancellation() ? 0 : 1000);
  CHECK_EQ(second, 100);
}

// A task that has not begun, and fulfils its event itself.
static void detachable(int threads)
{
  int ran = 0;
#pragma omp parallel num_threads(threads)
#pragma omp single
#pragma omp taskgroup
  {
    int order = 0;
    omp_event_handle_t event;
#pragma omp task shared(order) depend(out : order)
    {
      order++;
#pragma omp cancel taskgroup
    }
#pragma omp task shared(order, ran) depend(in : order) detach(event)
    {
      ran += order;
      omp_fulfill_event(event);
    }
  }
  if (omp_get_cancellation())
    CHECK_IN(ran, 0, 2);
  else
    CHECK_EQ(ran, 1);
  works(threads);
}

int main(void)
{
  for (int round = 0; round < 5; round++) {
    everywhere(sections, waiting_members, taskgroup, taskgroup_around_reduction, next_region,
               detachable, loop_after_loop);
  }
  return check_result();
}
