// SPDX-License-Identifier: Apache-2.0
// Each operation often enough for its class to be compared with MPI's own, with results that do not depend on who did it.
#include <stdint.h>

#include "check.h"

enum { kRepeats = 40 };

static void perform(char* in, char* out, size_t bytes, int round) {
  const int root = round % check_size, count = (int)bytes;
  MPI_Barrier(MPI_COMM_WORLD);
  fill(in, bytes, check_rank, round);
  MPI_Bcast(in, count, MPI_BYTE, root, MPI_COMM_WORLD);
  CHECK(first_wrong(in, bytes, root, round, 0) == bytes, "bcast of %zu bytes", bytes);
  fill(in, bytes, check_rank, round);
  MPI_Allgather(in, count, MPI_BYTE, out, count, MPI_BYTE, MPI_COMM_WORLD);
  for (int rank = 0; rank < check_size; ++rank) {
    CHECK(first_wrong(out + rank * bytes, bytes, rank, round, 0) == bytes, "allgather of %zu bytes", bytes);
  }
  fill(in, bytes * check_size, check_rank, round);
  MPI_Alltoall(in, count, MPI_BYTE, out, count, MPI_BYTE, MPI_COMM_WORLD);
  for (int rank = 0; rank < check_size; ++rank) {
    CHECK(first_wrong(out + rank * bytes, bytes, rank, round, check_rank * bytes) == bytes, "alltoall of %zu bytes", bytes);
  }
  int64_t sum = check_rank + round;
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  CHECK(sum == (int64_t)check_size * round + check_size * (check_size - 1) / 2, "sum %ld", (long)sum);
}

int main(int count, char** arguments) {
  static const size_t kBytes[] = {1, 8, 1000, 40000, 200000};
  MPI_Init(&count, &arguments);
  check_begin();
  char* in = malloc(200000 * check_size);
  char* out = malloc(200000 * check_size);
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    for (size_t i = 0; i < sizeof kBytes / sizeof *kBytes; ++i) perform(in, out, kBytes[i], repeat);
  }
  return check_end();
}
