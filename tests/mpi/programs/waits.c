/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of rank 0 wait until a file is there: "go", in the current folder. Rank 1 looks for it outside of MPI, and then
 * does its part. `waits WHAT`; waits_test.py reads what weft says meanwhile. Rank 0 writes its number to the file "pid"
 * when its calls wait, or are about to. Says "done" when all is right. */
#include <signal.h>
#include <weft/TAMPI.h>

#include "go.h"
#include "say.h"

__attribute__((noinline)) static double receive(int tag, MPI_Comm comm) {
  double got[5] = {0};
  MPI_Recv(got, 5, MPI_DOUBLE, peer, tag, comm, MPI_STATUS_IGNORE);
  return got[0];
}

static void send(int tag, MPI_Comm comm) {
  double numbers[5] = {tag};
  MPI_Send(numbers, 5, MPI_DOUBLE, peer, tag, comm);
}

/* A task for each kind of call; three tasks wait for the same. */
static void tasks(void) {
  MPI_Comm ring, other, probed, split;
  MPI_Comm_dup(MPI_COMM_WORLD, &ring);
  MPI_Comm_dup(MPI_COMM_WORLD, &other);
  MPI_Comm_dup(MPI_COMM_WORLD, &probed);
  MPI_Comm_set_name(ring, "ring");
  MPI_Comm_set_name(other, "other");
  MPI_Comm_set_name(probed, "probed");
  if (rank == 0) {
#pragma omp parallel
#pragma omp single
    {
#pragma omp task
      receive(100, ring);
#pragma omp task
      receive(101, ring);
      for (int i = 0; i < 3; ++i) {
#pragma omp task
        receive(7, MPI_COMM_WORLD);
      }
#pragma omp task
      MPI_Barrier(other);
#pragma omp task
      {
        int values[2];
        MPI_Request requests[2];
        for (int i = 0; i < 2; ++i) MPI_Irecv(&values[i], 1, MPI_INT, peer, 200 + i, MPI_COMM_WORLD, &requests[i]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
      }
#pragma omp task
      {
        MPI_Status status;
        MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, probed, &status);
        receive(300, probed);
      }
#pragma omp task
      {
        int sent = 1, received;
        MPI_Sendrecv(&sent, 1, MPI_INT, peer, 400, &received, 1, MPI_INT, peer, 401, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      }
#pragma omp task
      {
        MPI_Comm_split(ring, 0, rank, &split);
        MPI_Comm_free(&split);
      }
#pragma omp task
      {
        static int value;
        MPI_Request request;
        MPI_Irecv(&value, 1, MPI_INT, peer, 500, MPI_COMM_WORLD, &request);
        TAMPI_Iwait(&request, MPI_STATUS_IGNORE);
      }
      tell_pid();
    }
  } else {
    int value = 1, received;
    wait_for_go();
    send(100, ring);
    send(101, ring);
    for (int i = 0; i < 3; ++i) send(7, MPI_COMM_WORLD);
    MPI_Barrier(other);
    for (int i = 0; i < 2; ++i) MPI_Send(&value, 1, MPI_INT, peer, 200 + i, MPI_COMM_WORLD);
    send(300, probed);
    MPI_Sendrecv(&value, 1, MPI_INT, peer, 401, &received, 1, MPI_INT, peer, 400, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Comm_split(ring, 0, rank, &split);
    MPI_Comm_free(&split);
    MPI_Send(&value, 1, MPI_INT, peer, 500, MPI_COMM_WORLD);
  }
  MPI_Comm_free(&ring);
  MPI_Comm_free(&other);
  MPI_Comm_free(&probed);
}

/* Outside of regions. */
static void serial(void) {
  if (rank == 0) {
    tell_pid();
    receive(42, MPI_COMM_WORLD);
  } else {
    wait_for_go();
    send(42, MPI_COMM_WORLD);
  }
}

/* A task computes while another waits. */
static void busy(void) {
  if (rank == 0) {
#pragma omp parallel num_threads(2)
#pragma omp single
    {
#pragma omp task
      receive(42, MPI_COMM_WORLD);
      tell_pid();
      while (access("go", F_OK) != 0) {
      }
    }
  } else {
    wait_for_go();
    send(42, MPI_COMM_WORLD);
  }
}

/* More tasks than a table has rows. */
static void many(void) {
  enum { kMany = 1000 };
  if (rank == 0) {
#pragma omp parallel
#pragma omp single
    {
      for (int i = 0; i < kMany; ++i) {
#pragma omp task firstprivate(i)
        receive(i, MPI_COMM_WORLD);
      }
      tell_pid();
    }
  } else {
    wait_for_go();
    for (int i = 0; i < kMany; ++i) send(i, MPI_COMM_WORLD);
  }
}

/* Tasks of both ranks wait. Those of rank 0 go on one at "go", the others at "more"; then it leaves its region. That of
 * rank 1 goes on at "end". */
static void both(void) {
  enum { kTasks = 5, kLast = 100 };
  static int value;
#pragma omp parallel num_threads(2)
#pragma omp single
  {
    if (rank == 0) {
      for (int i = 0; i < kTasks; ++i) {
#pragma omp task firstprivate(i)
        receive(i, MPI_COMM_WORLD);
      }
#pragma omp task
      {
        MPI_Request request;
        MPI_Irecv(&value, 1, MPI_INT, peer, kTasks, MPI_COMM_WORLD, &request);
        TAMPI_Iwait(&request, MPI_STATUS_IGNORE);
      }
      tell_pid();
    } else {
#pragma omp task
      receive(kLast, MPI_COMM_WORLD);
      tell_pid_in("pid.1");
      wait_for_go();
      send(0, MPI_COMM_WORLD);
      wait_for_file("more");
      for (int i = 1; i < kTasks; ++i) send(i, MPI_COMM_WORLD);
      MPI_Send(&rank, 1, MPI_INT, peer, kTasks, MPI_COMM_WORLD);
    }
  }
  if (rank == 0) {
    wait_for_file("end");
    send(kLast, MPI_COMM_WORLD);
  }
}

/* An event still waits when MPI ends. */
static void finalize(void) {
  if (rank == 0) {
#pragma omp parallel num_threads(2)
#pragma omp single
    {
#pragma omp task
      {
        static int value;
        MPI_Request request;
        MPI_Irecv(&value, 1, MPI_INT, peer, 42, MPI_COMM_WORLD, &request);
        TAMPI_Iwait(&request, MPI_STATUS_IGNORE);
        say("done");
#pragma omp flush
        tell_pid();
      }
      while (access("pid", F_OK) != 0) {
#pragma omp taskyield
      }
      MPI_Finalize();
      _exit(0);
    }
  }
  MPI_Finalize();
  say("done");
  exit(0);
}

static void own_handler(int signal) {
  (void)signal;
  static const char text[] = "own handler\n";
  if (write(1, text, sizeof text - 1) < 0) abort();
}

int main(int argc, char **argv) {
  const char *what = argv[1];
  if (strcmp(what, "handler") == 0) signal(SIGUSR1, own_handler);
  if (strcmp(what, "blocking") == 0) {
    sigset_t mask;
    sigemptyset(&mask);
    sigaddset(&mask, SIGUSR1);
    sigprocmask(SIG_BLOCK, &mask, NULL);
  }
  start(argc, argv);
  if (strcmp(what, "tasks") == 0) tasks();
  if (strcmp(what, "serial") == 0 || strcmp(what, "handler") == 0 || strcmp(what, "blocking") == 0) {
    serial();
  }
  if (strcmp(what, "busy") == 0) busy();
  if (strcmp(what, "many") == 0) many();
  if (strcmp(what, "both") == 0) both();
  if (strcmp(what, "finalize") == 0) finalize();
  MPI_Finalize();
  say("done");
  return 0;
}
