// SPDX-License-Identifier: Apache-2.0
// What the OMP_ variables say is what the routines answer and the regions do. Reads the variables itself; the driver sets
// them to several values.
#include "../support/check.h"

#include <omp.h>
#include <stdlib.h>

static long number(const char *name, long otherwise)
{
  const char *text = getenv(name);
  return text ? strtol(text, NULL, 10) : otherwise;
}

static void threads(void)
{
  const char *list = getenv("OMP_NUM_THREADS");
  if (!list) return;
  int expected[8], levels = 0;
  for (char *end; levels < 8; list = end + 1) {
    expected[levels++] = (int)strtol(list, &end, 10);
    if (*end != ',') break;
  }
  CHECK_EQ(omp_get_max_threads(), expected[0]);
  int limit = (int)number("OMP_THREAD_LIMIT", 1000000);
  int members = 0;
#pragma omp parallel reduction(+ : members)
  {
    members++;
    // The last value of the list holds for all further levels.
    CHECK_EQ(omp_get_max_threads(), levels > 1 ? expected[1] : expected[0]);
  }
  if (getenv("OMP_DYNAMIC"))
    CHECK_IN(members, 1, expected[0] + 1);
  else
    CHECK_EQ(members, expected[0] < limit ? expected[0] : limit);
  if (levels > 1) {
    int inner = 0;
#pragma omp parallel reduction(+ : inner)
#pragma omp parallel reduction(+ : inner)
    inner++;
    CHECK_EQ(inner, expected[0] * expected[1]);
  }
}

static void schedule(void)
{
  const char *text = getenv("OMP_SCHEDULE");
  if (!text) return;
  omp_sched_t kind;
  int chunk;
  omp_get_schedule(&kind, &chunk);
  int is = (int)((unsigned)kind & ~(unsigned)omp_sched_monotonic);
  if (strstr(text, "static")) CHECK_EQ(is, omp_sched_static);
  if (strstr(text, "dynamic")) CHECK_EQ(is, omp_sched_dynamic);
  if (strstr(text, "guided")) CHECK_EQ(is, omp_sched_guided);
  if (strstr(text, "auto")) CHECK_EQ(is, omp_sched_auto);
  const char *comma = strchr(text, ',');
  if (comma) CHECK_EQ(chunk, atoi(comma + 1));
  if (!strncmp(text, "monotonic", 9)) CHECK((unsigned)kind & (unsigned)omp_sched_monotonic);
}

static void limits(void)
{
  if (getenv("OMP_THREAD_LIMIT")) CHECK_EQ(omp_get_thread_limit(), number("OMP_THREAD_LIMIT", 0));
  if (getenv("OMP_MAX_ACTIVE_LEVELS")) CHECK_EQ(omp_get_max_active_levels(), number("OMP_MAX_ACTIVE_LEVELS", 0));
  CHECK_EQ(omp_get_dynamic() != 0, getenv("OMP_DYNAMIC") != NULL);
  if (number("OMP_MAX_ACTIVE_LEVELS", 2) == 1) {
#pragma omp parallel num_threads(2)
#pragma omp parallel num_threads(2)
    CHECK_EQ(omp_get_num_threads(), 1);
  }
  int limit = (int)number("OMP_THREAD_LIMIT", 0), members = 0;
  if (limit) {
#pragma omp parallel num_threads(64) reduction(+ : members)
    members++;
    CHECK_IN(members, 1, limit + 1);
    // All levels together; and what has ended counts no more.
    for (int round = 0; round < 20; round++) {
      int now = 0, over = 0, inner = 0;
#pragma omp parallel num_threads(2) reduction(+ : over)
#pragma omp parallel num_threads(limit) reduction(+ : over)
      {
        int seen;
#pragma omp atomic capture
        seen = ++now;
        over += seen > limit;
        usleep(200);
#pragma omp atomic
        now--;
      }
      CHECK_EQ(over, 0);
#pragma omp parallel num_threads(limit) reduction(+ : inner)
      inner++;
      CHECK_EQ(inner, limit);
    }
  }
}

// 12 MiB on the stack of every member; only where the variable allows it.
static int deep(int depth)
{
  volatile char frame[1 << 20];
  memset((void *)frame, depth, sizeof frame);
  int below = depth ? deep(depth - 1) : 0;
  return below + frame[1000];
}

static void stack(void)
{
  const char *size = getenv("OMP_STACKSIZE");
  if (!size || strcmp(size, "16M")) return;
#pragma omp parallel num_threads(5)
  if (omp_get_thread_num()) CHECK_EQ(deep(11), 66);
}

int main(void)
{
  limits();
  schedule();
  threads();
  stack();
  return check_result();
}
