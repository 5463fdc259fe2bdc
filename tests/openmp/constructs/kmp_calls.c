// SPDX-License-Identifier: Apache-2.0
// Calls of libomp's interface that clang does not emit, or not for programs as small as a test: sections, collapsed nests,
// lists of threads, proxy tasks, numbers of tasks, settings.
#include "../support/check.h"
#include "../support/everywhere.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

// ---- sections ----

int __kmpc_sections_init(void *, int);
int __kmpc_next_section(void *, int, int);
void __kmpc_end_sections(void *, int);

static void sections(int threads)
{
  for (int count = 0; count <= 20; count += 5) {
    int hits[20] = {0};
#pragma omp parallel num_threads(threads)
    for (int round = 0; round < 3; round++) {
      if (__kmpc_sections_init(NULL, 0)) {
        for (int i = __kmpc_next_section(NULL, 0, count); i < count; i = __kmpc_next_section(NULL, 0, count)) {
          CHECK(i >= 0);
          __atomic_add_fetch(&hits[i], 1, __ATOMIC_RELAXED);
        }
      }
      __kmpc_end_sections(NULL, 0);
    }
    for (int i = 0; i < count; i++) CHECK_EQ(hits[i], 3);
  }
}

// ---- collapsed nests ----

enum { less_or_equal, greater_or_equal, not_equal, less, greater };
enum { type_u32 = 4, type_i32, type_u64, type_i64 };
struct loop {
  int32_t type, variable_type, comparison, outer;
  uint64_t lower, lower_by, upper, upper_by;
  int64_t step;
  uint64_t count;
};
uint64_t __kmpc_process_loop_nest_rectang(void *, int, struct loop *, int);
void __kmpc_calc_original_ivs_rectang(void *, uint64_t, const struct loop *, uint64_t *, int);
int __kmpc_for_collapsed_init(void *, int, struct loop *, struct loop *, int, int *);

static void rectangles(void)
{
  // for (i = -3; i < 5; i += 2) for (j = 10; j != 6; j--) for (k = 1; k <= 9; k += 4)
  struct loop nest[3] = {
      {type_i32, type_i32, less, 0, (uint64_t)-3, 0, 5, 0, 2, 0},
      {type_i64, type_i64, not_equal, 0, 10, 0, 6, 0, -1, 0},
      {type_u32, type_u32, less_or_equal, 0, 1, 0, 9, 0, 4, 0},
  };
  CHECK_EQ(__kmpc_process_loop_nest_rectang(NULL, 0, nest, 3), 4 * 4 * 3);
  uint64_t number = 0, at[3];
  for (int i = -3; i < 5; i += 2)
    for (int64_t j = 10; j != 6; j--)
      for (uint32_t k = 1; k <= 9; k += 4) {
        __kmpc_calc_original_ivs_rectang(NULL, number++, nest, at, 3);
        CHECK_EQ((int)at[0], i);
        CHECK_EQ((int64_t)at[1], j);
        CHECK_EQ((uint32_t)at[2], k);
      }
  struct loop empty[2] = {{type_i32, type_i32, greater, 0, 0, 0, 0, 0, -1, 0}, nest[1]};
  CHECK_EQ(__kmpc_process_loop_nest_rectang(NULL, 0, empty, 2), 0);
}

// for (i = 0; i < rows; i++) for (j = i; j > -3; j -= 2) for (k = 1; k <= i + 1; k++)
static void triangles(int threads, int rows)
{
  int all = 0, seen = 0, lasts = 0;
  for (int i = 0; i < rows; i++)
    for (int j = i; j > -3; j -= 2) all += i + 1;
#pragma omp parallel num_threads(threads) reduction(+ : seen, lasts)
  {
    struct loop nest[3] = {
        {type_i64, type_i64, less, 0, 0, 0, (uint64_t)rows, 0, 1, 0},
        {type_i32, type_i32, greater, 0, 0, 1, (uint64_t)-3, 0, -2, 0},
        {type_i32, type_i32, less_or_equal, 0, 1, 0, 1, 1, 1, 0},
    };
    struct loop part[3];
    int last = -1;
    if (__kmpc_for_collapsed_init(NULL, 0, nest, part, 3, &last)) {
      int i = (int)part[0].lower, j = (int)part[1].lower, k = (int)part[2].lower;
      bool more = true;
      while (more) {
        seen++;
        CHECK(i >= 0 && i < rows && j <= i && j > -3 && k >= 1 && k <= i + 1);
        more = !(i == (int)part[0].upper && j == (int)part[1].upper && k == (int)part[2].upper);
        if (++k > i + 1) {
          k = 1;
          if ((j -= 2) <= -3) j = ++i;
        }
      }
    }
    lasts += last;
  }
  CHECK_EQ(seen, all);
  CHECK_EQ(lasts, all > 0);
}

