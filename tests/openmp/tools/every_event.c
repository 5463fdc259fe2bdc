// SPDX-License-Identifier: Apache-2.0
// Meets every construct and routine that tools are told of. Run with the checker loaded, which judges.
#include <dlfcn.h>
#include <omp.h>
#include <stdio.h>

static int sum, other, failed, rows[6][3];

static void doacross(void)
{
#pragma omp for ordered(2) schedule(static, 1)
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 3; j++) {
#pragma omp ordered depend(sink : i - 1, j)
      rows[i][j] = i > 0 ? rows[i - 1][j] + 1 : 1;
#pragma omp ordered depend(source)
    }
#pragma omp single nowait
  if (rows[5][2] != 6) failed = 1;
}

static void worksharing(void)
{
#pragma omp for schedule(dynamic, 3)
  for (int i = 0; i < 30; i++) {
#pragma omp atomic
    sum++;
  }
#pragma omp for schedule(guided) nowait
  for (int i = 0; i < 30; i++) {
#pragma omp atomic
    sum++;
  }
#pragma omp for schedule(static, 2) ordered
  for (int i = 0; i < 8; i++) {
#pragma omp ordered
    other++;
  }
#pragma omp for schedule(static) reduction(+ : other)
  for (int i = 0; i < 30; i++) other++;
#pragma omp sections
  {
#pragma omp section
#pragma omp atomic
    sum++;
#pragma omp section
#pragma omp atomic
    sum++;
  }
  int copied = 0;
#pragma omp single copyprivate(copied)
  copied = 7;
  if (copied != 7) failed = 1;
#pragma omp single nowait
  other++;
#ifndef __clang__  // clang 19 does not know it; gcc tells the runtime where tasks take part in the reduction
#pragma omp scope reduction(task, + : other)
  other++;
#endif
#pragma omp master
  sum++;
#pragma omp barrier
}

static void tasks(void)
{
  static int a, b;
#pragma omp single
  {
    for (int i = 0; i < 4; i++) {
#pragma omp task depend(inout : a)
      a++;
#pragma omp task depend(in : a) depend(out : b)
      b = a;
    }
#pragma omp taskwait depend(in : b)
#pragma omp taskgroup
    {
#pragma omp task
#pragma omp task if (0)
      b++;
    }
    for (int i = 0; i < 2; i++) {
#pragma omp task depend(mutexinoutset : a)
      a += 2;
    }
#pragma omp taskloop grainsize(2)
    for (int i = 0; i < 10; i++) {
#pragma omp atomic
      sum++;
    }
#pragma omp task final(1)
#pragma omp task
    b++;
    for (int i = 0; i < 4; i++) {
#pragma omp task
#pragma omp atomic
      sum++;
    }
#pragma omp taskyield
#pragma omp taskwait
    if (a % 4 != 0) failed = 1;
    omp_event_handle_t event;
#pragma omp task detach(event)
    omp_fulfill_event(event);
#pragma omp taskwait
  }
}

static void exclusion(omp_lock_t *lock, omp_nest_lock_t *nest)
{
#pragma omp critical
  other++;
#pragma omp critical(named)
  sum++;
  omp_set_lock(lock);
  omp_unset_lock(lock);
  if (omp_test_lock(lock)) omp_unset_lock(lock);
  omp_set_nest_lock(nest);
  omp_set_nest_lock(nest);
  omp_unset_nest_lock(nest);
  omp_unset_nest_lock(nest);
  if (omp_test_nest_lock(nest)) omp_unset_nest_lock(nest);
#pragma omp flush
}

// What is created in a cancelled group does not begin.
static void discarded(void)
{
#pragma omp single
#pragma omp taskgroup
  {
#pragma omp task if (0)
    {
#pragma omp cancel taskgroup
    }
#pragma omp task
    failed = 1;
  }
}

static void cancelled(void)
{
#pragma omp for schedule(dynamic)
  for (int i = 0; i < 100; i++) {
    if (i == 10) {
#pragma omp cancel for
    }
#pragma omp cancellation point for
  }
}

int main(void)
{
  omp_lock_t lock;
  omp_nest_lock_t nest;
  omp_init_lock(&lock);
  omp_init_nest_lock(&nest);
  for (int round = 0; round < 3; round++) {
#pragma omp parallel num_threads(4)
    {
      worksharing();
      doacross();
      tasks();
      exclusion(&lock, &nest);
#pragma omp parallel num_threads(3)
      {
#pragma omp for schedule(dynamic)
        for (int i = 0; i < 9; i++) {
#pragma omp task
          {
#pragma omp atomic
            sum++;
          }
        }
      }
    }
#pragma omp parallel num_threads(3)
    {
      discarded();
      cancelled();
    }
#pragma omp parallel num_threads(1)
    worksharing();
#pragma omp parallel for num_threads(3) schedule(dynamic)
    for (int i = 0; i < 9; i++) {
#pragma omp atomic
      sum++;
    }
#pragma omp teams num_teams(3)
    {
#pragma omp distribute
      for (int i = 0; i < 9; i++) {
#pragma omp atomic
        sum++;
      }
#pragma omp parallel num_threads(2)
      {
#pragma omp atomic
        sum++;
      }
    }
  }
  omp_destroy_lock(&lock);
  omp_destroy_nest_lock(&nest);

  // libgomp, with which this may be linked, does not have it.
  int (*control)(int, int, void *) = (int (*)(int, int, void *))dlsym(RTLD_DEFAULT, "omp_control_tool");
  if (!control) return printf("no omp_control_tool\n"), 1;
  printf("%d\n", control(3, 0, NULL));
  return failed;
}
