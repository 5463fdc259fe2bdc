/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs that meet: collectives between this job and one that it starts, whose ranks run without weft, and on
 * communicators that are made of both. And halves of a job that meet at a port, as jobs do. */
#include "say.h"

/* What both jobs do, in the same order. `first`: the job that started the other. */
static void meet(MPI_Comm others, int first) {
  MPI_Comm both, half, again;
  int value = first ? 10 + rank : 20 + rank, sum = -1, number = first ? rank : -1, of_both, members;
  const int root = !first ? 0 : rank == 0 ? MPI_ROOT : MPI_PROC_NULL;
  come_late();
  MPI_Barrier(others);
  MPI_Bcast(&number, 1, MPI_INT, root, others);
  come_early();
  MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, others);
  if (first) say("the others' sum %d", sum);

  MPI_Intercomm_merge(others, !first, &both);
  MPI_Comm_rank(both, &of_both);
  MPI_Comm_size(both, &members);
  come_late();
  MPI_Barrier(both);
  MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, both);
  if (first) say("rank %d of %d, sum %d", of_both, members, sum);
  number = of_both;
  MPI_Bcast(&number, 1, MPI_INT, members - 1, both);
  if (first) say("from the last: %d", number);

  MPI_Comm_split(both, of_both % 2, of_both, &half);
  come_early();
  MPI_Allreduce(&of_both, &sum, 1, MPI_INT, MPI_SUM, half);
  if (first) say("half's sum %d", sum);
  MPI_Comm_dup(half, &again);
  MPI_Barrier(again);
  /* One world, which may convert. */
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (first) say("this job's sum %d", sum);
  MPI_Comm_free(&again);
  MPI_Comm_free(&half);
  MPI_Comm_free(&both);
  MPI_Comm_disconnect(&others);
}

static void meet_at_port(void) {
  MPI_Comm half, others;
  char port[MPI_MAX_PORT_NAME] = "";
  int accepts = rank % 2 == 0, sum = -1, other = -1;
  MPI_Comm_split(MPI_COMM_WORLD, accepts, rank, &half);
  if (rank == 0) MPI_Open_port(MPI_INFO_NULL, port);
  MPI_Bcast(port, sizeof port, MPI_CHAR, 0, MPI_COMM_WORLD);
  come_late();
  const int code = accepts ? MPI_Comm_accept(port, MPI_INFO_NULL, 0, half, &others)
                           : MPI_Comm_connect(port, MPI_INFO_NULL, 0, half, &others);
  say("met: %s", name_of(code));
  come_early();
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, others);
  MPI_Sendrecv(&rank, 1, MPI_INT, rank / 2, 0, &other, 1, MPI_INT, rank / 2, 0, others, MPI_STATUS_IGNORE);
  say("the others' sum %d, opposite %d", sum, other);
  MPI_Comm_disconnect(&others);
  if (rank == 0) MPI_Close_port(port);
  MPI_Comm_free(&half);
}

static void meet_all(MPI_Comm children) {
  meet(children, 1);
  meet_at_port();
}

int main(int argc, char **argv) {
  MPI_Comm parent, children;
  int codes[2];
  start(argc, argv);
  MPI_Comm_get_parent(&parent);
  if (parent != MPI_COMM_NULL) {
    meet(parent, 0);
  } else {
    char *arguments[] = {argv[1], NULL};
    say("spawned: %s", name_of(MPI_Comm_spawn(argv[0], arguments, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children, codes)));
#pragma omp parallel num_threads(2)
#pragma omp master
    meet_all(children);
  }
  MPI_Finalize();
  return 0;
}
