/* SPDX-License-Identifier: Apache-2.0 */
/* All blocking collectives: with MPI_IN_PLACE, nothing to send, user's operations, between groups, with neighbours. */
#include "say.h"

enum { kMost = 8 };
static int in[64], out[64], counts[kMost], places[kMost], bytes[kMost];
static MPI_Datatype types[kMost];

static void fill(void) {
  for (int i = 0; i < 64; ++i) in[i] = 100 * rank + i, out[i] = -1;
  for (int i = 0; i < kMost; ++i) {
    counts[i] = i % 3 + 1;
    places[i] = 4 * i;
    bytes[i] = (int)sizeof(int) * places[i];
    types[i] = MPI_INT;
  }
  come_late();
}

static void say_out(const char *name, int code) {
  char text[300] = "";
  for (int i = 0, length = 0; i < 16; ++i) length += sprintf(text + length, " %d", out[i]);
  say("%s %s:%s", name, name_of(code), text);
}

static void moving(MPI_Comm comm, int n, int me, int root) {
  fill(), say_out("barrier", MPI_Barrier(comm));
  fill(), memcpy(out, in, sizeof out), say_out("bcast", MPI_Bcast(out, 5, MPI_INT, root, comm));
  fill(), say_out("gather", MPI_Gather(in, 2, MPI_INT, out, 2, MPI_INT, root, comm));
  fill(), say_out("gatherv", MPI_Gatherv(in, counts[me], MPI_INT, out, counts, places, MPI_INT, root, comm));
  fill(), say_out("scatter", MPI_Scatter(in, 2, MPI_INT, out, 2, MPI_INT, root, comm));
  fill(), say_out("scatterv", MPI_Scatterv(in, counts, places, MPI_INT, out, counts[me], MPI_INT, root, comm));
  fill(), say_out("allgather", MPI_Allgather(in, 2, MPI_INT, out, 2, MPI_INT, comm));
  fill(), say_out("allgatherv", MPI_Allgatherv(in, counts[me], MPI_INT, out, counts, places, MPI_INT, comm));
  fill(), say_out("alltoall", MPI_Alltoall(in, 2, MPI_INT, out, 2, MPI_INT, comm));
  for (int i = 0; i < n; ++i) counts[i] = 2;
  fill();
  for (int i = 0; i < n; ++i) counts[i] = (i + me) % 3 + 1;
  say_out("alltoallv", MPI_Alltoallv(in, counts, places, MPI_INT, out, counts, places, MPI_INT, comm));
  fill();
  for (int i = 0; i < n; ++i) counts[i] = (i + me) % 3 + 1;
  say_out("alltoallw", MPI_Alltoallw(in, counts, bytes, types, out, counts, bytes, types, comm));
}

