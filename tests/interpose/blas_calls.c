/* SPDX-License-Identifier: Apache-2.0 */
/* Calls any build of OpenBLAS, whatever its names and integers are: from threads, from a parallel region, and with twice
 * as many threads as there are CPUs. Prints the library's configuration, and exits 0 when all results are right.
 * usage: blas_calls LIBRARY CPUS ROUNDS */
#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIZE = 320, THREADS = 4 };
typedef double matrix[SIZE * SIZE];
/* Of 64 bits: a library whose integers have 32 reads the lower halves. */
typedef int64_t integer;

static void* library;
static int integers_have_64_bits, rounds;

static void (*dgemm)(const char*, const char*, const integer*, const integer*, const integer*, const double*, const double*,
                     const integer*, const double*, const integer*, const double*, double*, const integer*);
static void (*dsymm)(const char*, const char*, const integer*, const integer*, const double*, const double*, const integer*,
                     const double*, const integer*, const double*, double*, const integer*);
static void (*dgetrf)(const integer*, const integer*, double*, const integer*, void*, integer*);
static void (*dpotrf)(const char*, const integer*, double*, const integer*, integer*);

/* The function of that name, with what builders put before and behind it. `fortran`: it ends with an underscore. */
static void* find(const char* name, int fortran) {
  static const char* const before[] = {"", "scipy_"};
  static const char* const behind[2][3] = {{"", "64_", "_64"}, {"_", "_64_", "64_"}};
  for (int i = 0; i < 2; ++i) {
    for (int k = 0; k < 3; ++k) {
      char full[64];
      snprintf(full, sizeof full, "%s%s%s", before[i], name, behind[fortran][k]);
      void* found = dlsym(library, full);
      if (found != NULL) return found;
    }
  }
  printf("no %s\n", name);
  exit(1);
}

static const double one = 1, zero = 0;
static const integer n = SIZE;
static matrix a, symmetric;

static void times(const double* m, const double* x, double* y) {
  for (int i = 0; i < SIZE; ++i) y[i] = 0;
  for (int j = 0; j < SIZE; ++j) {
    for (int i = 0; i < SIZE; ++i) y[i] += m[j * SIZE + i] * x[j];
  }
}

/* The triangle below the diagonal, with ones on it or with its own; and the one above. */
static void times_lower(const double* m, int ones, const double* x, double* y) {
  for (int i = 0; i < SIZE; ++i) {
    y[i] = ones ? x[i] : 0;
    for (int j = 0; j < (ones ? i : i + 1); ++j) y[i] += m[j * SIZE + i] * x[j];
  }
}
static void times_upper(const double* m, int transposed_lower, const double* x, double* y) {
  for (int i = 0; i < SIZE; ++i) {
    y[i] = 0;
    for (int j = i; j < SIZE; ++j) y[i] += (transposed_lower ? m[i * SIZE + j] : m[j * SIZE + i]) * x[j];
  }
}

static void compare(const char* what, const double* got, const double* expected, integer info) {
  double worst = 0, scale = 1;
  for (int i = 0; i < SIZE; ++i) {
    const double difference = fabs(got[i] - expected[i]);
    if (!(difference <= worst)) worst = difference;
    if (fabs(expected[i]) > scale) scale = fabs(expected[i]);
  }
  if (worst <= 1e-10 * scale && (int)info == 0) return;
  printf("%s is off by %g of %g, info %d\n", what, worst, scale, (int)info);
  fflush(stdout);
  _Exit(1);
}

static void check(void) {
  double* m = malloc(sizeof(matrix));
  double x[SIZE], y[SIZE], z[SIZE], expected[SIZE];
  for (int i = 0; i < SIZE; ++i) x[i] = 1.0 / (1 + i % 7);
  integer info = 0;

  dgemm("N", "N", &n, &n, &n, &one, a, &n, symmetric, &n, &zero, m, &n);
  times(symmetric, x, y), times(a, y, expected), times(m, x, z);
  compare("dgemm", z, expected, 0);

  dsymm("L", "U", &n, &n, &one, symmetric, &n, a, &n, &zero, m, &n);
  times(a, x, y), times(symmetric, y, expected), times(m, x, z);
  compare("dsymm", z, expected, 0);

  union {
    int32_t narrow[SIZE];
    int64_t wide[SIZE];
  } pivots;
  memcpy(m, a, sizeof a);
  dgetrf(&n, &n, m, &n, &pivots, &info);
  times_upper(m, 0, x, y), times_lower(m, 1, y, z);
  times(a, x, expected);
  for (int i = 0; i < SIZE; ++i) {
    const int other = (int)(integers_have_64_bits ? pivots.wide[i] : pivots.narrow[i]) - 1;
    const double kept = expected[i];
    expected[i] = expected[other], expected[other] = kept;
  }
  compare("dgetrf", z, expected, info);

  memcpy(m, symmetric, sizeof symmetric);
  dpotrf("L", &n, m, &n, &info);
  times_upper(m, 1, x, y), times_lower(m, 0, y, z);
  times(symmetric, x, expected);
  compare("dpotrf", z, expected, info);
  free(m);
}

static void* thread(void* argument) {
  for (int i = 0; i < rounds; ++i) check();
  return argument;
}

static void all_ways(void) {
  for (int i = 0; i < rounds; ++i) check();
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; ++i) pthread_create(&threads[i], NULL, thread, NULL);
  for (int i = 0; i < THREADS; ++i) pthread_join(threads[i], NULL);
#pragma omp parallel num_threads(2)
  thread(NULL);
}

int main(int count, char** arguments) {
  library = count == 4 ? dlopen(arguments[1], RTLD_NOW) : NULL;
  if (library == NULL) {
    printf("no library: %s\n", count == 4 ? dlerror() : "usage: blas_calls LIBRARY CPUS ROUNDS");
    return 2;
  }
  const int twice = 2 * atoi(arguments[2]);
  rounds = atoi(arguments[3]);
  const char* (*configuration)(void);
  int (*get_threads)(void);
  void (*set_threads)(int);
  *(void**)&configuration = find("openblas_get_config", 0);
  *(void**)&get_threads = find("openblas_get_num_threads", 0);
  *(void**)&set_threads = find("openblas_set_num_threads", 0);
  *(void**)&dgemm = find("dgemm", 1);
  *(void**)&dsymm = find("dsymm", 1);
  *(void**)&dgetrf = find("dgetrf", 1);
  *(void**)&dpotrf = find("dpotrf", 1);
  integers_have_64_bits = strstr(configuration(), "USE64BITINT") != NULL;
  printf("%s\n", configuration());
  fflush(stdout);

  srand(1);
  for (int i = 0; i < SIZE; ++i) {
    for (int j = 0; j <= i; ++j) {
      a[i * SIZE + j] = rand() / (double)RAND_MAX;
      a[j * SIZE + i] = rand() / (double)RAND_MAX;
      symmetric[i * SIZE + j] = symmetric[j * SIZE + i] = rand() / (double)RAND_MAX + (i == j ? SIZE : 0);
    }
  }
  all_ways();
  set_threads(twice);
  if (get_threads() != twice) {
    printf("%d threads, not %d\n", get_threads(), twice);
    return 1;
  }
  all_ways();
  return 0;
}
