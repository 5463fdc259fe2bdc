/* SPDX-License-Identifier: Apache-2.0 */
/* Collectives outside of parallel regions, in a program that makes no explicit tasks: they go to MPI as they are.
 * `plain_waits WHAT`, as waits.c. */
#include "go.h"
#include "say.h"

/* Rank 0 waits until rank 1 comes. */
static void collective(void) {
  if (rank == 0) tell_pid();
  else wait_for_go();
  MPI_Barrier(MPI_COMM_WORLD);
}

/* Rank 0 waits most of the time, but not for the same call. */
static void changing(void) {
  int go = 0;
  if (rank == 0) tell_pid();
  while (go == 0) {
    if (rank == 1) {
      usleep(1000);
      go = access("go", F_OK) == 0;
    }
    MPI_Bcast(&go, 1, MPI_INT, 1, MPI_COMM_WORLD);
  }
}

int main(int argc, char **argv) {
  int threads = 0;
  start(argc, argv);
#pragma omp parallel reduction(+ : threads)
  threads += 1;
  if (threads < 1) say("no threads");
  if (strcmp(argv[1], "collective") == 0) collective();
  if (strcmp(argv[1], "changing") == 0) changing();
  MPI_Finalize();
  say("done");
  return 0;
}
