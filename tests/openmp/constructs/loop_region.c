// SPDX-License-Identifier: Apache-2.0
// Regions that are one loop, as programs by weftcc begin them (weft/loop.h): every iteration runs once, by a member of a
// team, whatever the schedule, the number of members that take part, and what the body does.
#include "../support/check.h"
#include "../support/everywhere.h"

#include <omp.h>

#include "../../../include/weft/loop.h"

#pragma weak weft_parallel_for
#pragma weak weft_push_loop

void __kmpc_push_num_threads(void *, int, int);

enum { most = 100000 };

struct run {
  int *hits;
  long sum;         // a reduction: each member adds its part once
  long last_value;  // lastprivate
  int parts, busy[most_members];
  int most_threads;
};

static void body(struct weft_range *range, void **captures)
{
  struct run *run = captures[0];
  long part = 0;
  long value = -1;
  int last = 0;
  CHECK_EQ(range->number, omp_get_thread_num());
  CHECK_IN(range->number, 0, omp_get_num_threads());
  CHECK_EQ(__atomic_add_fetch(&run->busy[range->number], 1, __ATOMIC_ACQ_REL), 1);
  while (range->next(range)) {
    CHECK(range->begin < range->end);
    CHECK_EQ(last, 0);  // the last iteration is the member's last too
    for (uint64_t i = range->begin; i < range->end; i++) {
      __atomic_add_fetch(&run->hits[i], 1, __ATOMIC_RELAXED);
      part += (long)i;
      value = (long)i;
    }
    last = range->last;
  }
  if (last) run->last_value = value;
  __atomic_add_fetch(&run->sum, part, __ATOMIC_RELAXED);
  __atomic_add_fetch(&run->parts, 1, __ATOMIC_RELAXED);
  __atomic_sub_fetch(&run->busy[range->number], 1, __ATOMIC_ACQ_REL);
}

static void run_loop(struct weft_loop *loop, int threads, long count, long chunk)
{
  static int hits[most];
  memset(hits, 0, sizeof(int) * (size_t)count);
  struct run run = {.hits = hits, .last_value = -2};
  void *captures[] = {&run};
  if (threads) __kmpc_push_num_threads(NULL, 0, threads);
  CHECK_EQ(weft_parallel_for(loop, body, captures, (uint64_t)count, chunk), 1);
  for (long i = 0; i < count; i++) CHECK_EQ(hits[i], 1);
  CHECK_EQ(run.sum, count * (count - 1) / 2);
  CHECK_EQ(run.last_value, count > 0 ? count - 1 : -2);
  CHECK(run.parts <= (threads ? threads : omp_get_max_threads()));
  CHECK_EQ(omp_get_level(), 0);
}

static void schedules(void)
{
  static const long counts[] = {0, 1, 2, 3, 7, 64, 1000, most};
  static const long chunks[] = {0, 1, 3, 1000};
  static const int teams[] = {0, 1, 2, 3, 8};
  for (unsigned schedule = 0; schedule <= WEFT_SCHEDULE_RUNTIME; schedule++) {
    for (unsigned c = 0; c < sizeof chunks / sizeof *chunks; c++) {
      for (unsigned t = 0; t < sizeof teams / sizeof *teams; t++) {
        struct weft_loop loop = {.version = WEFT_LOOP_VERSION,
                                 .flags = WEFT_LOOP_LASTPRIVATE | WEFT_LOOP_ALONE,
                                 .schedule = schedule};
        for (unsigned i = 0; i < sizeof counts / sizeof *counts; i++) {
          for (int round = 0; round < 3; round++) run_loop(&loop, teams[t], counts[i], chunks[c]);
        }
      }
    }
  }
}

// ---- what it does not know, it leaves to the program ----

static void refusals(void)
{
  struct run run = {0};
  void *captures[] = {&run};
  struct weft_loop later = {.version = WEFT_LOOP_VERSION + 1};
  CHECK_EQ(weft_parallel_for(&later, body, captures, 10, 0), 0);
  struct weft_loop flagged = {.version = WEFT_LOOP_VERSION, .flags = 1u << 31};
  CHECK_EQ(weft_parallel_for(&flagged, body, captures, 10, 0), 0);
  struct weft_loop small = {.version = WEFT_LOOP_VERSION, .flags = WEFT_LOOP_LASTPRIVATE, .max_count = 9};
  // The clause waits for the region that the program opens instead.
  __kmpc_push_num_threads(NULL, 0, 3);
  CHECK_EQ(weft_parallel_for(&small, body, captures, 10, 0), 0);
  CHECK_EQ(run.parts, 0);
  static int hits[9];
  run.hits = hits;
  CHECK_EQ(weft_parallel_for(&small, body, captures, 9, 0), 1);
  CHECK(run.parts <= 3);
}

