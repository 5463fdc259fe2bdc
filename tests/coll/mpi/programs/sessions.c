// SPDX-License-Identifier: Apache-2.0
// Collectives of a session's communicator: without MPI_Init, and, with an argument, also between it and MPI_Finalize,
// and behind that.
#include "check.h"

static void use(MPI_Comm comm, int rounds) {
  for (int round = 0; round < rounds; ++round) {
    int rank = 0, size = 0, sum = 0;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    MPI_Barrier(comm);
    MPI_Allreduce(&round, &sum, 1, MPI_INT, MPI_SUM, comm);
    if (sum == round * size) continue;
    printf("%d: round %d: %d\n", rank, round, sum);
    exit(1);
  }
}

int main(int count, char** arguments) {
  MPI_Session session;
  MPI_Group group;
  MPI_Comm comm;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
  MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
  MPI_Comm_create_from_group(group, "weft", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
  MPI_Comm_rank(comm, &check_rank);
  use(comm, 100);
  if (count > 1) {
    MPI_Init(&count, &arguments);
    use(comm, 100);
    use(MPI_COMM_WORLD, 100);
    MPI_Finalize();
    use(comm, 100);
  }
  MPI_Group_free(&group);
  MPI_Comm_free(&comm);
  MPI_Session_finalize(&session);
  printf("%d: done\n", check_rank);
  return 0;
}
