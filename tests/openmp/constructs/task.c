// SPDX-License-Identifier: Apache-2.0
// Explicit tasks: each runs once with the data of its creation; taskwait waits for children; the clauses if, final,
// mergeable, untied, priority; taskyield.
#include "../support/check.h"
#include "../support/everywhere.h"

static void each_once(int threads)
{
  int times[300] = {0};
#pragma omp parallel num_threads(threads)
  {
#pragma omp single
    for (int i = 0; i < 100; i++) {
#pragma omp task firstprivate(i) shared(times)
      {
#pragma omp atomic
        times[i]++;
      }
    }
    // Many producers too: each member its share.
#pragma omp for schedule(static)
    for (int i = 100; i < 300; i++) {
#pragma omp task firstprivate(i) shared(times)
      {
#pragma omp atomic
        times[i]++;
      }
    }
  }
  for (int i = 0; i < 300; i++) CHECK_EQ(times[i], 1);
}

static void waited_for(int threads)
{
#pragma omp parallel num_threads(threads)
#pragma omp single
  for (int round = 0; round < 10; round++) {
    int a = 0, b = 0, c = 0;
#pragma omp task shared(a)
    a = 1;
#pragma omp task shared(b)
    {
#pragma omp task shared(b)
      b = 2;
#pragma omp taskwait
      b *= 10;
    }
#pragma omp task shared(c)
    c = 3;
#pragma omp taskwait
    CHECK_EQ(a + b + c, 24);
  }
}

// An undeferred task is done when the directive has been passed; the executing member is the same.
static void undeferred(int threads)
{
#pragma omp parallel num_threads(threads)
  {
    int done = 0, me = omp_get_thread_num();
#pragma omp task if (0) shared(done)
    {
      CHECK_EQ(omp_get_thread_num(), me);
      done = 1;
    }
    CHECK_EQ(done, 1);
#pragma omp task if (0) shared(done)
    {
      int inner = 0;
#pragma omp task shared(inner)
      inner = 5;
#pragma omp taskwait
      CHECK_EQ(inner, 5);
      done = 2;
    }
    CHECK_EQ(done, 2);
  }
}

static int final_tree(int depth)
{
  if (depth == 0) return 1;
  CHECK_EQ(omp_in_final() != 0, 1);
  int left = 0, right = 0, me = omp_get_thread_num();
#pragma omp task shared(left)
  {
    CHECK_EQ(omp_get_thread_num(), me);  // included tasks run at once, where they were created
    left = final_tree(depth - 1);
  }
  CHECK(left > 0);
#pragma omp task shared(right)
  right = final_tree(depth - 1);
  CHECK(right > 0);
  return left + right;
}

static void finals(int threads)
{
  int leaves = 0;
#pragma omp parallel num_threads(threads)
#pragma omp single
  {
    CHECK_EQ(omp_in_final(), 0);
#pragma omp task final(1) shared(leaves)
    leaves = final_tree(6);
#pragma omp task final(0)
    CHECK_EQ(omp_in_final(), 0);
  }
  CHECK_EQ(leaves, 64);
}

static void clauses(int threads)
{
  int sum = 0;
#pragma omp parallel num_threads(threads)
#pragma omp single
  {
    int local = 4;
#pragma omp task mergeable if (0) shared(local)
    local++;
    CHECK_EQ(local, 5);
    for (int i = 0; i < 20; i++) {
#pragma omp task untied priority(i) shared(sum) firstprivate(i)
      {
#pragma omp taskyield
#pragma omp atomic
        sum += i;
      }
    }
#pragma omp taskwait
    CHECK_EQ(sum, 190);
  }
  CHECK_EQ(sum, 190);
}

// A tied task goes on under the member that began it, whatever ran in between.
static void tied(int threads)
{
  int ended = 0;
#pragma omp parallel num_threads(threads)
#pragma omp for
  for (int i = 0; i < 40; i++) {
#pragma omp task shared(ended)
    {
      int me = omp_get_thread_num();
#pragma omp taskyield
      CHECK_EQ(omp_get_thread_num(), me);
#pragma omp task shared(ended)
      {
#pragma omp atomic
        ended++;
      }
#pragma omp taskwait
      CHECK_EQ(omp_get_thread_num(), me);
    }
  }
  CHECK_EQ(ended, 40);
}

// Outside of any region a task belongs to the initial implicit task.
static void outside(void)
{
  int done = 0;
#pragma omp task shared(done)
  done++;
#pragma omp task shared(done)
  done++;
#pragma omp taskwait
  CHECK_EQ(done, 2);
}

int main(void)
{
  outside();
  everywhere(each_once, waited_for, undeferred, finals, clauses, tied);
  outside();
  return check_result();
}
