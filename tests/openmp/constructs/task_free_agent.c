// SPDX-License-Identifier: Apache-2.0
// Tasks that free agents may run (threadset(omp_pool) of OpenMP 6.0), as a compiler of 2026 calls for them: these compilers
// do not know the clause yet.
#include <omp.h>
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "../support/check.h"

typedef struct kmp_task kmp_task;
typedef int32_t (*routine)(int32_t gtid, kmp_task* task);
struct kmp_task {
  void* shareds;
  routine call;
  int32_t part;
  void* destructors;
  void* priority;
  int value;
};
typedef struct {
  void* base;
  size_t length;
  uint8_t flags;
} depend_info;

// Weak: programs by gcc are linked to libgomp, which has none of them.
__attribute__((weak)) kmp_task* __kmpc_omp_task_alloc(void* where, int32_t gtid, int32_t flags, size_t size,
                                                      size_t shareds, routine call);
__attribute__((weak)) int32_t __kmpc_omp_task(void* where, int32_t gtid, kmp_task* task);
__attribute__((weak)) int32_t __kmpc_omp_task_with_deps(void* where, int32_t gtid, kmp_task* task, int32_t count,
                                                        depend_info* list, int32_t count_others, depend_info* others);

__attribute__((weak)) int omp_is_free_agent(void);
__attribute__((weak)) int omp_ancestor_is_free_agent(int level);
__attribute__((weak)) void* __kmpc_task_allow_completion_event(void* where, int32_t gtid, kmp_task* task);

enum { tied = 1, detachable = 0x40, free_agent = 0x80 };

static atomic_int sum, running, released, in_agents;

static kmp_task* make(routine call, int value) {
  kmp_task* task = __kmpc_omp_task_alloc(NULL, 0, tied | free_agent, sizeof(kmp_task), 0, call);
  task->value = value;
  return task;
}
static void submit(routine call, int value) { __kmpc_omp_task(NULL, 0, make(call, value)); }

static int32_t add(int32_t gtid, kmp_task* task) {
  (void)gtid;
  const int agent = omp_get_thread_num() == -2;
  if (agent) ++in_agents;
  CHECK(omp_is_free_agent() == agent);
  CHECK(omp_ancestor_is_free_agent(omp_get_level()) == agent);
  CHECK(omp_ancestor_is_free_agent(omp_get_level() + 1) == 0 && omp_ancestor_is_free_agent(-1) == 0);
  sum += task->value;
  return 0;
}

static int32_t release(int32_t gtid, kmp_task* task) {
  (void)gtid, (void)task;
  running = 1;
  released = 1;
  return 0;
}

// Its children are free agents' too; the grandchildren run where they are created.
static int32_t spread(int32_t gtid, kmp_task* task) {
  (void)gtid;
  CHECK(omp_get_num_threads() == task->value);
  CHECK(omp_get_place_num() < omp_get_num_places());
  for (int i = 0; i < 8; i++) submit(add, 1);
#pragma omp taskwait
  int inner = 0;
#pragma omp task shared(inner)
  inner = 1;
#pragma omp taskwait
  sum += inner;
  int members = 0;
  const int agent = omp_is_free_agent();
#pragma omp parallel num_threads(2) reduction(+ : members)
  {
    members++;
    // The primary of the region is still the thread that has opened it.
    CHECK(omp_is_free_agent() == (agent && omp_get_thread_num() == 0));
    CHECK(omp_ancestor_is_free_agent(omp_get_level() - 1) == agent);
  }
  CHECK(members >= 1);
  return 0;
}

static int order[3], position;
static int32_t record(int32_t gtid, kmp_task* task) {
  (void)gtid;
  order[position++] = task->value;
  return 0;
}

static void in_order(void) {
  position = 0;
  static int location;
  for (int i = 0; i < 3; i++) {
    depend_info inout = {&location, sizeof location, 3};
    __kmpc_omp_task_with_deps(NULL, 0, make(record, i), 1, &inout, 0, NULL);
  }
#pragma omp taskwait
  for (int i = 0; i < 3; i++) CHECK(order[i] == i);
}

static int32_t fulfill(int32_t gtid, kmp_task* task) {
  add(gtid, task);
  omp_fulfill_event((omp_event_handle_t)task->shareds);
  return 0;
}

// The event is fulfilled before the task begins, by its body, or by its creator meanwhile.
static void detached(void) {
  enum { early, inside, meanwhile, ways };
  sum = 0;
  for (int i = 0; i < 60; i++) {
    const int way = i % ways;
    kmp_task* task = __kmpc_omp_task_alloc(NULL, 0, tied | free_agent | detachable, sizeof(kmp_task), 0,
                                           way == inside ? fulfill : add);
    task->value = 1;
    // The task has no shared variables: the field is free for the event.
    task->shareds = __kmpc_task_allow_completion_event(NULL, 0, task);
    const omp_event_handle_t event = (omp_event_handle_t)task->shareds;
    if (way == early) omp_fulfill_event(event);
    __kmpc_omp_task(NULL, 0, task);
    if (way == meanwhile) omp_fulfill_event(event);
  }
#pragma omp taskwait
  CHECK(sum == 60);
}

static void in_this_team(void) {
  const int members = omp_get_num_threads();
  // Nobody but another thread can do this before the next scheduling point.
  if (members == 1) {
    running = released = 0;
    submit(release, 0);
    while (!released) sched_yield();
    CHECK(running == 1);
  }
#pragma omp taskwait
  sum = 0;
  for (int i = 0; i < 1000; i++) submit(add, 1);
#pragma omp taskwait
  CHECK(sum == 1000);
#pragma omp taskgroup
  {
    sum = 0;
    for (int i = 0; i < 10; i++) submit(spread, members);
  }
  CHECK(sum == 90);
  in_order();
  detached();
}

int main(void) {
  in_this_team();
#pragma omp parallel num_threads(1)
  in_this_team();
#pragma omp parallel num_threads(2)
#pragma omp single
  in_this_team();
  // The end of the region waits.
  sum = 0;
#pragma omp parallel num_threads(2)
#pragma omp single nowait
  for (int i = 0; i < 100; i++) submit(add, 1);
  CHECK(sum == 100);
#pragma omp parallel num_threads(1)
  for (int i = 0; i < 100; i++) submit(add, 1);
  CHECK(sum == 200);
  return check_result();
}