static void nests(int threads)
{
  rectangles();
  triangles(threads, 0);
  triangles(threads, 1);
  triangles(threads, 13);
}

// ---- lists of threads ----

void __kmpc_push_num_threads_strict(void *, int, int, int, const char *);
void __kmpc_push_num_threads_list(void *, int, uint32_t, const int *);
void __kmpc_push_num_threads_list_strict(void *, int, uint32_t, const int *, int, const char *);
void __kmpc_pop_num_threads(void *, int);

static void lists(void)
{
  const int list[3] = {2, 3, 2};
  const int most = omp_get_thread_limit(), before = omp_get_max_threads();
  if (most < 12) return;
  for (int round = 0; round < 2; round++) {
    int members = 0, inner = 0, innermost = 0, deeper = 0;
    __kmpc_push_num_threads_list(NULL, 0, 3, list);
#pragma omp parallel reduction(+ : members, inner, innermost, deeper)
    {
      members++;
      CHECK_EQ(omp_get_max_threads(), 3);
      for (int again = 0; again < 2; again++) {
#pragma omp parallel reduction(+ : inner, innermost, deeper)
        {
          inner++;
          CHECK_EQ(omp_get_max_threads(), 2);
#pragma omp parallel reduction(+ : innermost, deeper)
          {
            innermost++;
            // The last number stays.
            deeper += omp_get_max_threads();
          }
        }
      }
    }
    __kmpc_pop_num_threads(NULL, 0);
    CHECK_EQ(members, 2);
    CHECK_EQ(inner, 2 * 2 * 3);
    CHECK_EQ(innermost, 2 * 2 * 3 * 2);
    CHECK_EQ(deeper, 2 * innermost);
    CHECK_EQ(omp_get_max_threads(), before);
  }
  int members = 0;
  __kmpc_push_num_threads_strict(NULL, 0, 5, 2, "five");
#pragma omp parallel reduction(+ : members)
  members++;
  CHECK_EQ(members, 5);
  members = 0;
  __kmpc_push_num_threads_list_strict(NULL, 0, 1, list, 2, "two");
#pragma omp parallel reduction(+ : members)
  members++;
  CHECK_EQ(members, 2);
}

// ---- tasks ----

struct task {
  void *shareds;
  int (*routine)(int, struct task *);
  int part;
  void *destructors;
  void *priority;
  int *where;
};
struct task *__kmpc_omp_target_task_alloc(void *, int, int, size_t, size_t, int (*)(int, struct task *), int64_t);
int __kmpc_omp_task(void *, int, struct task *);
void __kmpc_proxy_task_completed_ooo(struct task *);
void __kmpc_proxy_task_completed(int, struct task *);
int __kmpc_omp_taskwait(void *, int);
void **__kmpc_omp_get_target_async_handle_ptr(int);
bool __kmpc_omp_has_task_team(int);
uint64_t __kmpc_get_taskid(void);
uint64_t __kmpc_get_parent_taskid(void);
int __kmpc_omp_reg_task_with_affinity(void *, int, struct task *, int, void *);

enum { untied = 0, tied = 1, proxy = 16 };

static void *complete(void *task)
{
  __atomic_add_fetch(((struct task *)task)->where, 10, __ATOMIC_RELAXED);
  __kmpc_proxy_task_completed_ooo(task);
  return NULL;
}

