// SPDX-License-Identifier: Apache-2.0
// The last rank dies, and the others go on without it (ULFM).
#include "check.h"

#include <mpi-ext.h>
#include <signal.h>

int main(int count, char** arguments) {
  MPI_Init(&count, &arguments);
  check_begin();
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  for (int i = 0; i < 300; ++i) MPI_Barrier(MPI_COMM_WORLD);
  if (check_rank == check_size - 1) raise(SIGKILL);
  CHECK(MPI_Barrier(MPI_COMM_WORLD) != MPI_SUCCESS, "a barrier with the dead");
  MPI_Comm left;
  int one = 1, sum = 0;
  MPIX_Comm_revoke(MPI_COMM_WORLD);
  MPIX_Comm_shrink(MPI_COMM_WORLD, &left);
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, left);
  CHECK(sum == check_size - 1, "%d ranks are left", sum);
  return check_end();
}
