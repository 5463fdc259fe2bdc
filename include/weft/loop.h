/* SPDX-License-Identifier: Apache-2.0 */
/* What weftcc's programs tell the runtime of their parallel loops: the interface between compiled programs and weft.
 * Programs do not call it themselves. docs/explanation/weftcc.md says what a compiler must have proven before it uses
 * it.
 *
 * All functions are weak references in the program. Where the runtime has none, or says no, the program runs its region
 * as OpenMP's standard interface has it. So an object file that uses them works with any OpenMP runtime. */
#ifndef WEFT_LOOP_H
#define WEFT_LOOP_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Of this header; in weft_loop::version. A runtime says no to loops of a later version. */
#define WEFT_LOOP_VERSION 1

/* The schedule clause. A `dynamic` or `guided` chunk is never larger than the program says; `runtime` is
 * run-sched-var. */
enum weft_schedule {
  WEFT_SCHEDULE_STATIC = 0,
  WEFT_SCHEDULE_DYNAMIC = 1,
  WEFT_SCHEDULE_GUIDED = 2,
  WEFT_SCHEDULE_AUTO = 3,
  WEFT_SCHEDULE_RUNTIME = 4
};

enum weft_loop_flag {
  /* The chunks of a member come in ascending order. A loop of a static schedule has the flag where its body can tell. */
  WEFT_LOOP_MONOTONIC = 1,
  /* The program reads weft_range::last: variables are lastprivate. */
  WEFT_LOOP_LASTPRIVATE = 2,
  /* The loop stands alone in its region: a member that gets no iterations may be left out. Always set for
   * weft_parallel_for(). */
  WEFT_LOOP_ALONE = 4
};

/* What the compiler knows of a loop: one record for each construct, in writable memory that starts as zero behind
 * `max_count`. */
struct weft_loop {
  uint32_t version;      /* WEFT_LOOP_VERSION */
  uint32_t flags;        /* of weft_loop_flag */
  uint32_t schedule;     /* of weft_schedule */
  uint32_t reserved;     /* 0 */
  const void *location;  /* ident_t of the region, as LLVM's ABI has it: file, function, line */
  uint64_t max_count;    /* more iterations than this run by the standard interface; 0: there is no limit */
  uint64_t learned[4];   /* the runtime's: what it has learnt of the loop */
};

/* The iterations that a member runs next: begin .. end-1, counted from 0. */
struct weft_range {
  /* Fetches the next ones; 0 when the member has had its last. Only by the member that has been given the record. Before
   * the first call `begin`, `end` and `last` are undefined, and the body may write to them. */
  int (*next)(struct weft_range *range);
  uint64_t begin;
  uint64_t end;
  int32_t last;    /* whether they hold the sequentially last iteration; then they are the member's last ones */
  int32_t number;  /* of the member, as omp_get_thread_num() says */
};

/* The region's body, executed once by each member that takes part: private variables, then
 * `while (range->next(range))` around the loop, then the ends of reductions. `captures` are the region's variables. */
typedef void weft_loop_body(struct weft_range *range, void **captures);

/* Runs a region that consists of one worksharing loop of `count` iterations in chunks of `chunk` (0: no chunk size was
 * given). Returns 1 when all have been executed. 0: nothing has been done, the program runs the region itself; so does
 * a loop of a version, or with a flag, that the runtime does not know. Clauses of the region (num_threads, proc_bind)
 * that have been pushed hold for it and are kept when it returns 0. */
int weft_parallel_for(struct weft_loop *loop, weft_loop_body *body, void **captures, uint64_t count, int64_t chunk);

/* The region that the thread opens next holds such a loop, and more: only advice. A `count` of UINT64_MAX: not known. */
void weft_push_loop(struct weft_loop *loop, uint64_t count, int64_t chunk);

#ifdef __cplusplus
}
#endif

#endif
