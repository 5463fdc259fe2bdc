/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that MPI ends, or that use it wrongly; the first argument says how. */
#include <signal.h>
#include <weft/TAMPI.h>

#include "say.h"

/* In weft's MPI library alone. */
#pragma weak TAMPI_Iwait

static int data[8];

/* More than there is room for; the receiver's task is paused when it comes. */
static void truncated_recv(MPI_Comm comm) {
  if (rank % 2 == 0) {
    MPI_Recv(data, 2, MPI_INT, peer, 1, comm, MPI_STATUS_IGNORE);
  } else {
    come_late();
    MPI_Send(data, 6, MPI_INT, peer, 1, comm);
    sleep(10);
  }
}

static void truncated_waitall(MPI_Comm comm) {
  if (rank % 2 == 0) {
    MPI_Request requests[2];
    MPI_Status statuses[2];
    MPI_Irecv(data, 2, MPI_INT, peer, 1, comm, &requests[0]);
    MPI_Irecv(data, 2, MPI_INT, peer, 2, comm, &requests[1]);
    MPI_Waitall(2, requests, statuses);
  } else {
    MPI_Send(data, 2, MPI_INT, peer, 1, comm);
    come_late();
    MPI_Send(data, 6, MPI_INT, peer, 2, comm);
    sleep(10);
  }
}

static void wrong_rank(MPI_Comm comm) { MPI_Send(data, 1, MPI_INT, size, 0, comm); }

static void null_type(MPI_Comm comm) {
  (void)comm;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_commit(&type);
}

static void killed(MPI_Comm comm) {
  if (rank % 2 == 0) {
    MPI_Recv(data, 1, MPI_INT, peer, 1, comm, MPI_STATUS_IGNORE);
  } else {
    come_late();
    raise(SIGKILL);
  }
}

static void iwait_outside(MPI_Comm comm) {
  MPI_Request request;
  if (rank % 2 == 0) {
    MPI_Irecv(data, 1, MPI_INT, peer, 1, comm, &request);
    (TAMPI_Iwait != NULL ? TAMPI_Iwait : MPI_Wait)(&request, MPI_STATUS_IGNORE);
    say("got %d", data[0]);
  } else {
    come_late();
    data[0] = 17;
    MPI_Send(data, 1, MPI_INT, peer, 1, comm);
  }
}

/* While a task waits, in vain. */
static void early_finalize(MPI_Comm comm) {
#pragma omp task
  {
#pragma omp task
    {
      MPI_Finalize();
      _exit(3);
    }
    MPI_Recv(data, 1, MPI_INT, peer, 1, comm, MPI_STATUS_IGNORE);
  }
}

static void exchange(MPI_Comm comm) {
  data[0] = rank;
  MPI_Sendrecv_replace(data, 1, MPI_INT, peer, 0, peer, 0, comm, MPI_STATUS_IGNORE);
  say("got %d", data[0]);
}

static const struct {
  const char *name;
  void (*part)(MPI_Comm comm);
} kParts[] = {
    {"truncated_recv", truncated_recv}, {"truncated_waitall", truncated_waitall}, {"wrong_rank", wrong_rank},
    {"null_type", null_type},           {"killed", killed},                       {"iwait_outside", iwait_outside},
    {"early_finalize", early_finalize}, {"exchange", exchange},
};

/* bad_input US PART LEVEL HANDLERS: how late the other rank comes, one of kParts, the level of threads to ask for, whose
 * handler the program sets (nobody's, another's) */
int main(int argc, char **argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, atoi(argv[3]), &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  peer = rank ^ 1;
  late_us = atoi(argv[1]);
  MPI_Comm comm = MPI_COMM_WORLD;
  if (strcmp(argv[4], "another's") == 0) {
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    comm = MPI_COMM_WORLD;
  }
  for (size_t i = 0; i < sizeof kParts / sizeof *kParts; ++i) {
    if (strcmp(kParts[i].name, argv[2]) != 0) continue;
#pragma omp parallel num_threads(1)
    kParts[i].part(comm);
  }
  MPI_Finalize();
  return 0;
}
