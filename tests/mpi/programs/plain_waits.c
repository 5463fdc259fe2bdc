/* SPDX-License-Identifier: Apache-2.0 */
/* Calls outside of parallel regions, in a program that makes no explicit tasks: they go to MPI as they are.
 * `plain_waits WHAT`, as waits.c. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/wait.h>

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

enum { players = 4, first_tag = 500 };

/* A thread of a pair: each waits for the other's message, of its own length. */
static void *play(void *argument) {
  const int self = *(int *)argument, other = self ^ 1;
  int sent[players + 1] = {0}, received[players + 1] = {0};
  for (int stop = 0; !stop;) {
    if (self % 2 == 0) {
      sent[0] = stop = access("go", F_OK) == 0;
      MPI_Send(sent, other + 1, MPI_INT, rank, first_tag + other, MPI_COMM_WORLD);
    }
    MPI_Recv(received, self + 1, MPI_INT, rank, first_tag + self, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (self % 2 == 1) {
      stop = received[0];
      MPI_Send(sent, other + 1, MPI_INT, rank, first_tag + other, MPI_COMM_WORLD);
    }
  }
  return NULL;
}

/* Threads of rank 0 wait, each most of the time, and for short times. */
static void pairs(void) {
  pthread_t threads[players];
  int numbers[players];
  if (rank == 1) return wait_for_go();
  for (int i = 0; i < players; i++) {
    numbers[i] = i;
    if (pthread_create(&threads[i], NULL, play, &numbers[i]) != 0) say("no thread");
  }
  tell_pid();
  for (int i = 0; i < players; i++) pthread_join(threads[i], NULL);
}

static jmp_buf outside;

static void leave(MPI_Comm *communicator, int *code, ...) {
  (void)communicator, (void)code;
  longjmp(outside, 1);
}

/* An error handler leaves its call; the thread goes on without another. */
static void left(void) {
  MPI_Errhandler handler;
  int number = 0;
  if (rank == 1) return wait_for_go();
  MPI_Comm_create_errhandler(leave, &handler);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  if (setjmp(outside) == 0) {
    MPI_Send(&number, 1, MPI_INT, 99, 77, MPI_COMM_WORLD);
    say("no error");
  }
  tell_pid();
  wait_for_go();
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  MPI_Errhandler_free(&handler);
}

/* A child of a fork has nobody who would say what waits: SIGUSR1 ends it. */
static void forked(void) {
  int status = 0;
  if (rank == 1) return;
  const pid_t child = fork();
  if (child == 0) {
    raise(SIGUSR1);
    _exit(1);
  }
  waitpid(child, &status, 0);
  if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGUSR1) say("the child ends with %d", status);
}

int main(int argc, char **argv) {
  int threads = 0;
  start(argc, argv);
#pragma omp parallel reduction(+ : threads)
  threads += 1;
  if (threads < 1) say("no threads");
  if (strcmp(argv[1], "collective") == 0) collective();
  if (strcmp(argv[1], "changing") == 0) changing();
  if (strcmp(argv[1], "pairs") == 0) pairs();
  if (strcmp(argv[1], "left") == 0) left();
  if (strcmp(argv[1], "forked") == 0) forked();
  MPI_Finalize();
  say("done");
  return 0;
}
