// SPDX-License-Identifier: Apache-2.0
#include "nested_blas/blas_case.h"

#include <cblas.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int is_complex(const blas_kind* kind) { return kind->type == 'c' || kind->type == 'z'; }
static int is_double(const blas_kind* kind) { return kind->type == 'd' || kind->type == 'z'; }
static size_t real_size(const blas_kind* kind) { return is_double(kind) ? sizeof(double) : sizeof(float); }
static size_t entry_size(const blas_kind* kind) { return real_size(kind) * (is_complex(kind) ? 2 : 1); }

const char* blas_kind_error(const blas_kind* kind) {
  static const char* const routines[] = {"gemm", "symm", "hemm", "trsm", "syrk"};
  int known = 0;
  for (size_t i = 0; i < sizeof routines / sizeof *routines; i++) known |= strcmp(kind->routine, routines[i]) == 0;
  if (!known) return "--routine is gemm, symm, hemm, trsm or syrk";
  if (!strchr("sdcz", kind->type)) return "--type is s, d, c or z";
  if (strcmp(kind->routine, "hemm") == 0 && !is_complex(kind)) return "--routine hemm has types c and z only";
  if (!strchr("LR", kind->side)) return "--side is L or R";
  if (!strchr("UL", kind->uplo)) return "--uplo is U or L";
  if (!strchr("NT", kind->trans)) return "--trans is N or T";
  if (!strchr("NU", kind->diag)) return "--diag is N or U";
  return NULL;
}

double blas_operations(const blas_kind* kind, int n) {
  const double cube = (double)n * n * n;
  const double real = strcmp(kind->routine, "trsm") == 0 || strcmp(kind->routine, "syrk") == 0 ? cube : 2 * cube;
  return is_complex(kind) ? 4 * real : real;
}

static void fill(const blas_kind* kind, void* matrix, int n, unsigned seed) {
  const size_t count = (size_t)n * (size_t)n * (is_complex(kind) ? 2 : 1);
  for (size_t i = 0; i < count; i++) {
    seed = seed * 1664525u + 1013904223u;
    const double value = (double)(seed >> 8) / (1 << 24) - 0.5;
    if (is_double(kind))
      ((double*)matrix)[i] = value;
    else
      ((float*)matrix)[i] = (float)value;
  }
}

// A triangle that is solved with gets a diagonal of ones and small entries beside it, so that solving neither overflows
// nor loses digits, with --diag U as well as N.
static void make_solvable(const blas_kind* kind, void* matrix, int n) {
  const size_t width = is_complex(kind) ? 2 : 1, entries = (size_t)n * (size_t)n * width;
  for (size_t i = 0; i < entries; i++) {
    const int diagonal = i / width % ((size_t)n + 1) == 0;
    const double scale = 1.0 / n, one = diagonal && i % width == 0;
    if (is_double(kind))
      ((double*)matrix)[i] = ((double*)matrix)[i] * scale * !diagonal + one;
    else
      ((float*)matrix)[i] = ((float*)matrix)[i] * (float)scale * (float)!diagonal + (float)one;
  }
}

static void* allocate(size_t size) {
  void* memory = aligned_alloc(64, (size + 63) / 64 * 64);
  if (memory) return memory;
  fprintf(stderr, "nested_blas: no memory for a matrix of %zu bytes\n", size);
  exit(1);
}

void blas_prepare(const blas_kind* kind, blas_case* problem, int n) {
  const size_t size = (size_t)n * (size_t)n * entry_size(kind);
  problem->n = n;
  problem->a = allocate(size);
  problem->b = allocate(size);
  problem->c = allocate(size);
  fill(kind, problem->a, n, 1);
  fill(kind, problem->b, n, 2);
  if (strcmp(kind->routine, "trsm") == 0) make_solvable(kind, problem->a, n);
  blas_reset(kind, problem);
}

void blas_reset(const blas_kind* kind, blas_case* problem) { fill(kind, problem->c, problem->n, 3); }

