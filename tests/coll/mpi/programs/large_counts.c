// SPDX-License-Identifier: Apache-2.0
// Rank 0 calls the functions for large counts, the others those for counts of int: MPI lets them.
#include "check.h"

#define CALL(name, ...) (check_rank == 0 ? MPI_##name##_c(__VA_ARGS__) : MPI_##name(__VA_ARGS__))

int main(int count, char** arguments) {
  MPI_Init(&count, &arguments);
  check_begin();
  int all[64], out[64];
  for (int round = 0; round < 200; ++round) {
    const int root = round % check_size;
    int mine = check_rank + round, sum = -1, sums = 0;
    for (int i = 0; i < check_size; ++i) sums += i + round;
    int value = check_rank == root ? round : -1;
    CALL(Bcast, &value, 1, MPI_INT, root, MPI_COMM_WORLD);
    CHECK(value == round, "bcast %d: %d", round, value);
    CALL(Allreduce, &mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sum == sums, "allreduce %d: %d", round, sum);
    sum = -1;
    CALL(Reduce, &mine, &sum, 1, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD);
    CHECK(sum == (check_rank == root ? sums : -1), "reduce %d: %d", round, sum);
    CALL(Allgather, &mine, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
    CALL(Alltoall, all, 1, MPI_INT, out, 1, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < check_size; ++i) {
      CHECK(all[i] == i + round && out[i] == mine, "round %d: %d, %d", round, all[i], out[i]);
    }
  }
  return check_end();
}
