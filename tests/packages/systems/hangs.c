// SPDX-License-Identifier: Apache-2.0
// Two members that take two locks in turn, each the other one first: for every compiler since gcc 10.
#include <omp.h>
#include <unistd.h>

static omp_lock_t locks[2];

static void take_both(int first) {
  omp_set_lock(&locks[first]);
  usleep(100000);
  omp_set_lock(&locks[1 - first]);
  omp_unset_lock(&locks[1 - first]);
  omp_unset_lock(&locks[first]);
}

int main(void) {
  omp_init_lock(&locks[0]);
  omp_init_lock(&locks[1]);
#pragma omp parallel num_threads(2)
  take_both(omp_get_thread_num());
  return 0;
}
