// SPDX-License-Identifier: Apache-2.0
// Operations of MPI and of the user on types without gaps and with them; order of ranks; the same bits on all ranks.
#include <math.h>
#include <stdint.h>

#include "check.h"

static void predefined(int count) {
#define TRY(ctype, type, op, init, fold)                                              \
  do {                                                                                \
    ctype* in = malloc(sizeof(ctype) * count);                                        \
    ctype* out = malloc(sizeof(ctype) * count);                                       \
    for (int i = 0; i < count; ++i) in[i] = (ctype)((check_rank * 7 + i * 3) % 5 + 1); \
    MPI_Allreduce(in, out, count, type, op, MPI_COMM_WORLD);                          \
    for (int i = 0; i < count; ++i) {                                                 \
      ctype a = (ctype)init;                                                          \
      for (int r = 0; r < check_size; ++r) {                                          \
        const ctype b = (ctype)((r * 7 + i * 3) % 5 + 1);                             \
        a = (ctype)(fold);                                                            \
      }                                                                               \
      CHECK(out[i] == a, #op " of " #type ", %d elements: element %d", count, i);     \
    }                                                                                 \
    free(in);                                                                         \
    free(out);                                                                        \
  } while (0)
  TRY(int, MPI_INT, MPI_SUM, 0, a + b);
  TRY(int, MPI_INT, MPI_MAX, 0, a > b ? a : b);
  TRY(int, MPI_INT, MPI_MIN, 99, a < b ? a : b);
  TRY(int, MPI_INT, MPI_BXOR, 0, a ^ b);
  TRY(int, MPI_INT, MPI_LAND, 1, a && b);
  TRY(unsigned char, MPI_UNSIGNED_CHAR, MPI_BOR, 0, a | b);
  TRY(short, MPI_SHORT, MPI_SUM, 0, a + b);
  TRY(int64_t, MPI_INT64_T, MPI_PROD, 1, a * b);
  TRY(float, MPI_FLOAT, MPI_SUM, 0, a + b);
  TRY(double, MPI_DOUBLE, MPI_PROD, 1, a * b);
  TRY(long double, MPI_LONG_DOUBLE, MPI_SUM, 0, a + b);
}

static void locations(int count) {
  struct pair {
    double value;
    int at;
  }* in = calloc(count, sizeof *in), *out = calloc(count, sizeof *out);
  for (int i = 0; i < count; ++i) in[i].value = (check_rank + i) % check_size, in[i].at = check_rank;
  MPI_Allreduce(in, out, count, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD);
  for (int i = 0; i < count; ++i) {
    CHECK(out[i].value == check_size - 1 && (out[i].at + i) % check_size == check_size - 1, "MAXLOC at %d", i);
  }
  int(*in2)[2] = calloc(count, sizeof *in2), (*out2)[2] = calloc(count, sizeof *out2);
  for (int i = 0; i < count; ++i) in2[i][0] = (check_rank + i) % check_size, in2[i][1] = check_rank;
  MPI_Allreduce(in2, out2, count, MPI_2INT, MPI_MINLOC, MPI_COMM_WORLD);
  for (int i = 0; i < count; ++i) CHECK(out2[i][0] == 0 && (out2[i][1] + i) % check_size == 0, "MINLOC at %d", i);
  free(in), free(out), free(in2), free(out2);
}

// Not commutative: x is 2^n times as much as what is behind it. Exact up to 8 ranks.
struct affine {
  int64_t a, b;
};
static int g_calls;
static void compose(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)type;
  ++g_calls;
  const struct affine* f = in;
  struct affine* g = inout;
  // First f, then g.
  for (int i = 0; i < *count; ++i) g[i] = (struct affine){f[i].a * g[i].a, g[i].a * f[i].b + g[i].b};
}
// The same on elements of 24 bytes, of which 16 count.
struct wide {
  struct affine of;
  int64_t gap;
};
static void compose_wide(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)type;
  const struct wide* f = in;
  struct wide* g = inout;
  for (int i = 0; i < *count; ++i) {
    g[i].of = (struct affine){f[i].of.a * g[i].of.a, g[i].of.a * f[i].of.b + g[i].of.b};
  }
}

