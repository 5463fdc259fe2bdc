// SPDX-License-Identifier: Apache-2.0
#include "mpi/micro/micro.h"

void run_in(bool in_task, void (*run)(void* argument), void* argument) {
  if (!in_task) {
    run(argument);
    return;
  }
#pragma omp parallel default(none) shared(run, argument)
#pragma omp single
#pragma omp task default(none) firstprivate(run, argument)
  run(argument);
}
