// SPDX-License-Identifier: Apache-2.0
// many COMMUNICATORS: all in use, so that weft has no more memory for the last ones.
#include "check.h"

int main(int count, char** arguments) {
  MPI_Init(&count, &arguments);
  check_begin();
  const int many = count > 1 ? atoi(arguments[1]) : 1;
  MPI_Comm* communicators = malloc(many * sizeof(MPI_Comm));
  for (int i = 0; i < many; ++i) MPI_Comm_dup(MPI_COMM_WORLD, &communicators[i]);
  for (int i = 0; i < many; ++i) {
    for (int root = 0; root < check_size; ++root) {
      int value = check_rank == root ? i : -1;
      MPI_Bcast(&value, 1, MPI_INT, root, communicators[i]);
      CHECK(value == i, "communicator %d: %d", i, value);
    }
  }
  // Those that are freed make room.
  for (int i = 0; i < many; ++i) MPI_Comm_free(&communicators[i]);
  MPI_Comm_dup(MPI_COMM_WORLD, &communicators[0]);
  MPI_Barrier(communicators[0]);
  MPI_Comm_free(&communicators[0]);
  free(communicators);
  return check_end();
}
