/* SPDX-License-Identifier: Apache-2.0 */
/* Two tasks wait for one request: one gets its message, the other is refused. Says "done" when all is right. */
#include <omp.h>
#include <weft/TAMPI.h>
#include <weft/mpi.h>

#include "check.h"

enum { kGo = 1000 };

static int refused, served;

static int is_refused(int code) {
  int class;
  MPI_Error_class(code, &class);
  return class == MPI_ERR_REQUEST;
}

static void send_go(int tag) { MPI_Send(&tag, 1, MPI_INT, peer, kGo + tag, MPI_COMM_WORLD); }

static int wait(MPI_Request *request) { return MPI_Wait(request, MPI_STATUS_IGNORE); }
static int waitall(MPI_Request *request) { return MPI_Waitall(1, request, MPI_STATUSES_IGNORE); }
static int waitany(MPI_Request *request) {
  int index;
  return MPI_Waitany(1, request, &index, MPI_STATUS_IGNORE);
}
static int waitsome(MPI_Request *request) {
  int count, index;
  return MPI_Waitsome(1, request, &count, &index, MPI_STATUSES_IGNORE);
}
static int iwait(MPI_Request *request) { return TAMPI_Iwait(request, MPI_STATUS_IGNORE); }

static int (*const kWaits[])(MPI_Request *) = {wait, waitall, waitany, waitsome, iwait};
enum { kKinds = sizeof kWaits / sizeof *kWaits };

/* Behind an Iwait the request is an event's. */
static void behind_iwait(int tag) {
  int number = -1;
#pragma omp parallel
#pragma omp single
#pragma omp task
  {
    MPI_Request request;
    MPI_Irecv(&number, 1, MPI_INT, peer, tag, MPI_COMM_WORLD, &request);
    MPI_Request copies[kKinds];
    for (int i = 0; i < kKinds; ++i) copies[i] = request;
    check(TAMPI_Iwait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS && request == MPI_REQUEST_NULL);
    for (int i = 0; i < kKinds; ++i) check(is_refused(kWaits[i](&copies[i])));
    omp_event_handle_t event;
    int ended = 0;
    MPI_Request copy = copies[0];
#pragma omp task detach(event) shared(ended)
    {
      check(is_refused(weft_mpi_detach(&copy, event)));
      ended = 1;
    }
#pragma omp taskwait
    check(ended);
    send_go(tag);
  }
  check(number == tag);
}

/* Whoever comes second lets the peer send. */
static void beside_wait(int tag, int (*other)(MPI_Request *)) {
  int number = -1;
  MPI_Request request;
  served = refused = 0;
  MPI_Irecv(&number, 1, MPI_INT, peer, tag, MPI_COMM_WORLD, &request);
  MPI_Request copies[2] = {request, request};
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 2; ++i) {
#pragma omp task firstprivate(i)
    {
      const int code = (i == 0 ? wait : other)(&copies[i]);
      const int is = is_refused(code);
      if (is) send_go(tag);
#pragma omp atomic
      refused += is;
#pragma omp atomic
      served += code == MPI_SUCCESS;
    }
  }
  check(refused == 1 && served == 1 && number == tag);
}

int main(int argc, char **argv) {
  start(argc, argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  int tag = 0;
  if (rank % 2 == 0) {
    behind_iwait(tag++);
    beside_wait(tag++, wait);
    beside_wait(tag++, waitall);
  } else {
    for (; tag < 3; ++tag) {
      int go = -1;
      MPI_Recv(&go, 1, MPI_INT, peer, kGo + tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Send(&go, 1, MPI_INT, peer, tag, MPI_COMM_WORLD);
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (wrong != 0) say("%d wrong", wrong);
  if (wrong == 0) say("done");
  MPI_Finalize();
  return wrong != 0;
}
