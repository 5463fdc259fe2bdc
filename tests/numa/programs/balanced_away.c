// SPDX-License-Identifier: Apache-2.0
// A fault: the array lies where it is used, until one thread uses all of it for so long that automatic balancing moves
// it to that thread's node. With a third argument the program moves it itself, as balancing would.
#include "program.h"

enum { PAGES_AT_ONCE = 512, MOVE = 2 };

// How many of the pages that it looks at lie on `node`; with `move` they are taken there.
static double pages_on(double *array, int node, int move) {
  const size_t page = 4096;
  const size_t pages = length * sizeof(double) / page;
  size_t there = 0;
  size_t seen = 0;
  for (size_t from = 0; from < pages; from += PAGES_AT_ONCE) {
    void *address[PAGES_AT_ONCE];
    int wanted[PAGES_AT_ONCE];
    int status[PAGES_AT_ONCE];
    size_t here = pages - from < PAGES_AT_ONCE ? pages - from : PAGES_AT_ONCE;
    for (size_t i = 0; i < here; ++i) {
      address[i] = (char *)array + (from + i) * page;
      wanted[i] = node;
    }
    syscall(SYS_move_pages, 0, here, address, move ? wanted : NULL, status, MOVE);
    for (size_t i = 0; i < here; ++i, ++seen) there += status[i] == node;
  }
  return (double)there / (double)seen;
}

static double sum_alone(const double *array) {
  double sum = 0;
  for (size_t i = 0; i < length; ++i) sum += array[i];
  return sum;
}

int main(int count, char **arguments) {
  read_arguments(count, arguments);
  double *array = allocate();
  initialise_in_parallel(array);
  use(sum_in_parallel, array);
  const int here = node_of_this_thread();
  const double enough = 0.9;
  const double began = omp_get_wtime();
  const double limit = began + 120;
  double sum = 0;
  if (count > 3) {
    // Pages that are busy stay where they are.
    while (pages_on(array, here, 1) < enough && omp_get_wtime() < began + 10) usleep(1000);
  } else {
    while (pages_on(array, here, 0) < enough && omp_get_wtime() < limit) sum += sum_alone(array);
  }
  fprintf(stderr, "%.0f %% of the pages lie on node %d\n", 100 * pages_on(array, here, 0), here);
  // For so long that this counts.
  if (seconds < omp_get_wtime() - began) seconds = omp_get_wtime() - began;
  use(sum_in_parallel, array);
  printf("%g\n", sum);
  free(array);
  return 0;
}
