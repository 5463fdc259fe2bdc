// SPDX-License-Identifier: Apache-2.0
// Starts two processes that have no weft, and shares a communicator with them.
#include "check.h"

int main(int count, char** arguments) {
  MPI_Init(&count, &arguments);
  check_begin();
  MPI_Comm parent, between, all;
  MPI_Comm_get_parent(&parent);
  if (parent == MPI_COMM_NULL) {
    char* command[] = {"-u", "OMPI_MCA_mca_base_component_path", arguments[0], NULL};
    MPI_Comm_spawn("env", command, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &between, MPI_ERRCODES_IGNORE);
    MPI_Intercomm_merge(between, 0, &all);
  } else {
    between = parent;
    MPI_Intercomm_merge(parent, 1, &all);
  }
  int rank, size;
  MPI_Comm_rank(all, &rank);
  MPI_Comm_size(all, &size);
  for (int i = 0; i < 20; ++i) {
    int sum = 0;
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, all);
    CHECK(sum == size * (size - 1) / 2, "call %d: %d", i, sum);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Comm_free(&all);
  MPI_Comm_disconnect(&between);
  return check_end();
}
