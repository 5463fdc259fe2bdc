// SPDX-License-Identifier: Apache-2.0
// Single calls of BLAS and LAPACK outside of any region, as most programs make them: many are so short that fork and
// join of the library's region decide. The program is built twice: with -llapack -lblas, which in Debian are two more
// libraries in front of OpenBLAS that ask the runtime too, and with -lopenblas.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/measure.h"

// What Fortran and C see of the libraries; written out, since the headers differ from one implementation to another.
void dgemv_(const char* trans, const int* m, const int* n, const double* alpha, const double* a, const int* lda,
            const double* x, const int* incx, const double* beta, double* y, const int* incy);
void dger_(const int* m, const int* n, const double* alpha, const double* x, const int* incx, const double* y,
           const int* incy, double* a, const int* lda);
void dsymv_(const char* uplo, const int* n, const double* alpha, const double* a, const int* lda, const double* x,
            const int* incx, const double* beta, double* y, const int* incy);
void dgemm_(const char* transa, const char* transb, const int* m, const int* n, const int* k, const double* alpha,
            const double* a, const int* lda, const double* b, const int* ldb, const double* beta, double* c,
            const int* ldc);
void cblas_dgemv(int order, int trans, int m, int n, double alpha, const double* a, int lda, const double* x, int incx,
                 double beta, double* y, int incy);
void dgeqrf_(const int* m, const int* n, double* a, const int* lda, double* tau, double* work, const int* lwork,
             int* info);
void dgetrf_(const int* m, const int* n, double* a, const int* lda, int* pivots, int* info);
void dpotrf_(const char* uplo, const int* n, double* a, const int* lda, int* info);
void dgesdd_(const char* jobz, const int* m, const int* n, double* a, const int* lda, double* s, double* u,
             const int* ldu, double* vt, const int* ldvt, double* work, const int* lwork, int* iwork, int* info);
void dsyev_(const char* jobz, const char* uplo, const int* n, double* a, const int* lda, double* w, double* work,
            const int* lwork, int* info);
void dgeev_(const char* jobvl, const char* jobvr, const int* n, double* a, const int* lda, double* wr, double* wi,
            double* vl, const int* ldvl, double* vr, const int* ldvr, double* work, const int* lwork, int* info);

static int n, room;
static double *source, *a, *c, *x, *y, *z, *scratch;
static int* integers;
static const int one = 1;
static const double d0 = 0, d1 = 1, tiny = 1e-9;

// Where a vector lies in its cache lines decides whether two threads share the one in its middle: that must not depend
// on what else has been allocated, such as by a runtime's start.
static void* allocate(size_t count, size_t size) {
  const size_t line = 64;
  const size_t bytes = (count * size + line - 1) / line * line;
  void* memory = aligned_alloc(line, bytes);
  if (memory) return memset(memory, 0, bytes);
  fprintf(stderr, "blas_calls: no memory for matrices of order %d\n", n);
  exit(1);
}

static void prepare(int order) {
  if (n == order) return;
  n = order;
  room = 8 * n * n + 64 * n;
  const size_t entries = (size_t)n * (size_t)n;
  // Of the last order, if there was one; few, so they stay.
  source = allocate(entries, sizeof(double));
  a = allocate(entries, sizeof(double));
  c = allocate(entries, sizeof(double));
  x = allocate((size_t)n, sizeof(double));
  y = allocate((size_t)n, sizeof(double));
  z = allocate((size_t)n, sizeof(double));
  scratch = allocate((size_t)room, sizeof(double));
  integers = allocate(8 * (size_t)n, sizeof(int));
  unsigned state = 1;
  for (size_t i = 0; i < entries; i++) source[i] = (state = state * 1664525u + 1013904223u) * 0x1p-32 - 0.5;
  for (int i = 0; i < n; i++) source[(size_t)i * ((size_t)n + 1)] += n;  // positive definite
  memcpy(a, source, entries * sizeof(double));
  for (int i = 0; i < n; i++) x[i] = 1.0 / (i + 1);
}

static void restore(void) { memcpy(a, source, (size_t)n * (size_t)n * sizeof(double)); }

static int call_gemv(void) { return dgemv_("N", &n, &n, &d1, a, &n, x, &one, &d0, y, &one), 0; }
static int call_gemv_t(void) { return dgemv_("T", &n, &n, &d1, a, &n, x, &one, &d0, y, &one), 0; }
static int call_cblas_gemv(void) { return cblas_dgemv(102, 111, n, n, 1, a, n, x, 1, 0, y, 1), 0; }
static int call_ger(void) { return dger_(&n, &n, &tiny, x, &one, y, &one, a, &n), 0; }
static int call_symv(void) { return dsymv_("L", &n, &d1, a, &n, x, &one, &d0, y, &one), 0; }
static int call_gemm(void) { return dgemm_("N", "N", &n, &n, &n, &d1, a, &n, source, &n, &d0, c, &n), 0; }

static int call_geqrf(void) {
  int info = 0;
  restore();
  dgeqrf_(&n, &n, a, &n, z, scratch, &room, &info);
  return info;
}

static int call_getrf(void) {
  int info = 0;
  restore();
  dgetrf_(&n, &n, a, &n, integers, &info);
  return info;
}

static int call_potrf(void) {
  int info = 0;
  restore();
  dpotrf_("L", &n, a, &n, &info);
  return info;
}

static int call_gesdd(void) {
  int info = 0;
  restore();
  dgesdd_("N", &n, &n, a, &n, z, NULL, &one, NULL, &one, scratch, &room, integers, &info);
  return info;
}

static int call_syev(void) {
  int info = 0;
  restore();
  dsyev_("V", "L", &n, a, &n, z, scratch, &room, &info);
  return info;
}

static int call_geev(void) {
  int info = 0;
  restore();
  dgeev_("N", "N", &n, a, &n, y, z, NULL, &one, NULL, &one, scratch, &room, &info);
  return info;
}

static int (*const calls[])(void) = {call_gemv,  call_gemv_t, call_cblas_gemv, call_ger,   call_symv, call_gemm,
                                     call_geqrf, call_getrf,  call_potrf,      call_gesdd, call_syev, call_geev};
enum { gemv, gemv_t, cblas_gemv, ger, symv, gemm, geqrf, getrf, potrf, gesdd, syev, geev };

static double run(const measurement* self, long count) {
  prepare(self->b);
  int info = 0;
  const double start = now();
  for (long i = 0; i < count && info == 0; i++) info = calls[self->a]();
  const double seconds = now() - start;
  if (info == 0) return seconds;
  fprintf(stderr, "blas_calls: %s returned %d\n", self->name, info);
  exit(1);
}

#define CALL(ROUTINE, N) {.name = #ROUTINE "_" #N, .run = run, .a = ROUTINE, .b = N}

int main(int argument_count, char** arguments) {
  static const measurement measurements[] = {
      CALL(gemv, 100),  CALL(gemv, 150),  CALL(gemv, 400),  CALL(gemv_t, 200), CALL(cblas_gemv, 150),
      CALL(ger, 100),   CALL(ger, 200),   CALL(ger, 400),   CALL(symv, 200),   CALL(gemm, 60),
      CALL(gemm, 200),  CALL(geqrf, 100), CALL(geqrf, 300), CALL(geqrf, 600),  CALL(getrf, 300),
      CALL(potrf, 300), CALL(gesdd, 200), CALL(syev, 200),  CALL(geev, 200),   {0}};
  return measure_family(argument_count, arguments, "blas_calls", measurements);
}
