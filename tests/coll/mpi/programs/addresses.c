// SPDX-License-Identifier: Apache-2.0
// Rank 0 names its data by types: both buffers have the same address, and other data. The others have plain buffers.
#include "check.h"

enum { kBytes = 400 };

static MPI_Datatype at(MPI_Aint where) {
  MPI_Datatype placed, type;
  const int length = kBytes;
  MPI_Type_create_hindexed(1, &length, &where, MPI_BYTE, &placed);
  MPI_Type_create_resized(placed, 0, kBytes, &type);
  MPI_Type_commit(&type);
  MPI_Type_free(&placed);
  return type;
}

// From `base` on, the addresses of what is given and of what is wanted.
static void exchange(char* base, MPI_Aint given, MPI_Aint wanted, int alltoall) {
  MPI_Datatype in = at(given), out = at(wanted);
  if (alltoall) {
    MPI_Alltoall(base, 1, in, base, 1, out, MPI_COMM_WORLD);
  } else {
    MPI_Allgather(base, 1, in, base, 1, out, MPI_COMM_WORLD);
  }
  MPI_Type_free(&in);
  MPI_Type_free(&out);
}

int main(int count, char** arguments) {
  MPI_Init(&count, &arguments);
  check_begin();
  char* memory = malloc(2 * kBytes * check_size);
  char* given = memory;
  char* wanted = memory + kBytes * check_size;
  for (int round = 0; round < 40; ++round) {
    const int alltoall = round % 2, absolute = round / 2 % 2;
    fill(given, kBytes * check_size, check_rank, round);
    memset(wanted, 0, kBytes * check_size);
    if (check_rank != 0) {
      if (alltoall) {
        MPI_Alltoall(given, kBytes, MPI_BYTE, wanted, kBytes, MPI_BYTE, MPI_COMM_WORLD);
      } else {
        MPI_Allgather(given, kBytes, MPI_BYTE, wanted, kBytes, MPI_BYTE, MPI_COMM_WORLD);
      }
    } else if (absolute) {
      MPI_Aint from, to;
      MPI_Get_address(given, &from);
      MPI_Get_address(wanted, &to);
      exchange(MPI_BOTTOM, from, to, alltoall);
    } else {
      exchange(memory, 0, wanted - memory, alltoall);
    }
    for (int rank = 0; rank < check_size; ++rank) {
      const size_t from = alltoall ? (size_t)check_rank * kBytes : 0;
      CHECK(first_wrong(wanted + rank * kBytes, kBytes, rank, round, from) == kBytes, "round %d, rank %d", round, rank);
    }
  }
  return check_end();
}