// ---- nested, with tasks, and with iterations that wait for each other ----

static void inner_body(struct weft_range *range, void **captures)
{
  long *sum = captures[0];
  CHECK_EQ(omp_get_level(), 2);
  while (range->next(range)) __atomic_add_fetch(sum, (long)(range->end - range->begin), __ATOMIC_RELAXED);
}

static void outer_body(struct weft_range *range, void **captures)
{
  static struct weft_loop inner = {.version = WEFT_LOOP_VERSION, .flags = WEFT_LOOP_ALONE};
  CHECK_EQ(omp_get_level(), 1);
  const int number = omp_get_thread_num();
  while (range->next(range)) {
    for (uint64_t i = range->begin; i < range->end; i++) {
      __kmpc_push_num_threads(NULL, 0, 8);
      CHECK_EQ(weft_parallel_for(&inner, inner_body, captures, 64, 0), 1);
      CHECK_EQ(omp_get_thread_num(), number);
    }
  }
}

static void nested(void)
{
  static struct weft_loop outer = {.version = WEFT_LOOP_VERSION, .flags = WEFT_LOOP_ALONE};
  long sum = 0;
  void *captures[] = {&sum};
  __kmpc_push_num_threads(NULL, 0, 8);
  CHECK_EQ(weft_parallel_for(&outer, outer_body, captures, 40, 0), 1);
  CHECK_EQ(sum, 40 * 64);
}

static void body_with_tasks(struct weft_range *range, void **captures)
{
  long *sum = captures[0];
  while (range->next(range)) {
    for (uint64_t i = range->begin; i < range->end; i++) {
#pragma omp task
      __atomic_add_fetch(sum, 1, __ATOMIC_RELAXED);
    }
  }
}

static void tasks(void)
{
  struct weft_loop loop = {.version = WEFT_LOOP_VERSION, .flags = WEFT_LOOP_ALONE};
  for (int round = 0; round < 50; round++) {
    long sum = 0;
    void *captures[] = {&sum};
    CHECK_EQ(weft_parallel_for(&loop, body_with_tasks, captures, 300, 0), 1);
    CHECK_EQ(__atomic_load_n(&sum, __ATOMIC_RELAXED), 300);
  }
}

// As in programs that number their threads by a loop.
static void body_that_meets(struct weft_range *range, void **captures)
{
  int *arrived = captures[0];
  const int threads = *(int *)captures[1];
  while (range->next(range)) {
    for (uint64_t i = range->begin; i < range->end; i++) {
      __atomic_add_fetch(arrived, 1, __ATOMIC_SEQ_CST);
      while (__atomic_load_n(arrived, __ATOMIC_SEQ_CST) < threads) {
      }
    }
  }
}

static void meetings(void)
{
  if (omp_get_dynamic() || omp_get_thread_limit() < 4 || omp_get_max_active_levels() < 1) return;
  struct weft_loop loop = {.version = WEFT_LOOP_VERSION, .flags = WEFT_LOOP_ALONE};
  for (int threads = 1; threads <= 4; threads++) {
    for (int round = 0; round < 20; round++) {
      int arrived = 0;
      void *captures[] = {&arrived, &threads};
      __kmpc_push_num_threads(NULL, 0, threads);
      CHECK_EQ(weft_parallel_for(&loop, body_that_meets, captures, (uint64_t)threads, 0), 1);
      CHECK_EQ(arrived, threads);
    }
  }
}

// Advice changes nothing that can be seen, but for the number of members where that is the runtime's to choose.
static void hints(void)
{
  struct weft_loop loop = {.version = WEFT_LOOP_VERSION};
  int members = 0;
  weft_push_loop(&loop, 2, 0);
#pragma omp parallel num_threads(4) reduction(+ : members)
  members++;
  if (!omp_get_dynamic()) CHECK_EQ(members, omp_get_max_active_levels() > 0 && omp_get_thread_limit() >= 4 ? 4 : members);
}

int main(void)
{
  CHECK(weft_parallel_for != NULL && weft_push_loop != NULL);
  if (check_result()) return 1;
  schedules();
  refusals();
  nested();
  tasks();
  meetings();
  hints();
  return check_result();
}
