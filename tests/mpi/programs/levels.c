/* SPDX-License-Identifier: Apache-2.0 */
/* What a program is told of levels; the first argument is the one it asks for, or -1 for MPI_Init. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static void *elsewhere(void *flag) {
  MPI_Is_thread_main(flag);
  return NULL;
}

int main(int argc, char **argv) {
  const int asked = argc > 1 ? atoi(argv[1]) : -1;
  int provided = -1, queried = -1, here = -1, there = -1, rank;
  if (asked < 0) MPI_Init(&argc, &argv);
  else MPI_Init_thread(&argc, &argv, asked, &provided);
  MPI_Query_thread(&queried);
  MPI_Is_thread_main(&here);
  pthread_t thread;
  pthread_create(&thread, NULL, elsewhere, &there);
  pthread_join(thread, NULL);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  printf("%d: asked %d provided %d queried %d main %d %d environment %s\n", rank, asked, provided, queried, here != 0,
         there != 0, getenv("OMPI_MCA_mpi_yield_when_idle") ? "set" : "as it was");
  MPI_Finalize();
  return 0;
}
