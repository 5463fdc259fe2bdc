// SPDX-License-Identifier: Apache-2.0
// Lists in Boehm's collector, which stops each registered thread by a signal and scans its stack: boehm MEMBERS ROUNDS.
#define GC_THREADS
#include <gc.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

struct node {
  struct node *next;
  long value;
};

int main(int count, char **arguments)
{
  enum { nodes = 2000 };
  if (count != 3) return 2;
  int members = atoi(arguments[1]), rounds = atoi(arguments[2]);
  GC_INIT();
  GC_allow_register_threads();
  long damaged = 0;
  for (int round = 0; round < rounds; round++) {
#pragma omp parallel num_threads(members) reduction(+ : damaged)
    {
      struct GC_stack_base base;
      int mine = 0;
      if (!GC_thread_is_registered()) {
        GC_get_stack_base(&base);
        mine = GC_register_my_thread(&base) == GC_SUCCESS;
      }
      struct node *head = NULL;
      for (int i = 0; i < nodes; i++) {
        struct node *made = GC_MALLOC(sizeof *made + (size_t)(i % 7) * 64);
        *made = (struct node){head, i};
        head = made;
        if (i % 500 == 0) {
#pragma omp barrier
        }
      }
      if (omp_get_thread_num() == round % omp_get_num_threads()) GC_gcollect();
#pragma omp barrier
      long sum = 0;
      for (struct node *at = head; at != NULL; at = at->next) sum += at->value;
      damaged += sum != (long)nodes * (nodes - 1) / 2;
      if (mine) GC_unregister_my_thread();
    }
  }
  printf("%ld lists damaged\n", damaged);
  return damaged != 0;
}
