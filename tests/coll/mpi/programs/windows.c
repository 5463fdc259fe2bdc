// SPDX-License-Identifier: Apache-2.0
// Access to a window that is complete before a barrier: one test behind it sees that.
#include "check.h"

enum { kRounds = 20 };

int main(int count, char** arguments) {
  MPI_Init(&count, &arguments);
  check_begin();
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  int* memory = NULL;
  MPI_Win window;
  MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, comm, &memory, &window);
  MPI_Group all, others, first;
  const int zero = 0;
  MPI_Win_get_group(window, &all);
  MPI_Group_excl(all, 1, &zero, &others);
  MPI_Group_incl(all, 1, &zero, &first);
  for (int i = 0; i < kRounds; ++i) {
    if (check_rank == 0) {
      MPI_Win_start(others, 0, window);
      MPI_Barrier(comm);
      MPI_Win_complete(window);
      MPI_Barrier(comm);
    } else {
      MPI_Win_post(first, 0, window);
      MPI_Barrier(comm);
      MPI_Barrier(comm);
      int done = 0;
      MPI_Win_test(window, &done);
      CHECK(done, "round %d: not complete", i);
    }
    MPI_Barrier(comm);
  }
  MPI_Group_free(&first);
  MPI_Group_free(&others);
  MPI_Group_free(&all);
  MPI_Win_free(&window);
  MPI_Comm_free(&comm);
  return check_end();
}
