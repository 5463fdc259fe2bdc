// SPDX-License-Identifier: Apache-2.0
// Who has combined: weft takes the ranks' elements in one order, MPI, told that any order will do, in another. Four ranks.
#include <stdint.h>

#include "check.h"

static uint64_t both(uint64_t a, uint64_t b) { return a * 3 + b * 7 + 1; }

static void combine(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *count; ++i) ((uint64_t*)inout)[i] = both(((uint64_t*)in)[i], ((uint64_t*)inout)[i]);
}

int main(int count, char** arguments) {
  static const int kBytes[] = {8, 56, 64, 1024, 4088, 4096, 65536, 1048576};
  MPI_Init(&count, &arguments);
  check_begin();
  MPI_Op op;
  MPI_Op_create(combine, 1, &op);
  uint64_t* in = malloc(1048576);
  uint64_t* out = malloc(1048576);
  for (size_t i = 0; i < 131072; ++i) in[i] = (uint64_t)check_rank + 2;
  const uint64_t ordered = both(2, both(3, both(4, 5)));
  for (int repeat = 0; repeat < 2; ++repeat) {
    for (size_t i = 0; i < sizeof kBytes / sizeof *kBytes; ++i) {
      MPI_Allreduce(in, out, kBytes[i] / 8, MPI_UINT64_T, op, MPI_COMM_WORLD);
      if (check_rank == 0 && repeat == 1) printf("%d: %s\n", kBytes[i], out[0] == ordered ? "weft" : "mpi");
    }
  }
  MPI_Op_free(&op);
  MPI_Finalize();
  return 0;
}
