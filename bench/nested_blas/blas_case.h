// SPDX-License-Identifier: Apache-2.0
// One BLAS problem: square matrices of size n, for one of five routines and four types.
#pragma once

typedef struct {
  char routine[8];  // gemm, symm, hemm, trsm, syrk
  char type;        // s, d, c, z
  char side, uplo, trans, diag;
} blas_kind;

typedef struct {
  int n;
  void *a, *b, *c;
} blas_case;

// Null when the kind exists, else what is wrong with it.
const char* blas_kind_error(const blas_kind* kind);

// Operations of one call, multiplications and additions of real numbers.
double blas_operations(const blas_kind* kind, int n);

// Fills the matrices of a case with values that follow from its size. Exits on lack of memory.
void blas_prepare(const blas_kind* kind, blas_case* problem, int n);
// Undoes what a call has changed: the matrix c.
void blas_reset(const blas_kind* kind, blas_case* problem);
void blas_release(blas_case* problem);

void blas_call(const blas_kind* kind, const blas_case* problem);

// The largest difference between the results of two equal cases, relative to the largest entry.
double blas_difference(const blas_kind* kind, const blas_case* left, const blas_case* right);
// What rounding may make of it.
double blas_tolerance(const blas_kind* kind, int n);