void blas_release(blas_case* problem) {
  free(problem->a);
  free(problem->b);
  free(problem->c);
}

#define CALLS_OF_TYPE(x, SCALAR)                                                                          \
  static void call_##x(const blas_kind* kind, const blas_case* p) {                                       \
    const enum CBLAS_SIDE side = kind->side == 'L' ? CblasLeft : CblasRight;                              \
    const enum CBLAS_UPLO uplo = kind->uplo == 'U' ? CblasUpper : CblasLower;                             \
    const enum CBLAS_TRANSPOSE trans = kind->trans == 'N' ? CblasNoTrans : CblasTrans;                    \
    const enum CBLAS_DIAG diag = kind->diag == 'N' ? CblasNonUnit : CblasUnit;                            \
    const int n = p->n;                                                                                   \
    SCALAR;                                                                                               \
    if (strcmp(kind->routine, "gemm") == 0)                                                               \
      cblas_##x##gemm(CblasColMajor, trans, CblasNoTrans, n, n, n, one, p->a, n, p->b, n, zero, p->c, n); \
    else if (strcmp(kind->routine, "symm") == 0)                                                          \
      cblas_##x##symm(CblasColMajor, side, uplo, n, n, one, p->a, n, p->b, n, zero, p->c, n);             \
    else if (strcmp(kind->routine, "trsm") == 0)                                                          \
      cblas_##x##trsm(CblasColMajor, side, uplo, trans, diag, n, n, one, p->a, n, p->c, n);               \
    else if (strcmp(kind->routine, "syrk") == 0)                                                          \
      cblas_##x##syrk(CblasColMajor, uplo, trans, n, n, one, p->a, n, zero, p->c, n);                     \
    else                                                                                                  \
      call_hemm(kind, p, side, uplo);                                                                     \
  }

static void call_hemm(const blas_kind* kind, const blas_case* p, enum CBLAS_SIDE side, enum CBLAS_UPLO uplo) {
  const float one_c[2] = {1, 0}, zero_c[2] = {0, 0};
  const double one_z[2] = {1, 0}, zero_z[2] = {0, 0};
  if (kind->type == 'c')
    cblas_chemm(CblasColMajor, side, uplo, p->n, p->n, one_c, p->a, p->n, p->b, p->n, zero_c, p->c, p->n);
  else
    cblas_zhemm(CblasColMajor, side, uplo, p->n, p->n, one_z, p->a, p->n, p->b, p->n, zero_z, p->c, p->n);
}

CALLS_OF_TYPE(s, const float one = 1; const float zero = 0)
CALLS_OF_TYPE(d, const double one = 1; const double zero = 0)
CALLS_OF_TYPE(c, const float one[2] = {1}; const float zero[2] = {0})
CALLS_OF_TYPE(z, const double one[2] = {1}; const double zero[2] = {0})

void blas_call(const blas_kind* kind, const blas_case* problem) {
  switch (kind->type) {
    case 's': call_s(kind, problem); break;
    case 'd': call_d(kind, problem); break;
    case 'c': call_c(kind, problem); break;
    default: call_z(kind, problem);
  }
}

double blas_difference(const blas_kind* kind, const blas_case* left, const blas_case* right) {
  const size_t count = (size_t)left->n * (size_t)left->n * (is_complex(kind) ? 2 : 1);
  double largest = 0, difference = 0;
  for (size_t i = 0; i < count; i++) {
    const double l = is_double(kind) ? ((double*)left->c)[i] : ((float*)left->c)[i];
    const double r = is_double(kind) ? ((double*)right->c)[i] : ((float*)right->c)[i];
    if (isnan(l) || isnan(r)) return INFINITY;
    largest = fmax(largest, fabs(r));
    difference = fmax(difference, fabs(l - r));
  }
  return largest > 0 ? difference / largest : difference;
}

double blas_tolerance(const blas_kind* kind, int n) { return (is_double(kind) ? 1e-15 : 1e-6) * 8 * sqrt(n) + 1e-30; }
