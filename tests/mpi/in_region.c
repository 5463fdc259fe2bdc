// SPDX-License-Identifier: Apache-2.0
// Preloaded into a program that knows nothing of OpenMP: its main is called by the first of two threads of a parallel
// region, where weft's MPI library pauses the callers of MPI.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>

typedef int (*main_function)(int, char**, char**);
typedef int (*start_function)(main_function, int, char**, void (*)(void), void (*)(void), void (*)(void), void*);

static main_function program_main;

static int main_in_region(int count, char** arguments, char** environment) {
  int code = 0;
#pragma omp parallel num_threads(2)
#pragma omp master
  code = program_main(count, arguments, environment);
  return code;
}

int __libc_start_main(main_function main, int count, char** arguments, void (*init)(void), void (*fini)(void),
                      void (*loader_fini)(void), void* stack_end) {
  start_function start = (start_function)dlsym(RTLD_NEXT, "__libc_start_main");
  if (start == NULL) abort();
  program_main = main;
  return start(main_in_region, count, arguments, init, fini, loader_fini, stack_end);
}
