// SPDX-License-Identifier: Apache-2.0
// Members of inner regions, which are user-level threads: how many have their stack on the node where they run, and how
// many on another one.
#include <omp.h>
#include <sched.h>
#include <stdio.h>
#include <weft/weft.h>

enum { kRounds = 50, kMembers = 4, kPage = 4096, kWork = 20000 };

static int has_own_stack(void) {
  volatile char here[2 * kPage];
  here[kPage] = 1;
  // Long enough that members are at work on both nodes.
  double sum = 0;
  for (int i = 0; i < kWork; i++) sum += i * 0.5;
  here[0] = (char)sum;
  unsigned cpu = 0, node = 0;
  return getcpu(&cpu, &node) == 0 && weft_numa_node_of((const void *)&here[kPage]) == (int)node;
}

int main(void) {
  long own = 0;
  for (int round = 0; round < kRounds; round++) {
#pragma omp parallel num_threads(kMembers) reduction(+ : own)
#pragma omp parallel num_threads(kMembers) reduction(+ : own)
    own += has_own_stack();
  }
  printf("%ld %ld\n", own, (long)kRounds * kMembers * kMembers - own);
  return 0;
}
