/* SPDX-License-Identifier: Apache-2.0 */
/* `disagree BEFORE BEHIND`: the last rank comes to MPI_Init so many seconds later, and to its first collective. */
#include <unistd.h>

#include "say.h"

int main(int argc, char **argv) {
  const char *variable = getenv("OMPI_COMM_WORLD_RANK") ? "OMPI_COMM_WORLD_RANK" : "PMI_RANK";
  const int last = atoi(getenv(variable)) == 2;
  if (last) sleep((unsigned)atoi(argv[1]));
  start(argc, argv);
  if (last) sleep((unsigned)atoi(argv[2]));
  for (int i = 0; i < 200; ++i) {
    int sum = 0;
#pragma omp parallel
#pragma omp single
#pragma omp task shared(sum)
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (sum != size * (size - 1) / 2) say("sum %d", sum);
  }
  MPI_Finalize();
  say("done");
  return 0;
}