static struct affine of_rank(int rank, int at) { return (struct affine){2 + (rank + at) % 2, rank + 3 * at % 7}; }
static struct affine expected(int at) {
  struct affine all = of_rank(0, at);
  for (int r = 1; r < check_size; ++r) {
    const struct affine next = of_rank(r, at);
    all = (struct affine){all.a * next.a, next.a * all.b + next.b};
  }
  return all;
}

static void of_the_user(int count) {
  MPI_Datatype pair, padded, between;
  MPI_Op op, op_wide;
  MPI_Type_contiguous(2, MPI_INT64_T, &pair);
  MPI_Type_commit(&pair);
  MPI_Type_create_resized(pair, 0, sizeof(struct wide), &padded);
  MPI_Type_commit(&padded);
  (void)between;
  MPI_Op_create(compose, 0, &op);
  MPI_Op_create(compose_wide, 0, &op_wide);
  struct affine* in = calloc(count, sizeof *in);
  struct affine* out = calloc(count, sizeof *out);
  struct wide* in_wide = calloc(count, sizeof *in_wide);
  struct wide* out_wide = calloc(count, sizeof *out_wide);
  for (int i = 0; i < count; ++i) in[i] = in_wide[i].of = of_rank(check_rank, i), out_wide[i].gap = 77;
  for (int root = 0; root < check_size; ++root) {
    memset(out, 0, sizeof *out * count);
    MPI_Reduce(in, out, count, pair, op, root, MPI_COMM_WORLD);
    for (int i = 0; check_rank == root && i < count; ++i) {
      CHECK(out[i].a == expected(i).a && out[i].b == expected(i).b, "order of ranks in reduce: element %d", i);
    }
    MPI_Reduce(in_wide, out_wide, count, padded, op_wide, root, MPI_COMM_WORLD);
    for (int i = 0; check_rank == root && i < count; ++i) {
      CHECK(out_wide[i].of.a == expected(i).a && out_wide[i].of.b == expected(i).b && out_wide[i].gap == 77,
            "with gaps: element %d", i);
    }
  }
  MPI_Allreduce(in, out, count, pair, op, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, in, count, pair, op, MPI_COMM_WORLD);
  for (int i = 0; i < count; ++i) {
    CHECK(out[i].a == expected(i).a && out[i].b == expected(i).b, "order of ranks in allreduce: element %d", i);
    CHECK(in[i].a == expected(i).a && in[i].b == expected(i).b, "in place: element %d", i);
  }
  MPI_Op_free(&op);
  MPI_Op_free(&op_wide);
  MPI_Type_free(&pair);
  MPI_Type_free(&padded);
  free(in), free(out), free(in_wide), free(out_wide);
}

// Sums that depend on their order: all ranks have the same bits, in each run.
static void same_bits(int count) {
  double* in = malloc(sizeof(double) * count);
  double* first = malloc(sizeof(double) * count);
  double* again = malloc(sizeof(double) * count);
  for (int i = 0; i < count; ++i) in[i] = pow(-1.0, check_rank) * (1e16 / (check_rank + 1) + i * 0.1);
  MPI_Allreduce(in, first, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int repeat = 0; repeat < 5; ++repeat) {
    MPI_Allreduce(in, again, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    CHECK(memcmp(first, again, sizeof(double) * count) == 0, "other bits than before");
  }
  memcpy(again, first, sizeof(double) * count);
  MPI_Bcast(again, count, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  CHECK(memcmp(first, again, sizeof(double) * count) == 0, "other bits than on rank 0");
  free(in), free(first), free(again);
}

int main(int count, char** arguments) {
  static const int kCounts[] = {1, 2, 5, 33, 700, 4096, 20000};
  MPI_Init(&count, &arguments);
  check_begin();
  for (int repeat = 0; repeat < 2; ++repeat) {
    for (size_t i = 0; i < sizeof kCounts / sizeof *kCounts; ++i) {
      predefined(kCounts[i]);
      locations(kCounts[i]);
      of_the_user(kCounts[i]);
      same_bits(kCounts[i]);
    }
  }
  CHECK(g_calls > 0, "the user's function was never called");
  return check_end();
}
