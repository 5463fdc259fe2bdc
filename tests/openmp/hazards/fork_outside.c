// SPDX-License-Identifier: Apache-2.0
// fork between regions: parent and child both go on with regions, over many generations, and children of children; also a
// fork before the first use of the runtime. libgomp 12 hangs in such a child, libomp does not.
#include "../support/check.h"

#include <omp.h>
#include <stdlib.h>
#include <sys/wait.h>

static int copy = 1;
#pragma omp threadprivate(copy)

static void regions(int threads)
{
  int members = 0, inner = 0;
  omp_set_max_active_levels(3);  // libomp forgets it in the child
#pragma omp parallel num_threads(threads) reduction(+ : members, inner) copyin(copy)
  {
    members++;
#pragma omp barrier
#pragma omp parallel num_threads(2) reduction(+ : inner)
    inner++;
#pragma omp task
    copy++;
  }
  CHECK_EQ(members, threads);
  CHECK_EQ(inner, 2 * threads);
  long sum = 0;
#pragma omp parallel for num_threads(threads) schedule(dynamic) reduction(+ : sum)
  for (int i = 0; i < 50; i++) sum += i;
  CHECK_EQ(sum, 1225);
}

static void expect_success(pid_t child)
{
  int status = -1;
  CHECK(child > 0);
  CHECK_EQ(waitpid(child, &status, 0), child);
  CHECK(WIFEXITED(status));
  CHECK_EQ(WEXITSTATUS(status), 0);
}

// Returns the child, which opens regions and has children of its own. One that hangs ends by the alarm: a failure too.
static pid_t child_with_regions(int generations)
{
  pid_t child = fork();
  if (child) return child;
  alarm(15);
  check_failures = 0;
  regions(2 + generations);
  if (generations > 0) {
    expect_success(child_with_regions(generations - 1));
    regions(3);
  }
  exit(check_result());
}

int main(void)
{
  omp_set_dynamic(0);
  expect_success(child_with_regions(0));
  regions(2);

  for (int i = 0; i < TIMES(40); i++) {
    regions(1 + i % 5);
    pid_t child = child_with_regions(i % 10 == 0 ? 2 : 0);
    if (i % 2) regions(3);  // at the same time as the child
    expect_success(child);
    regions(4);
  }
  return check_result();
}