static void in_place(void) {
  const int root = size - 1;
  fill(), memcpy(out, in, sizeof out);
  say_out("gather in place",
          MPI_Gather(rank == root ? MPI_IN_PLACE : in, 2, MPI_INT, out, 2, MPI_INT, root, MPI_COMM_WORLD));
  fill(), memcpy(out, in, sizeof out);
  say_out("scatter in place",
          MPI_Scatter(in, 2, MPI_INT, rank == root ? MPI_IN_PLACE : out, 2, MPI_INT, root, MPI_COMM_WORLD));
  fill(), memcpy(out, in, sizeof out);
  say_out("allgather in place", MPI_Allgather(MPI_IN_PLACE, 0, MPI_INT, out, 2, MPI_INT, MPI_COMM_WORLD));
  fill(), memcpy(out, in, sizeof out);
  say_out("alltoall in place", MPI_Alltoall(MPI_IN_PLACE, 0, MPI_INT, out, 2, MPI_INT, MPI_COMM_WORLD));
  fill(), memcpy(out, in, sizeof out);
  say_out("reduce in place",
          MPI_Reduce(rank == root ? MPI_IN_PLACE : in, out, 3, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD));
  fill(), memcpy(out, in, sizeof out);
  say_out("allreduce in place", MPI_Allreduce(MPI_IN_PLACE, out, 3, MPI_INT, MPI_MAX, MPI_COMM_WORLD));
  fill(), memcpy(out, in, sizeof out);
  say_out("scan in place", MPI_Scan(MPI_IN_PLACE, out, 3, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
  fill(), memcpy(out, in, sizeof out);
  say_out("reduce_scatter_block in place",
          MPI_Reduce_scatter_block(MPI_IN_PLACE, out, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
}

static void reductions(MPI_Op operation, const char *name) {
  say("operation %s", name);
  fill(), say_out("reduce", MPI_Reduce(in, out, 4, MPI_INT, operation, 0, MPI_COMM_WORLD));
  fill(), say_out("allreduce", MPI_Allreduce(in, out, 4, MPI_INT, operation, MPI_COMM_WORLD));
  fill(), say_out("reduce_scatter", MPI_Reduce_scatter(in, out, counts, MPI_INT, operation, MPI_COMM_WORLD));
  fill(), say_out("reduce_scatter_block", MPI_Reduce_scatter_block(in, out, 2, MPI_INT, operation, MPI_COMM_WORLD));
  fill(), say_out("scan", MPI_Scan(in, out, 4, MPI_INT, operation, MPI_COMM_WORLD));
  fill(), say_out("exscan", MPI_Exscan(in, out, 4, MPI_INT, operation, MPI_COMM_WORLD));
}

/* Not commutative: a 2 by 2 matrix of numbers mod 1009, in a row. */
static void multiply(void *left, void *right, int *length, MPI_Datatype *type) {
  (void)type;
  for (int i = 0; i + 3 < *length; i += 4) {
    int *a = (int *)left + i, *b = (int *)right + i, product[4];
    for (int k = 0; k < 4; ++k) product[k] = (a[k / 2 * 2] * b[k % 2] + a[k / 2 * 2 + 1] * b[2 + k % 2]) % 1009;
    memcpy(b, product, sizeof product);
  }
}

/* Calls MPI itself, to another communicator. */
static void add_with_mpi(void *left, void *right, int *length, MPI_Datatype *type) {
  int sum;
  (void)type;
  for (int i = 0; i < *length; ++i) {
    const int both = ((int *)left)[i] + ((int *)right)[i];
    MPI_Sendrecv(&both, 1, MPI_INT, 0, 0, &sum, 1, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    ((int *)right)[i] = sum;
  }
}

static void users_operations(void) {
  MPI_Op product, sum;
  MPI_Datatype matrix;
  MPI_Type_contiguous(4, MPI_INT, &matrix);
  MPI_Type_commit(&matrix);
  MPI_Op_create(multiply, 0, &product);
  MPI_Op_create(add_with_mpi, 1, &sum);
  fill(), say_out("product", MPI_Allreduce(in, out, 4, MPI_INT, product, MPI_COMM_WORLD));
  fill(), say_out("scan", MPI_Scan(in, out, 4, MPI_INT, product, MPI_COMM_WORLD));
  fill(), say_out("reduce", MPI_Reduce(in, out, 4, MPI_INT, product, size - 1, MPI_COMM_WORLD));
  reductions(sum, "of the user's");
  MPI_Op_free(&product);
  MPI_Op_free(&sum);
  MPI_Type_free(&matrix);
}

static void nothing(void) {
  fill(), say_out("bcast", MPI_Bcast(NULL, 0, MPI_INT, 0, MPI_COMM_WORLD));
  fill(), say_out("allreduce", MPI_Allreduce(in, out, 0, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
  fill(), say_out("alltoall", MPI_Alltoall(in, 0, MPI_INT, out, 0, MPI_INT, MPI_COMM_WORLD));
  fill(), say_out("gather", MPI_Gather(in, 0, MPI_INT, out, 0, MPI_INT, 0, MPI_COMM_WORLD));
}

static void between_groups(void) {
  MPI_Comm half, both;
  int n, me;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 5, &both);
  MPI_Comm_rank(half, &me);
  MPI_Comm_remote_size(both, &n);
  fill(), say_out("barrier", MPI_Barrier(both));
  const int root = rank % 2 == 1 ? 0 : me == 0 ? MPI_ROOT : MPI_PROC_NULL;
  fill(), memcpy(out, in, sizeof out), say_out("bcast", MPI_Bcast(out, 3, MPI_INT, root, both));
  fill(), say_out("gather", MPI_Gather(in, 2, MPI_INT, out, 2, MPI_INT, root, both));
  fill(), say_out("reduce", MPI_Reduce(in, out, 3, MPI_INT, MPI_SUM, root, both));
  fill(), say_out("allgather", MPI_Allgather(in, 2, MPI_INT, out, 2, MPI_INT, both));
  fill(), say_out("allreduce", MPI_Allreduce(in, out, 2, MPI_INT, MPI_SUM, both));
  fill(), say_out("alltoall", MPI_Alltoall(in, 2, MPI_INT, out, 2, MPI_INT, both));
  MPI_Comm merged;
  MPI_Intercomm_merge(both, rank % 2, &merged);
  int merged_rank;
  MPI_Comm_rank(merged, &merged_rank);
  say("merged %d", merged_rank);
  MPI_Comm_free(&merged);
  MPI_Comm_free(&both);
  MPI_Comm_free(&half);
}

static void neighbours(void) {
  MPI_Comm ring;
  int periodic = 1;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &ring);
  fill(), say_out("neighbor_allgather", MPI_Neighbor_allgather(in, 2, MPI_INT, out, 2, MPI_INT, ring));
  fill(), counts[0] = counts[1] = 3;
  say_out("neighbor_allgatherv", MPI_Neighbor_allgatherv(in, 3, MPI_INT, out, counts, places, MPI_INT, ring));
  fill(), say_out("neighbor_alltoall", MPI_Neighbor_alltoall(in, 2, MPI_INT, out, 2, MPI_INT, ring));
  fill(), counts[0] = counts[1] = 3;
  say_out("neighbor_alltoallv", MPI_Neighbor_alltoallv(in, counts, places, MPI_INT, out, counts, places, MPI_INT, ring));
  fill(), counts[0] = counts[1] = 3;
  MPI_Aint at[2] = {0, 16};
  say_out("neighbor_alltoallw", MPI_Neighbor_alltoallw(in, counts, at, types, out, counts, at, types, ring));
  MPI_Comm_free(&ring);
}

int main(int argc, char **argv) {
  start(argc, argv);
  for (int root = 0; root < size; ++root) moving(MPI_COMM_WORLD, size, rank, root);
  moving(MPI_COMM_SELF, 1, 0, 0);
  in_place();
  reductions(MPI_SUM, "sum");
  reductions(MPI_BXOR, "xor");
  users_operations();
  nothing();
  between_groups();
  neighbours();
  MPI_Finalize();
  return 0;
}
