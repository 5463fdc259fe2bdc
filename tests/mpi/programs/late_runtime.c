/* SPDX-License-Identifier: Apache-2.0 */
/* `late_runtime RUNTIME`: MPI starts in a process without OpenMP, which loads a runtime later, as Python does. Rank 0
 * waits until rank 1 comes; see waits.c. Says "done" when all is right. */
#include <dlfcn.h>
#include <pthread.h>

#include "go.h"
#include "say.h"

/* A thread that was not there before the runtime: it looks for one. */
static void *exchange(void *argument) {
  (void)argument;
  int value = 0;
  if (rank == 0) {
    MPI_Iprobe(peer, 41, MPI_COMM_WORLD, &value, MPI_STATUS_IGNORE);
    tell_pid();
    MPI_Recv(&value, 1, MPI_INT, peer, 42, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else {
    wait_for_go();
    MPI_Send(&rank, 1, MPI_INT, peer, 42, MPI_COMM_WORLD);
  }
  return NULL;
}

int main(int argc, char **argv) {
  int given;
  pthread_t thread;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &given);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  peer = 1 - rank;
  if (dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL) == NULL) say("%s", dlerror());
  if (pthread_create(&thread, NULL, exchange, NULL) != 0) say("no thread");
  pthread_join(thread, NULL);
  MPI_Finalize();
  say("done");
  return 0;
}
