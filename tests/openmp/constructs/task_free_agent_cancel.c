// SPDX-License-Identifier: Apache-2.0
// Tasks that free agents run, where the region or the taskgroup that they belong to is cancelled: they can find that out,
// and what they create afterwards does not begin.
#include <omp.h>
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "../support/check.h"

typedef struct kmp_task kmp_task;
typedef int32_t (*routine)(int32_t gtid, kmp_task *task);
struct kmp_task {
  void *shareds;
  routine call;
  int32_t part;
  void *destructors;
  void *priority;
};

// Weak: programs by gcc are linked to libgomp, which has none of them.
__attribute__((weak)) kmp_task *__kmpc_omp_task_alloc(void *where, int32_t gtid, int32_t flags, size_t size,
                                                      size_t shareds, routine call);
__attribute__((weak)) int32_t __kmpc_omp_task(void *where, int32_t gtid, kmp_task *task);
__attribute__((weak)) int32_t __kmpc_cancellationpoint(void *where, int32_t gtid, int32_t construct);

enum { tied = 1, free_agent = 0x80, taskgroup = 4, unassigned = -2 };

static atomic_int running, begun;

static void submit(routine call) {
  __kmpc_omp_task(NULL, 0, __kmpc_omp_task_alloc(NULL, 0, tied | free_agent, sizeof(kmp_task), 0, call));
}

static int32_t begin(int32_t gtid, kmp_task *task) {
  (void)gtid, (void)task;
  begun++;
  return 0;
}

// Only beside its team: a member that runs it would wait for itself.
static int32_t look(int32_t gtid, kmp_task *task) {
  (void)gtid, (void)task;
  running++;
  if (omp_get_thread_num() != unassigned || !omp_get_cancellation()) return 0;
  while (!__kmpc_cancellationpoint(NULL, 0, taskgroup)) sched_yield();
  for (int i = 0; i < 4; i++) submit(begin);
#pragma omp task
  begun++;
#pragma omp taskwait
  return 0;
}

static void reset(void) {
  running = begun = 0;
}

static void start(void) {
  submit(look);
  while (!running) sched_yield();
}

static void region(void) {
  reset();
#pragma omp parallel num_threads(1)
  {
    start();
#pragma omp cancel parallel
  }
  CHECK_EQ(begun, 0);
}

static void group(void) {
  reset();
#pragma omp parallel num_threads(1)
  {
#pragma omp taskgroup
    {
      start();
#pragma omp task if (0)
      {
#pragma omp cancel taskgroup
      }
    }
    CHECK_EQ(begun, 0);
    // What comes behind the group is none of it.
    submit(begin);
#pragma omp taskwait
    CHECK_EQ(begun, 1);
  }
}

int main(void) {
  for (int i = 0; i < 20; i++) {
    region();
    group();
  }
  // The record of a cancelled region serves again.
  begun = 0;
#pragma omp parallel num_threads(1)
  for (int i = 0; i < 10; i++) submit(begin);
  CHECK_EQ(begun, 10);
  return check_result();
}
