// SPDX-License-Identifier: Apache-2.0
// A library that shows all that weft knows OpenBLAS by, with wait loops that it knows (wait_loops_library.cpp), and
// whose jobs wait in another one (unknown_waits_test.py). VERSION: what it says of itself (copies_test.py).
#include <stddef.h>

#ifndef VERSION
#define VERSION ""
#endif

typedef void (*job)(int number, void* data, int extra);

void (*openblas_threads_callback_)(int sync, job run, int count, size_t size, void* data, int extra);
int blas_cpu_number = 3;
int blas_num_threads = 3;
int blas_server_avail = 1;

const char* openblas_get_config(void) { return "OpenBLAS " VERSION " MAX_THREADS=64"; }
void dgemmtr_(void) {}
int exec_blas(long count, void* jobs) { return (void)jobs, (int)count; }

// Longer than a jump to elsewhere.
#define ROOM(name) ".globl " name "\n.type " name ", @function\n" name ":\n ret\n.skip 63, 0xcc\n.size " name ", 64\n"
__asm__(ROOM("blas_thread_init") ROOM("blas_thread_shutdown_") ROOM("exec_blas_async") ROOM("exec_blas_async_wait"));

enum { jobs = 3 };
static int begun;
static int sum;

static void wait_for_all(int number, void* data, int extra) {
  (void)number, (void)extra;
  __atomic_add_fetch(&begun, 1, __ATOMIC_ACQ_REL);
  while (__atomic_load_n(&begun, __ATOMIC_ACQUIRE) < jobs) continue;
  __atomic_add_fetch(&sum, *(int*)data, __ATOMIC_RELAXED);
}

int call(void) {
  int data[jobs] = {1, 2, 3};
  begun = sum = 0;
  openblas_threads_callback_(1, wait_for_all, jobs, sizeof *data, data, 0);
  return sum;
}
