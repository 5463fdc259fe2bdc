/* SPDX-License-Identifier: Apache-2.0 */
/* What a program can ask of weft beyond OpenMP: it shares the CPUs of the process among the libraries that would each
 * use all of them. Found by linking with weft, or by dlsym in a process that has it. */
#ifndef WEFT_H
#define WEFT_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Has weft's pool run the jobs of each copy of OpenBLAS (built for pthreads, 0.3.28 or later) that is mapped and runs
 * them itself. Returns how many there were. May be called at any time by any thread, and again when more libraries have
 * been loaded. Under `weft run` it is not needed. */
int weft_adopt_libraries(void);

/* The same for a copy that the program knows: a callback for openblas_set_threads_callback_function. */
void weft_blas_run(int sync, void (*job)(int number, void* data, int extra), int count, size_t size, void* data,
                   int extra);

/* How many threads the program lets calls of the copy of OpenBLAS in the file `path` have. Other than the library's own
 * functions these do not mix that up with the share that weft has put in force meanwhile. -1: there is no such copy, or,
 * when setting, `threads` is less than 1. */
int weft_blas_get_num_threads(const char *path);
int weft_blas_set_num_threads(const char *path, int threads);

#ifdef __cplusplus
}
#endif

#endif
