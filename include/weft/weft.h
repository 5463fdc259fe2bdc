/* SPDX-License-Identifier: Apache-2.0 */
/* What a program can ask of weft beyond OpenMP: it shares the CPUs of the process among the libraries that would each
 * use all of them. Found by linking with weft, or by dlsym in a process that has it. */
#ifndef WEFT_H
#define WEFT_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Has weft's pool run the jobs of each copy of OpenBLAS (built for pthreads, 0.3.29 or later) that is mapped and runs
 * them itself. Returns how many there were. May be called at any time by any thread, and again when more libraries have
 * been loaded. Under `weft run` it is not needed. */
int weft_adopt_libraries(void);

/* The same for a copy that the program knows: a callback for openblas_set_threads_callback_function. */
void weft_blas_run(int sync, void (*job)(int number, void* data, int extra), int count, size_t size, void* data,
                   int extra);

/* How many threads the program lets calls of the copy of OpenBLAS in the file `path` have. Other than the library's own
 * functions these do not mix that up with the share that weft has put in force meanwhile. What the initial thread sets
 * outside of parallel regions holds for the process; what another thread, a member of a region or a task sets holds for
 * itself and the regions that it opens, where weft_blas_sees_waits() says 1 (docs/explanation/process.md). -1: there is no
 * such copy, or, when setting, `threads` is less than 1. */
int weft_blas_get_num_threads(const char *path);
int weft_blas_set_num_threads(const char *path, int threads);

/* Whether weft sees how jobs of that copy wait for each other, so that its calls are split the same way whatever the load
 * is. 0: it does not, and the load decides. -1: there is no such copy. */
int weft_blas_sees_waits(const char *path);

/* Where memory is placed on a machine with several NUMA nodes. Each call is about the whole pages within `bytes` from
 * `memory` on; what else lies on a page at either end stays as it is. Pages that have been touched are moved, the others
 * come to be where they belong when they are. By any thread at any time. Each returns 0 or an errno value: EINVAL, null
 * or a node without memory; EFAULT, something that is not mapped; ENOSYS or EPERM, a kernel or a sandbox that places no
 * memory; EIO or ENOMEM, pages that could not be moved. On a machine with one node they succeed and change nothing. */

/* How many nodes have memory; 1 where the kernel knows none. */
int weft_numa_nodes(void);
/* The node of the page at `address`; -1: nobody has touched it yet, or the kernel does not tell. */
int weft_numa_node_of(const void *address);

/* Page by page on all nodes in turn: for what all threads read. */
int weft_numa_interleave(void *memory, size_t bytes);
int weft_numa_bind(void *memory, size_t bytes, int node);
/* In `parts` parts, one behind the other, as schedule(static) divides an array among so many threads: part i on the node
 * of the place that OpenMP thread i has, or, where threads are not bound, on the nodes in turn, each as many parts as it
 * has CPUs in proportion. EINVAL, too: `parts` is less than 1. */
int weft_numa_split(void *memory, size_t bytes, int parts);

#ifdef __cplusplus
}
#endif

#endif
