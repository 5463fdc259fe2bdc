// SPDX-License-Identifier: Apache-2.0
// What the programs have in common. They print "RANK: done", or what is wrong, and end with 1 then.
#pragma once

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int check_rank, check_size;

#define CHECK(condition, ...)                              \
  do {                                                     \
    if (condition) break;                                  \
    printf("%d: %s:%d: ", check_rank, __FILE__, __LINE__); \
    printf(__VA_ARGS__);                                   \
    printf(" (%s)\n", #condition);                         \
    fflush(stdout);                                        \
    MPI_Abort(MPI_COMM_WORLD, 1);                          \
  } while (0)

static void check_begin(void) {
  // Lines of weft's report go to the same file in between.
  setvbuf(stdout, NULL, _IOLBF, 0);
  MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &check_size);
}

static inline int check_end(void) {
  MPI_Finalize();
  printf("%d: done\n", check_rank);
  return 0;
}

// A byte that tells the place in the data of a rank in a round.
static inline unsigned char expected_byte(int rank, int round, size_t at) {
  return (unsigned char)(rank * 37 + round * 11 + at * 7 + at / 251);
}

static inline void fill(void* data, size_t bytes, int rank, int round) {
  for (size_t i = 0; i < bytes; ++i) ((unsigned char*)data)[i] = expected_byte(rank, round, i);
}

static inline size_t first_wrong(const void* data, size_t bytes, int rank, int round, size_t from) {
  for (size_t i = 0; i < bytes; ++i) {
    if (((const unsigned char*)data)[i] != expected_byte(rank, round, from + i)) return i;
  }
  return bytes;
}
