// SPDX-License-Identifier: Apache-2.0
// Fault: other_pool
// Flags: -pthread
// A library with threads of its own, as many as CPUs. Between two jobs they wait in a loop, as some libraries' do, and
// take the CPUs from the region.
#define _GNU_SOURCE
#include <omp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "busy.h"

enum { ROUNDS = 12, PIECES = 200, MOST = 256 };

static long job_piece = 0;

#ifdef FIXED

// The library does its job by OpenMP, without threads of its own.
static int parts = 0;
static void start_pool(int threads) { parts = threads; }
static void end_pool(void) {}
static double product(void) {
  double sum = 0;
#pragma omp parallel for schedule(dynamic) reduction(+ : sum)
  for (int i = 0; i < parts; ++i) sum += work(job_piece);
  return sum;
}

#else

static atomic_int jobs;  // that were begun
static atomic_int done;  // parts, by all threads of the pool together
static atomic_bool ends;
static pthread_t pool[MOST];
static int pool_size = 0;

static void* do_jobs(void* unused) {
  (void)unused;
  int seen = 0;
  while (!atomic_load(&ends)) {
    if (atomic_load(&jobs) == seen) continue;
    ++seen;
    work(job_piece);
    atomic_fetch_add(&done, 1);
  }
  return NULL;
}

static void start_pool(int threads) {
  pool_size = threads < MOST ? threads : MOST;
  for (int i = 0; i < pool_size; ++i) {
    pthread_create(&pool[i], NULL, do_jobs, NULL);
    pthread_setname_np(pool[i], "otherpool");
  }
}

static void end_pool(void) {
  atomic_store(&ends, true);
  for (int i = 0; i < pool_size; ++i) pthread_join(pool[i], NULL);
}

// Each thread of the pool does its part, and the caller waits.
static double product(void) {
  const int all = atomic_load(&done) + pool_size;
  atomic_fetch_add(&jobs, 1);
  while (atomic_load(&done) < all) {
  }
  return pool_size;
}

#endif

int main(void) {
  calibrate();
  job_piece = steps_of(1e3);
  const int threads = omp_get_num_procs();
  start_pool(threads);
  const long piece = steps_of(100e3 * threads / PIECES);
  double sum = 0;
  for (int round = 0; round < ROUNDS; ++round) {
    sum += product();
#pragma omp parallel for schedule(dynamic) reduction(+ : sum)  // PLANTED
    for (int i = 0; i < PIECES; ++i) sum += work(piece);
  }
  end_pool();
  return print_checksum(sum);
}
