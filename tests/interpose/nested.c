/* SPDX-License-Identifier: Apache-2.0 */
/* Calls a wheel's OpenBLAS from members of parallel regions, from tasks, and from threads that end at once. Prints nothing
 * and exits 0 when all products are right. With `beyond`: from threads that the pool has no room for in its tables, since
 * 4096 others have used it before. usage: nested LIBRARY [beyond] */
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef SIZE
#define SIZE 128
#endif
enum { ROUNDS = 20, ROOM = 4096, SMALL_STACK = 64 << 10 };
typedef double matrix[SIZE * SIZE];

/* The wheel's integers have 64 bits. */
static void (*dgemm)(const char*, const char*, const int64_t*, const int64_t*, const int64_t*, const double*, const double*,
                     const int64_t*, const double*, const int64_t*, const double*, double*, const int64_t*);
static void (*dgesv)(const int64_t*, const int64_t*, double*, const int64_t*, int64_t*, double*, const int64_t*, int64_t*);
static matrix a, product;

static double larger(double worst, double difference) {
  if (difference < 0) difference = -difference;
  return difference > worst ? difference : worst;
}

static void check(void) {
  static const int64_t n = SIZE;
  static const double one = 1, zero = 0;
  double* c = malloc(sizeof(matrix));
  double* lu = malloc(sizeof(matrix));
  dgemm("N", "N", &n, &n, &n, &one, a, &n, a, &n, &zero, c, &n);
  double worst = 0;
  for (int i = 0; i < SIZE * SIZE; ++i) worst = larger(worst, c[i] - product[i]);
  /* a * x = a * a */
  int64_t pivots[SIZE], info = 1;
  for (int i = 0; i < SIZE * SIZE; ++i) lu[i] = a[i];
  dgesv(&n, &n, lu, &n, pivots, c, &n, &info);
  for (int i = 0; i < SIZE * SIZE; ++i) worst = larger(worst, c[i] - a[i]);
  free(c);
  free(lu);
  if (!(worst < 1e-6) || info != 0) {
    printf("off by %g, info %d\n", worst, (int)info);
    exit(1);
  }
}

static void* thread(void* argument) {
  check();
  return argument;
}

static sem_t there, over;

static void* stay(void* argument) {
#pragma omp parallel num_threads(2)
  __asm__ volatile("");
  sem_post(&there);
  while (sem_wait(&over) != 0) continue;
  return argument;
}

static void beyond(void) {
  static pthread_t ids[ROOM];
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, SMALL_STACK);
  sem_init(&there, 0, 0);
  sem_init(&over, 0, 0);
  for (int i = 0; i < ROOM; ++i) {
    if (pthread_create(&ids[i], &attributes, stay, NULL) != 0) {
      printf("no more than %d threads\n", i);
      exit(1);
    }
  }
  for (int i = 0; i < ROOM; ++i) {
    while (sem_wait(&there) != 0) continue;
  }
  for (int i = 0; i < ROUNDS; ++i) {
    pthread_t threads[2];
    for (int k = 0; k < 2; ++k) pthread_create(&threads[k], NULL, thread, NULL);
    for (int k = 0; k < 2; ++k) pthread_join(threads[k], NULL);
  }
  for (int i = 0; i < ROOM; ++i) sem_post(&over);
  for (int i = 0; i < ROOM; ++i) pthread_join(ids[i], NULL);
}

int main(int count, char** arguments) {
  void* blas = count >= 2 ? dlopen(arguments[1], RTLD_NOW) : NULL;
  if (blas == NULL) {
    printf("no library: %s\n", count >= 2 ? dlerror() : "usage: nested LIBRARY");
    return 1;
  }
  *(void**)&dgemm = dlsym(blas, "scipy_dgemm_64_");
  *(void**)&dgesv = dlsym(blas, "scipy_dgesv_64_");
  srand(1);
  for (int i = 0; i < SIZE; ++i) {
    for (int j = 0; j < SIZE; ++j) a[i * SIZE + j] = rand() / (double)RAND_MAX + (i == j ? SIZE : 0);
  }
  for (int i = 0; i < SIZE; ++i) {
    for (int j = 0; j < SIZE; ++j) {
      double sum = 0;
      for (int k = 0; k < SIZE; ++k) sum += a[k * SIZE + j] * a[i * SIZE + k];
      product[i * SIZE + j] = sum;
    }
  }

  if (count == 3 && strcmp(arguments[2], "beyond") == 0) {
    beyond();
    return 0;
  }
  check();
#pragma omp parallel
  for (int i = 0; i < ROUNDS; ++i) check();

#pragma omp parallel for schedule(dynamic)
  for (int i = 0; i < 4 * ROUNDS; ++i) check();

#pragma omp parallel num_threads(2)
#pragma omp parallel num_threads(2)
  for (int i = 0; i < ROUNDS; ++i) check();

#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 4 * ROUNDS; ++i) {
#pragma omp task
    check();
  }

  for (int i = 0; i < ROUNDS; ++i) {
    pthread_t threads[4];
    for (int k = 0; k < 4; ++k) pthread_create(&threads[k], NULL, thread, NULL);
    for (int k = 0; k < 4; ++k) pthread_join(threads[k], NULL);
  }
  return 0;
}
