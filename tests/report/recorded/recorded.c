// SPDX-License-Identifier: Apache-2.0
// The program whose trace, profile and report of an earlier weft are test data: one of each construct.
#include <omp.h>
static volatile double sink;
static void busy(long n) { double s = 0; for (long i = 0; i < n; i++) s += i * 0.5; sink = s; }
static struct { double value; } sum;
__attribute__((noinline)) static void inner(void) {
#pragma omp parallel for num_threads(2) schedule(guided)
  for (int i = 0; i < 4; i++) busy(20000);
  sink = 1;  // else the call is a jump
}
static omp_lock_t lock;
int main(void) {
  omp_init_lock(&lock);
#pragma omp parallel num_threads(2)
  {
#pragma omp for schedule(dynamic, 1)
    for (int i = 0; i < 2; i++) busy(20000 + 200000L * i);
#pragma omp for schedule(static, 1) ordered
    for (int i = 0; i < 2; i++) {
      busy(20000);
#pragma omp ordered
      busy(10000);
    }
#pragma omp sections
    {
#pragma omp section
      busy(30000);
#pragma omp section
      busy(10000);
    }
#pragma omp critical
    busy(30000);
    omp_set_lock(&lock);
    busy(30000);
    omp_unset_lock(&lock);
#pragma omp atomic
    sum.value += 1;
#pragma omp barrier
#pragma omp single
    {
#pragma omp taskgroup
#pragma omp task
      busy(20000);
#pragma omp task
      busy(20000);
#pragma omp taskwait
#pragma omp taskloop num_tasks(2)
      for (int i = 0; i < 2; i++) busy(20000);
    }
#pragma omp masked
    inner();
#pragma omp scope
    busy(1000);
  }
  return 0;
}
