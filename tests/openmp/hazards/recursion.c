// SPDX-License-Identifier: Apache-2.0
// Regions that open regions, 50 deep: through the primary, through the last member, as a tree, and serial ones.
#include "../support/check.h"

#include <omp.h>

enum { depth_limit = 50 };

static int reached;

// Only one member of each team goes deeper; the others wait for it at the end of their region.
static void descend(int depth, int through_last)
{
  CHECK_EQ(omp_get_level(), depth);
  if (depth == depth_limit) {
#pragma omp atomic
    reached++;
    return;
  }
  int on_stack[64];
  for (int i = 0; i < 64; i++) on_stack[i] = depth + i;
#pragma omp parallel num_threads(2)
  if (omp_get_thread_num() == (through_last ? omp_get_num_threads() - 1 : 0)) descend(depth + 1, through_last);
  for (int i = 0; i < 64; i++) CHECK_EQ(on_stack[i], depth + i);
}

static void serial(int depth)
{
  if (depth == depth_limit) {
#pragma omp atomic
    reached++;
    return;
  }
#pragma omp parallel if (0)
  serial(depth + 1);
}

// With a barrier in each team on the way down and on the way up.
static void with_barriers(int depth)
{
  if (depth == 20) return;
#pragma omp parallel num_threads(2)
  {
#pragma omp barrier
    if (omp_get_thread_num() == depth % 2) with_barriers(depth + 1);
#pragma omp barrier
    CHECK_EQ(omp_get_num_threads(), 2);
  }
}

static void tree(int depth, int *leaves)
{
  if (depth == 0) {
#pragma omp atomic
    ++*leaves;
    return;
  }
#pragma omp parallel num_threads(2)
  tree(depth - 1, leaves);
}

int main(void)
{
  omp_set_dynamic(0);
  omp_set_max_active_levels(100);
  descend(0, 0);
  descend(0, 1);
  CHECK_EQ(reached, 2);
  serial(0);
  CHECK_EQ(reached, 3);
  with_barriers(0);
  int leaves = 0;
  tree(7, &leaves);
  CHECK_EQ(leaves, 128);
  // Beyond the limit the regions are there, but serial.
  omp_set_max_active_levels(2);
  leaves = 0;
  tree(10, &leaves);
  CHECK_EQ(leaves, 4);
  return check_result();
}