static int start_thread(int gtid, struct task *task)
{
  (void)gtid;
  pthread_t thread;
  __atomic_add_fetch(task->where, 1, __ATOMIC_RELAXED);
  CHECK_EQ(pthread_create(&thread, NULL, complete, task), 0);
  pthread_detach(thread);
  return 0;
}

static int complete_at_once(int gtid, struct task *task)
{
  __atomic_add_fetch(task->where, 11, __ATOMIC_RELAXED);
  __kmpc_proxy_task_completed(gtid, task);
  return 0;
}

// Called again as long as it says that it waits for something.
static int wait_thrice(int gtid, struct task *task)
{
  void **pending = __kmpc_omp_get_target_async_handle_ptr(gtid);
  CHECK(__kmpc_omp_has_task_team(gtid));
  CHECK(pending != NULL);
  if (pending) *pending = __atomic_add_fetch(task->where, 1, __ATOMIC_RELAXED) % 3 == 0 ? NULL : task;
  return 0;
}

static void proxies(int threads)
{
  int where = 0, polls[4] = {0};
#pragma omp parallel num_threads(threads)
#pragma omp single
  {
    CHECK(__kmpc_omp_get_target_async_handle_ptr(0) == NULL);
    for (int i = 0; i < 20; i++) {
      struct task *task = __kmpc_omp_target_task_alloc(NULL, 0, untied | proxy, sizeof *task, 0,
                                                       i % 2 ? start_thread : complete_at_once, 0);
      task->where = &where;
      CHECK_EQ(__kmpc_omp_reg_task_with_affinity(NULL, 0, task, 0, NULL), 0);
      __kmpc_omp_task(NULL, 0, task);
      if (i % 10 == 9) {
        __kmpc_omp_taskwait(NULL, 0);
        CHECK_EQ(where, 11 * (i + 1));
      }
    }
    for (int i = 0; i < 4; i++) {
      struct task *task = __kmpc_omp_target_task_alloc(NULL, 0, tied, sizeof *task, 0, wait_thrice, 0);
      task->where = &polls[i];
      __kmpc_omp_task(NULL, 0, task);
    }
    __kmpc_omp_taskwait(NULL, 0);
    for (int i = 0; i < 4; i++) CHECK_EQ(polls[i], 3);
  }
}

static void numbers(int threads)
{
  const uint64_t around = __kmpc_get_taskid();
#pragma omp parallel num_threads(threads)
  {
    const uint64_t mine = __kmpc_get_taskid();
    CHECK(mine != 0 && mine != around);
    CHECK_EQ(__kmpc_get_parent_taskid(), around);
#pragma omp task
    {
      CHECK(__kmpc_get_taskid() != mine);
      CHECK_EQ(__kmpc_get_parent_taskid(), mine);
    }
  }
}

// ---- settings ----

void kmp_set_defaults(const char *);
int kmp_get_num_known_threads(void);
int __kmpc_get_target_offload(void);
void ompc_set_num_threads(int);
int ompc_get_ancestor_thread_num(int);
void *kmpc_calloc(size_t, size_t);
void *kmpc_realloc(void *, size_t);
void kmpc_free(void *);

static void settings(void)
{
  const int before = omp_get_max_threads();
  kmp_set_defaults("OMP_NUM_THREADS=3|OMP_SCHEDULE=guided,4");
  omp_sched_t kind;
  int chunk;
  omp_get_schedule(&kind, &chunk);
  CHECK_EQ(omp_get_max_threads(), 3);
  CHECK_EQ(kind & 0xff, omp_sched_guided);
  CHECK_EQ(chunk, 4);
  ompc_set_num_threads(before);
  CHECK_EQ(omp_get_max_threads(), before);
  CHECK_EQ(ompc_get_ancestor_thread_num(0), 0);
  CHECK(kmp_get_num_known_threads() > 0);
  CHECK_EQ(__kmpc_get_target_offload(), 1);
  char *memory = kmpc_realloc(kmpc_calloc(10, 10), 500);
  CHECK_EQ(memory[99], 0);
  kmpc_free(memory);
}

int main(void)
{
  everywhere(sections, nests);
  omp_set_max_active_levels(10);
  lists();
  everywhere(proxies, numbers);
  settings();
  return check_result();
}
