// SPDX-License-Identifier: Apache-2.0
// A function inside of a function, which is passed on: gcc puts code for it on the stack. So threads need stacks that may
// run code, as the program's own file says.
#pragma GCC diagnostic ignored "-Wpedantic"
#include <omp.h>

#include "../support/check.h"

static int call(int (*function)(int), int argument) { return function(argument); }

int main(void)
{
  for (int threads = 2; threads <= 8; threads++) {
    int sum = 0;
#pragma omp parallel num_threads(threads) reduction(+ : sum)
    {
      volatile int number = omp_get_thread_num();
      int add(int argument) { return argument + number; }
      sum += call(add, 1);
    }
    CHECK_EQ(sum, threads * (threads + 1) / 2);
  }
  return check_result();
}
