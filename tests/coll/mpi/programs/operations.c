// SPDX-License-Identifier: Apache-2.0
// Each operation by sizes, roots and MPI_IN_PLACE. The first argument: the most bytes.
#include <time.h>

#include "check.h"

static int g_round;
static const size_t kGuard = 64;

static unsigned char* buffer(size_t bytes) {
  unsigned char* data = malloc(bytes + kGuard);
  memset(data, 0xee, bytes + kGuard);
  return data;
}

static void release(unsigned char* data, size_t bytes) {
  for (size_t i = 0; i < kGuard; ++i) CHECK(data[bytes + i] == 0xee, "written behind the end at %zu", bytes + i);
  free(data);
}

static void try_bcast(size_t bytes, int root, MPI_Comm comm) {
  unsigned char* data = buffer(bytes);
  if (check_rank == root) fill(data, bytes, root, g_round);
  MPI_Bcast(data, (int)bytes, MPI_BYTE, root, comm);
  const size_t wrong = first_wrong(data, bytes, root, g_round, 0);
  CHECK(wrong == bytes, "bcast of %zu from %d: byte %zu", bytes, root, wrong);
  release(data, bytes);
}

static void try_allgather(size_t bytes, int in_place, MPI_Comm comm) {
  unsigned char* mine = buffer(bytes);
  unsigned char* all = buffer(bytes * check_size);
  fill(in_place ? all + bytes * check_rank : mine, bytes, check_rank, g_round);
  MPI_Allgather(in_place ? MPI_IN_PLACE : mine, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE, comm);
  for (int i = 0; i < check_size; ++i) {
    const size_t wrong = first_wrong(all + bytes * i, bytes, i, g_round, 0);
    CHECK(wrong == bytes, "allgather of %zu: block %d, byte %zu", bytes, i, wrong);
  }
  release(mine, bytes);
  release(all, bytes * check_size);
}

static void try_alltoall(size_t bytes, int in_place, MPI_Comm comm) {
  unsigned char* send = buffer(bytes * check_size);
  unsigned char* receive = buffer(bytes * check_size);
  fill(in_place ? receive : send, bytes * check_size, check_rank, g_round);
  MPI_Alltoall(in_place ? MPI_IN_PLACE : send, (int)bytes, MPI_BYTE, receive, (int)bytes, MPI_BYTE, comm);
  for (int i = 0; i < check_size; ++i) {
    const size_t wrong = first_wrong(receive + bytes * i, bytes, i, g_round, bytes * check_rank);
    CHECK(wrong == bytes, "alltoall of %zu: block %d, byte %zu", bytes, i, wrong);
  }
  release(send, bytes * check_size);
  release(receive, bytes * check_size);
}

static double element(int rank, size_t at) { return (double)(rank + 1) * (double)(at % 1000 + 1 + (size_t)g_round); }

// `root` < 0: allreduce.
static void try_reduce(size_t bytes, int root, int in_place, MPI_Comm comm) {
  const size_t count = bytes / sizeof(double);
  double* send = (double*)buffer(bytes);
  double* receive = (double*)buffer(bytes);
  const int at_root = root < 0 || root == check_rank;
  in_place = in_place && at_root;
  for (size_t i = 0; i < count; ++i) (in_place ? receive : send)[i] = element(check_rank, i);
  if (root < 0) {
    MPI_Allreduce(in_place ? MPI_IN_PLACE : send, receive, (int)count, MPI_DOUBLE, MPI_SUM, comm);
  } else {
    MPI_Reduce(in_place ? MPI_IN_PLACE : send, at_root ? receive : NULL, (int)count, MPI_DOUBLE, MPI_SUM, root, comm);
  }
  const double ranks = check_size * (check_size + 1) / 2.0;
  for (size_t i = 0; at_root && i < count; ++i) {
    CHECK(receive[i] == ranks * element(0, i), "reduce of %zu to %d: element %zu is %g", count, root, i, receive[i]);
  }
  for (size_t i = 0; !in_place && i < count; ++i) CHECK(send[i] == element(check_rank, i), "what was sent is changed");
  release((unsigned char*)send, bytes);
  release((unsigned char*)receive, bytes);
}

// The same clock for all processes.
static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

int main(int count, char** arguments) {
  static const size_t kSizes[] = {0,    1,    7,     8,     40,    48,    56,    64,    65,     128,    1000,
                                  4095, 4096, 4097,  8192,  16384, 16392, 32768, 65536, 65544,  131072, 300000,
                                  262144, 1048576, 1048584, 5000000};
  MPI_Init(&count, &arguments);
  check_begin();
  const size_t most = count > 1 ? strtoul(arguments[1], NULL, 10) : 300000;
  for (size_t i = 0; i < sizeof kSizes / sizeof *kSizes; ++i) {
    const size_t bytes = kSizes[i];
    if (bytes > most) continue;
    for (int repeat = 0; repeat < 3; ++repeat, ++g_round) {
      for (int root = 0; root < check_size; ++root) {
        try_bcast(bytes, root, MPI_COMM_WORLD);
        try_reduce(bytes / 8 * 8, root, repeat & 1, MPI_COMM_WORLD);
      }
      MPI_Barrier(MPI_COMM_WORLD);
      for (int in_place = 0; in_place < 2; ++in_place) {
        try_allgather(bytes, in_place, MPI_COMM_WORLD);
        try_alltoall(bytes, in_place, MPI_COMM_WORLD);
        try_reduce(bytes / 8 * 8, -1, in_place, MPI_COMM_WORLD);
      }
    }
  }
  // Whoever leaves a barrier sees what all did before it.
  for (int i = 0; i < 200; ++i) {
    int late = i % check_size;
    double before = now();
    MPI_Barrier(MPI_COMM_WORLD);
    const double after = now();
    MPI_Bcast(&before, 1, MPI_DOUBLE, late, MPI_COMM_WORLD);
    CHECK(after >= before, "left a barrier before rank %d came", late);
  }
  return check_end();
}
