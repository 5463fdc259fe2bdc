// SPDX-License-Identifier: Apache-2.0
// An outer team, and an inner one of each of its members: on how many NUMA nodes the outer members are, and how many
// inner members are on another node than their primary. Arguments: members of the outer team, of each inner one.
#include <omp.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_NODES = 64 };

static unsigned node_now(void)
{
  unsigned cpu = 0;
  unsigned node = 0;
  getcpu(&cpu, &node);
  return node;
}

int main(int count, char **words)
{
  const int outer = count > 1 ? atoi(words[1]) : 2;
  const int inner = count > 2 ? atoi(words[2]) : 2;
  static atomic_int used[MOST_NODES];
  atomic_int members = 0;
  atomic_int elsewhere = 0;
#pragma omp parallel num_threads(outer)
  {
    const unsigned home = node_now();
    used[home % MOST_NODES]++;
#pragma omp parallel num_threads(inner)
    {
      // All are there at the same time.
#pragma omp barrier
      members++;
      if (node_now() != home) elsewhere++;
    }
  }
  int nodes = 0;
  for (int i = 0; i < MOST_NODES; i++) nodes += used[i] > 0;
  printf("nodes %d members %d elsewhere %d\n", nodes, members, elsewhere);
  return 0;
}
