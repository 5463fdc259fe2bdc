/* SPDX-License-Identifier: Apache-2.0 */
/* Calls for large counts, which not every MPI has: they pause tasks where they are, and are not seen where they are not. Says
 * "done" when all is right. */
#include "check.h"

#if MPI_VERSION >= 4
#pragma weak MPI_Send_c
#pragma weak MPI_Sendrecv_replace_c

enum { kTasks = 12 };

static void message(int tag, MPI_Comm comm) {
  int got = -1, replaced = tag;
  MPI_Status status;
  MPI_Count count = -1;
  if (rank % 2 == 0) {
    MPI_Ssend_c(&tag, 1, MPI_INT, peer, tag, comm);
  } else {
    MPI_Recv_c(&got, 1, MPI_INT, peer, tag, comm, &status);
    MPI_Get_count_c(&status, MPI_INT, &count);
    check(got == tag && count == 1);
  }
  MPI_Sendrecv_c(&tag, 1, MPI_INT, peer, 100 + tag, &got, 1, MPI_INT, peer, 100 + tag, comm, &status);
  check(got == tag);
  MPI_Sendrecv_replace_c(&replaced, 1, MPI_INT, peer, 200 + tag, peer, 200 + tag, comm, &status);
  check(replaced == tag && status.MPI_TAG == 200 + tag);
}

static void collective(int tag, MPI_Comm comm) {
  int sum = 0, all[64] = {0}, from = tag;
  MPI_Allreduce_c(&tag, &sum, 1, MPI_INT, MPI_SUM, comm);
  check(sum == size * tag);
  MPI_Bcast_c(&from, 1, MPI_INT, size - 1, comm);
  check(from == tag);
  MPI_Allgather_c(&rank, 1, MPI_INT, all, 1, MPI_INT, comm);
  check(all[size - 1] == size - 1);
}

static void in_tasks(void (*part)(int tag, MPI_Comm comm)) {
  MPI_Comm comms[kTasks];
  for (int i = 0; i < kTasks; ++i) MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < kTasks; ++i) {
    const int mine = rank % 2 ? kTasks - 1 - i : i;
#pragma omp task firstprivate(mine)
    part(mine, comms[mine]);
  }
  for (int i = 0; i < kTasks; ++i) MPI_Comm_free(&comms[i]);
}

static void large_counts(void) {
  check(MPI_Send_c != NULL && MPI_Sendrecv_replace_c != NULL);
  in_tasks(message);
  in_tasks(collective);
}
#else
int MPI_Send_c() __attribute__((weak));
int MPI_File_read_at_all_c() __attribute__((weak));

static void large_counts(void) { check(MPI_Send_c == NULL && MPI_File_read_at_all_c == NULL); }
#endif

int main(int argc, char **argv) {
  start(argc, argv);
  large_counts();
  if (wrong != 0) say("%d wrong", wrong);
  if (wrong == 0) say("done");
  MPI_Finalize();
  return wrong != 0;
}
