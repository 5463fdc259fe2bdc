// SPDX-License-Identifier: Apache-2.0
// What the KMP interface allows beyond what clang 19 writes: omp_all_memory as an address, a task without a routine.
#include <stddef.h>

#include "../support/check.h"
#include "../support/everywhere.h"

struct depend {
  void *location;
  size_t length;
  unsigned char flags;
};

enum { tied = 1, in = 1, out = 2 };

struct task {
  void *shareds;
  int (*routine)(int, struct task *);
  int part;
  void *destructors, *priority;
  int *value;
};

struct task *__kmpc_omp_task_alloc(void *location, int thread, int flags, size_t record, size_t shareds,
                                   int (*routine)(int, struct task *));
int __kmpc_omp_task_with_deps(void *location, int thread, struct task *task, int count, struct depend *depends,
                              int others, struct depend *other_depends);
int __kmpc_global_thread_num(void *location);

static void submit(int (*routine)(int, struct task *), int *value, void *location, unsigned char kind)
{
  int thread = __kmpc_global_thread_num(NULL);
  struct task *task = __kmpc_omp_task_alloc(NULL, thread, tied, sizeof(struct task), 0, routine);
  task->value = value;
  struct depend depend = {location, 0, kind};
  __kmpc_omp_task_with_deps(NULL, thread, task, 1, &depend, 0, NULL);
}

static int twice(int thread, struct task *task)
{
  (void)thread;
  *task->value *= 2;
  return 0;
}

// The task that doubles names neither x nor y, and yet comes after the writer of both and before their readers.
static void all_memory_as_address(int threads)
{
  int x = 1, y = 1, wrong = 0;
#pragma omp parallel num_threads(threads)
#pragma omp single
  for (int i = 0; i < 50; i++) {
#pragma omp task depend(out : x, y) shared(x, y)
    y = x = 3;
    submit(twice, &x, (void *)~(size_t)0, out);
#pragma omp task depend(in : x) shared(x, wrong)
    if (x != 6) {
#pragma omp atomic
      wrong++;
    }
#pragma omp task depend(in : y) shared(x, y, wrong)
    if (x + y != 9) {
#pragma omp atomic
      wrong++;
    }
  }
  CHECK_EQ(wrong, 0);
}

// It runs nothing, yet what follows it follows what precedes it.
static void no_routine(int threads)
{
  int x = 0, wrong = 0;
#pragma omp parallel num_threads(threads)
#pragma omp single
  for (int i = 1; i <= 50; i++) {
#pragma omp task depend(inout : x) shared(x) firstprivate(i)
    x = i;
    submit(NULL, NULL, &x, out);
#pragma omp task depend(in : x) shared(x, wrong) firstprivate(i)
    if (x != i) {
#pragma omp atomic
      wrong++;
    }
  }
  CHECK_EQ(wrong, 0);
}

int main(void)
{
  everywhere(all_memory_as_address, no_routine);
  return check_result();
}
