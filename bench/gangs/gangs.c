// SPDX-License-Identifier: Apache-2.0
// A product by a BLAS that has been told a number of threads, called from several places of a program: milliseconds that
// all calls take. usage: gangs LIBRARY PLACE THREADS, where PLACE is flat, region, task or threads.
//
// Members of such a library wait for each other. With more of them than CPUs, most runtimes take long, or do not end.
#include <dlfcn.h>
#include <omp.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "common/report.h"

enum { order = 300, calls = 20, callers = 2, tasks = 4, threads = 8, most_callers = 8, samples = 5 };

typedef void gemm(const char* transa, const char* transb, const int* m, const int* n, const int* k, const double* alpha,
                  const double* a, const int* lda, const double* b, const int* ldb, const double* beta, double* c,
                  const int* ldc);
static gemm* dgemm;
static double *a, *b;
static double sums[most_callers];

_Noreturn static void fail(const char* what, const char* name) {
  fprintf(stderr, "gangs: %s: %s\n", name, what);
  exit(1);
}

static double* matrix(void) {
  double* made = calloc((size_t)order * order, sizeof *made);
  if (!made) fail("no memory", "matrix");
  return made;
}

// What one caller does. Its own sum says whether the products are right.
static void call(int caller) {
  const int n = order;
  const double one = 1, zero = 0;
  double* c = matrix();
  for (int i = 0; i < calls; i++) dgemm("N", "N", &n, &n, &n, &one, a, &n, b, &n, &zero, c, &n);
  double sum = 0;
  for (int i = 0; i < order * order; i++) sum += c[i] * (i % 7 + 1);
  sums[caller] = sum;
  free(c);
}

static void* thread(void* caller) {
  call((int)(size_t)caller);
  return NULL;
}

static int flat(void) {
  call(0);
  return 1;
}

static int region(void) {
#pragma omp parallel num_threads(callers)
  call(omp_get_thread_num());
  return callers;
}

static int task(void) {
#pragma omp parallel num_threads(callers)
#pragma omp single
  for (int i = 0; i < tasks; i++) {
#pragma omp task
    call(i);
  }
  return tasks;
}

static int in_threads(void) {
  pthread_t ids[threads];
  for (int i = 0; i < threads; i++) {
    if (pthread_create(&ids[i], NULL, thread, (void*)(size_t)i) != 0) fail("cannot be made", "thread");
  }
  for (int i = 0; i < threads; i++) pthread_join(ids[i], NULL);
  return threads;
}

// OpenBLAS; others have read it in a variable.
static void tell(void* library, int number) {
  void (*openblas)(int);
  *(void**)&openblas = dlsym(library, "openblas_set_num_threads");
  if (openblas) openblas(number);
}

int main(int argument_count, char** arguments) {
  static const struct {
    const char* name;
    int (*run)(void);
  } places[] = {{"flat", flat}, {"region", region}, {"task", task}, {"threads", in_threads}};
  if (argument_count != 4) fail("usage: gangs LIBRARY PLACE THREADS", "arguments");
  int (*run)(void) = NULL;
  for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
    if (strcmp(places[i].name, arguments[2]) == 0) run = places[i].run;
  }
  if (!run) fail("flat, region, task or threads", arguments[2]);
  void* library = dlopen(arguments[1], RTLD_NOW | RTLD_GLOBAL);
  if (!library) fail(dlerror(), arguments[1]);
  *(void**)&dgemm = dlsym(library, "dgemm_");
  if (!dgemm) fail("has no dgemm_", arguments[1]);
  a = matrix(), b = matrix();
  for (int i = 0; i < order * order; i++) a[i] = i * 7 % 101 - 50, b[i] = i * 13 % 97 - 48;

  tell(library, atoi(arguments[3]));
  double times[samples];
  double sum = 0;
  for (int i = 0; i < samples; i++) {
    const double begin = now();
    const int used = run();
    times[i] = 1e3 * (now() - begin);
    // The entries are integers, so that the sum does not depend on how a product is divided.
    for (int k = 0; k < used; k++) {
      if (sum == 0) sum = sums[k];
      if (sums[k] != sum) fail("wrong product", arguments[1]);
    }
  }
  begin_report();
  report_samples("product", "ms", times, samples);
  end_report();
  return 0;
}
