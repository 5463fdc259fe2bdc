/* SPDX-License-Identifier: Apache-2.0 */
/* Requests that are events of tasks: by TAMPI's calls, and by OpenMP's `detach`. Says "done" when all is right. The tasks'
 * successors must not run before the messages have come. */
#include <TAMPI.h>
#include <weft/mpi.h>

#include "check.h"

enum { kTasks = 32, kMany = 4 };

static int values[kTasks][kMany];
static MPI_Status statuses[kTasks][kMany];

static void send_all(int first_tag) {
  come_late();
  for (int i = kTasks - 1; i >= 0; --i) {
    for (int k = kMany - 1; k >= 0; --k) {
      const int tag = first_tag + kMany * i + k;
      MPI_Send(&tag, 1, MPI_INT, peer, tag, MPI_COMM_WORLD);
    }
  }
}

static void iwaitall(void) {
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < kTasks; ++i) {
    int *mine = values[i];
#pragma omp task firstprivate(i, mine) depend(out : mine[0])
    {
      MPI_Request requests[kMany];
      for (int k = 0; k < kMany; ++k) MPI_Irecv(&mine[k], 1, MPI_INT, peer, kMany * i + k, MPI_COMM_WORLD, &requests[k]);
      TAMPI_Iwaitall(kMany, requests, statuses[i]);
      for (int k = 0; k < kMany; ++k) check(requests[k] == MPI_REQUEST_NULL);
    }
#pragma omp task firstprivate(i, mine) depend(in : mine[0])
    for (int k = 0; k < kMany; ++k) check(mine[k] == kMany * i + k && statuses[i][k].MPI_TAG == kMany * i + k);
  }
}

static void without_requests(void) {
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < kTasks; ++i) {
    int *mine = values[i];
#pragma omp task firstprivate(i, mine) depend(out : mine[0])
    for (int k = 0; k < kMany; ++k) {
      TAMPI_Irecv(&mine[k], 1, MPI_INT, peer, 1000 + kMany * i + k, MPI_COMM_WORLD, &statuses[i][k]);
    }
#pragma omp task firstprivate(i, mine) depend(in : mine[0])
    for (int k = 0; k < kMany; ++k) check(mine[k] == 1000 + kMany * i + k && statuses[i][k].MPI_SOURCE == peer);
  }
}

static void detached(void) {
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < kTasks; ++i) {
    int *mine = values[i];
    omp_event_handle_t event;
#pragma omp task firstprivate(i, mine) depend(out : mine[0]) detach(event)
    {
      MPI_Request requests[kMany];
      for (int k = 0; k < kMany; ++k) MPI_Irecv(&mine[k], 1, MPI_INT, peer, 2000 + kMany * i + k, MPI_COMM_WORLD, &requests[k]);
      if (i % 2 == 0) {
        weft_mpi_detach_all(kMany, requests, statuses[i], event);
      } else {
        MPI_Waitall(kMany - 1, requests, statuses[i]);
        weft_mpi_detach(&requests[kMany - 1], event);
      }
    }
#pragma omp task firstprivate(i, mine) depend(in : mine[0])
    for (int k = 0; k < kMany; ++k) check(mine[k] == 2000 + kMany * i + k);
  }
}

int main(int argc, char **argv) {
  start(argc, argv);
  const char *names[] = {"iwaitall", "without requests", "detached"};
  void (*const parts[])(void) = {iwaitall, without_requests, detached};
  for (int i = 0; i < 3; ++i) {
    if (rank % 2 == 0) parts[i]();
    else send_all(1000 * i);
    MPI_Barrier(MPI_COMM_WORLD);
    if (wrong != 0) say("%s: %d wrong", names[i], wrong);
  }
  if (wrong == 0) say("done");
  MPI_Finalize();
  return wrong != 0;
}
