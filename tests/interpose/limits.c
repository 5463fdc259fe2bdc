/* SPDX-License-Identifier: Apache-2.0 */
/* Who is told which number of threads by a wheel's OpenBLAS, when several threads set it. Prints what is wrong, and exits 0
 * when nothing is. usage: limits LIBRARY */
#include <dlfcn.h>
#include <omp.h>
#include <pthread.h>
#include <stdio.h>

static void (*set)(int);
static int (*get)(void);
static int wrong;

static void expect(int threads, const char* whom) {
  const int told = get();
  if (told == threads) return;
#pragma omp atomic
  ++wrong;
  printf("%s: %d, not %d\n", whom, told, threads);
}

static void members(void) {
#pragma omp parallel num_threads(2)
  {
    expect(4, "a member");
    const int own = 2 + omp_get_thread_num();
    set(own);
#pragma omp barrier
    expect(own, "a member that has set its own");
#pragma omp parallel num_threads(2)
    {
      expect(own, "a member of its region");
      set(1);
      expect(1, "a member of its region that has set its own");
    }
    expect(own, "a member after its region");
#pragma omp barrier
  }
  expect(4, "the initial thread after the region");
}

/* One after the other, of one size, so that the team of one serves again. */
static void regions(void) {
  for (int threads = 1; threads < 4; ++threads) {
    set(threads);
#pragma omp parallel num_threads(2)
    expect(threads, "a member of a thread that has set its own");
  }
  set(4);
#pragma omp parallel num_threads(2)
  expect(4, "a member of a thread that has put back what it was told");
}

static pthread_barrier_t steps;
static void step(void) { pthread_barrier_wait(&steps); }

static void* other(void* argument) {
  expect(4, "another thread");
  set(1);
  expect(1, "another thread that has set its own");
  step(), step();
  expect(1, "another thread, whatever the initial one sets");
  set(4);
  expect(3, "another thread that has put back what it was told");
  step(), step();
  expect(4, "another thread that has none of its own");
  regions();
  set(8);
  expect(8, "another thread that has raised the limit");
#pragma omp parallel num_threads(2)
  {
    expect(8, "a member of a thread that has raised the limit");
#pragma omp barrier
    if (omp_get_thread_num() == 1) set(1);
#pragma omp barrier
    expect(omp_get_thread_num() == 1 ? 1 : 8, "a member beside one that has set its own");
  }
  expect(8, "another thread after a region in which a member has set its own");
  step(), step();
  set(4);
  step();
  return argument;
}

static void threads(void) {
  pthread_t thread;
  pthread_barrier_init(&steps, NULL, 2);
  pthread_create(&thread, NULL, other, NULL);
  step();
  expect(4, "the initial thread beside another's limit");
  set(3);
  step(), step();
  expect(3, "the initial thread");
  set(4);
  step(), step();
  expect(8, "the initial thread when another has raised the limit");
  step(), step();
  expect(4, "the initial thread when it has been put back");
  pthread_join(thread, NULL);
}

int main(int count, char** arguments) {
  void* library = count == 2 ? dlopen(arguments[1], RTLD_NOW) : NULL;
  if (library == NULL) return printf("no library\n"), 2;
  *(void**)&set = dlsym(library, "scipy_openblas_set_num_threads64_");
  *(void**)&get = dlsym(library, "scipy_openblas_get_num_threads64_");
  if (set == NULL || get == NULL) return printf("no such functions\n"), 2;
  omp_set_max_active_levels(2);
  set(4);
  members();
  threads();
  return wrong != 0;
}
