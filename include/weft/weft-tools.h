/* SPDX-License-Identifier: Apache-2.0 */
/* What a tool can ask weft beyond OMPT. OMPT's lookup function finds these by their names without the _t; other
 * runtimes answer null. A tool's "thread" is a context of weft: it is suspended when it waits, and continues on
 * whichever carrier, an OS thread of the pool, has time. */
#ifndef WEFT_TOOLS_H
#define WEFT_TOOLS_H

#include <stdint.h>

union ompt_data_t; /* of omp-tools.h */

#ifdef __cplusplus
extern "C" {
#endif

/* The number of the carrier that runs the caller; -1: none, the thread has not used the pool yet. */
typedef int (*weft_get_carrier_t)(void);

/* How many threads the tool has that stay until the process ends. A process whose initial thread has ended by
 * pthread_exit ends when no threads are left but these and weft's own. */
typedef void (*weft_set_tool_threads_t)(int threads);

typedef enum weft_switch_t { weft_switch_leave = 0, weft_switch_continue = 1 } weft_switch_t;

/* Called by a context that is about to leave its carrier, and by one that continues, as the first thing it does. It
 * must not call OpenMP or wait for another context. */
typedef void (*weft_callback_switch_t)(weft_switch_t what, int carrier);

/* Null ends it. */
typedef void (*weft_set_switch_callback_t)(weft_callback_switch_t callback);

/* Called when a thread of the program enters the runtime by a call that may make events, and when it leaves. Calls nest
 * where the runtime calls the program: a region lies inside of the call that opens it. It must not call OpenMP or wait
 * for another context. */
typedef enum weft_call_t { weft_call_enter = 0, weft_call_leave = 1 } weft_call_t;
typedef void (*weft_callback_call_t)(weft_call_t what);

/* Null ends it. */
typedef void (*weft_set_call_callback_t)(weft_callback_call_t callback);

/* A call of a library whose jobs weft runs in place of the library's own threads (OpenBLAS with pthreads): `jobs` jobs,
 * begun at `codeptr_ra` in the library. Told to the thread that calls, weft_library_call, and to those that help it,
 * weft_library_help; `data` is the tool's, the same for both, and empty when the call begins. With empty data nobody is
 * told that helps. It must not call OpenMP or wait for another context. */
typedef enum weft_library_t { weft_library_call = 0, weft_library_help = 1 } weft_library_t;
typedef void (*weft_callback_library_t)(weft_library_t what, int begins, const void *codeptr_ra, int jobs,
                                        uint64_t *data);

/* Null ends it. */
typedef void (*weft_set_library_callback_t)(weft_callback_library_t callback);

/* Asked before a parallel region begins that the program opens at `codeptr_ra`, on the thread that opens it. 0: the tool
 * is told nothing of the region, nor of what happens in it, and the region costs as much as without a tool; `after` is
 * called at its end. Neither may call OpenMP, wait for another context or change errno. A tool that counts such a region
 * by itself can so do with a sample of many short ones.
 *
 * To be asked costs as much as a part of an empty region. A tool may set *skip then. The runtime keeps the pointer for
 * the thread until it asks again. Where the thread opens a region at `codeptr_ra` and `left` is not 0, it does not ask:
 * it takes one from `left`, sets `inside`, and combines *shown with `toggles` by exclusive or; and at the end, if
 * `inside` is still set, it clears it and does the same again in place of the call of `after`. So others see in *shown
 * that the thread is in such a region. The thread alone writes these; others may read `left` and *shown. All of it holds
 * as long as *valid is `expected`. */
typedef struct weft_region_skip_t {
  const void *codeptr_ra;
  uint32_t left;   /* regions */
  uint32_t inside; /* 0 or 1 */
  uint64_t *shown;
  uint64_t toggles;
  uint32_t *valid;
  uint32_t expected;
} weft_region_skip_t;
typedef int (*weft_callback_region_wanted_t)(const void *codeptr_ra, weft_region_skip_t **skip);
typedef void (*weft_callback_region_after_t)(void);

/* Null ends it. */
typedef void (*weft_set_region_filter_t)(weft_callback_region_wanted_t wanted, weft_callback_region_after_t after);

/* Asked behind each ompt_callback_dispatch of a chunk of a loop, on the thread that has taken it: how many of the chunks
 * that the thread takes next in this loop the tool is not to be told of. They cost as much as without a tool; the call
 * that takes one is not told either. `left` is called where the loop has no more chunks before so many were taken: how
 * many were not. Neither may call OpenMP, wait for another context or change errno. */
typedef uint32_t (*weft_callback_chunks_untold_t)(void);
typedef void (*weft_callback_chunks_left_t)(uint32_t chunks);

/* Null ends it. */
typedef void (*weft_set_chunk_filter_t)(weft_callback_chunks_untold_t untold, weft_callback_chunks_left_t left);

/* What became of a parallel region that weftcc has compiled as one loop (weft/loop.h). */
typedef struct weft_loop_totals_t {
  uint64_t iterations;
  uint64_t ranges;           /* pieces that the members have taken */
  uint64_t ranges_of_others; /* of them: by members other than the primary */
  int32_t members;           /* that took part and had an implicit task; the others of the team were left out */
  int32_t whole;             /* 1: the primary took all iterations, alone */
} weft_loop_totals_t;

/* Called by the primary at the end of such a region, just before parallel_end. Plain regions have no such call. */
typedef void (*weft_callback_loop_t)(union ompt_data_t *parallel_data, const weft_loop_totals_t *totals);

/* Null ends it. */
typedef void (*weft_set_loop_callback_t)(weft_callback_loop_t callback);

#ifdef __cplusplus
}
#endif

#endif
