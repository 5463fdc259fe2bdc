// SPDX-License-Identifier: Apache-2.0
// What tasks keep by their thread number, copies of reductions included, is their own whenever they run, also where
// numbers are shared; and nobody waits for a number for ever.
#include <omp.h>
#include <unistd.h>

#include "../support/check.h"
#include "../support/mailbox.h"

static void add_slowly(volatile long *sum, long times)
{
  for (long i = 0; i < times; i++) *sum = *sum + 1;
}

// clang's tasks have copies of their own; gcc's those of the thread.
enum { kPairs = 100, kEach = 50000 };

// The task adds in a region of its own, which is paused.
static void reduction_in_inner_regions(void)
{
  long sum = 0;
#pragma omp parallel num_threads(4)
#pragma omp single
#pragma omp taskgroup task_reduction(+ : sum)
  for (int i = 0; i < kPairs; i++) {
#pragma omp task in_reduction(+ : sum) firstprivate(i)
    {
      add_slowly(&sum, kEach);
#pragma omp parallel num_threads(1)
      {
        receive_from(i);
        add_slowly(&sum, kEach);
      }
      add_slowly(&sum, kEach);
    }
#pragma omp task in_reduction(+ : sum) firstprivate(i)
    {
      send_to(i, 1);
      add_slowly(&sum, kEach);
    }
  }
  CHECK_EQ(sum, 4L * kPairs * kEach);
}

enum { kWait, kTest, kYield };

// The task waits for a lock between a pause and a sum, or looks whether it is free.
static void reduction_around_locks(int how)
{
  omp_lock_t lock;
  omp_init_lock(&lock);
  long sum = 0;
#pragma omp parallel num_threads(4)
#pragma omp single
#pragma omp taskgroup task_reduction(+ : sum)
  for (int i = 0; i < 2 * kPairs; i++) {
#pragma omp task in_reduction(+ : sum) firstprivate(i)
    {
      if (i % 2 == 0) {
        receive_from(i / 2);
      } else {
        send_to(i / 2, 1);
      }
      if (how == kWait) omp_set_lock(&lock);
      if (how != kYield) {
        const int held = how == kWait || omp_test_lock(&lock);
        if (held && i % 16 == 0) usleep(4000);
        if (held) omp_unset_lock(&lock);
      } else {
#pragma omp taskyield
      }
      add_slowly(&sum, kEach);
    }
  }
  CHECK_EQ(sum, 2L * kPairs * kEach);
  omp_destroy_lock(&lock);
}

// A child is paused on top of the task that has asked, while others run the team's tasks.
static void child_on_top(void)
{
  enum { kMost = 64 };
  static long scratch[kMost];
  weft_blocking_context *_Atomic paused = 0;
  int wrong = 0;
#pragma omp parallel num_threads(4)
#pragma omp single
  if (omp_get_num_threads() == 4) {
    for (int round = 1; round <= 20; round++) {
      paused = 0;
#pragma omp task shared(wrong, paused) firstprivate(round)
      {
        long *mine = &scratch[omp_get_thread_num()];
        *mine = round;
#pragma omp task shared(paused)
        {
          weft_blocking_context *pause = get_blocking_context();
          paused = pause;
          block_task(pause);
        }
#pragma omp taskwait
        if (*mine != round) {
#pragma omp atomic
          wrong++;
        }
      }
      while (paused == 0) usleep(50);
      for (int i = 0; i < 10; i++) {
#pragma omp task
        {
          scratch[omp_get_thread_num()] = -1;
          usleep(100);
        }
      }
      usleep(1000);
      unblock_task(paused);
#pragma omp taskwait
    }
  }
  CHECK_EQ(wrong, 0);
}

// A task that has the number looks in a loop for what the other one does, which wants the number back.
static void look_for_number(int how)
{
  weft_blocking_context *_Atomic paused = 0;
  _Atomic int flag = 0;
  int number = -1;
#pragma omp parallel num_threads(1)
  {
#pragma omp task shared(flag, paused, number)
    {
      number = omp_get_thread_num();
      while (paused == 0) yield_task();
      unblock_task(paused);
      while (!flag) {
        if (how == kYield) {
#pragma omp taskyield
        } else {
          yield_task();
        }
      }
    }
    // The last one first.
#pragma omp task shared(flag, paused, number)
    {
      number = omp_get_thread_num();
      weft_blocking_context *pause = get_blocking_context();
      paused = pause;
      block_task(pause);
      flag = 1;
    }
  }
  CHECK_EQ(number, 0);
}

// Another thread of a task's region looks in a loop for what a task outside of it does.
static void look_inside(int how)
{
  _Atomic int flag = 0;
  omp_lock_t lock;
  omp_init_lock(&lock);
  omp_set_lock(&lock);
#pragma omp parallel num_threads(1)
  {
#pragma omp task shared(flag)
    flag = 1;
    // The last one first.
#pragma omp task shared(flag, lock)
#pragma omp parallel num_threads(2)
    if (omp_get_thread_num() == 1) {
      while (how == kWait && !flag) yield_task();
      while (how == kTest && !flag) CHECK_EQ(omp_test_lock(&lock), 0);
      while (how == kYield && !flag) {
#pragma omp taskyield
      }
    }
  }
  CHECK_EQ(flag, 1);
  omp_unset_lock(&lock);
  omp_destroy_lock(&lock);
}

// A task's children are there for it after a pause, though nobody else has time for them.
static void children_after_a_pause(void)
{
  weft_blocking_context *_Atomic paused = 0;
  _Atomic int ran = 0, held = 0;
#pragma omp parallel num_threads(2)
  if (omp_get_num_threads() == 2) {
#pragma omp masked
    {
#pragma omp task shared(paused, ran, held) if (0)
      {
        while (!held) usleep(20);
        CHECK_EQ(omp_get_thread_num(), 0);
        for (int i = 0; i < 3; i++) {
#pragma omp task shared(ran)
          ran++;
        }
        weft_blocking_context *pause = get_blocking_context();
        paused = pause;
        block_task(pause);
#pragma omp taskwait
        CHECK_EQ(ran, 3);
      }
    }
    if (omp_get_thread_num() == 1) {
      held = 1;
      while (paused == 0) usleep(20);
      unblock_task(paused);
      while (ran < 3) usleep(20);
    }
  }
}

int main(void)
{
  omp_set_max_active_levels(3);
  open_mailbox();
  reduction_in_inner_regions();
  for (int how = kWait; how <= kYield; how++) reduction_around_locks(how);
  child_on_top();
  for (int how = kWait; how <= kYield; how++) look_for_number(how);
  for (int how = kWait; how <= kYield; how++) look_inside(how);
  for (int i = 0; i < 10; i++) children_after_a_pause();
  return check_result();
}
