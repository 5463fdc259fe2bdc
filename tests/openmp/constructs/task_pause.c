// SPDX-License-Identifier: Apache-2.0
// Tasks of every kind are paused until a message comes (weft/task.h): whoever would send it runs meanwhile, with any
// number of threads.
#include <errno.h>
#include <omp.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "../support/check.h"
#include "../support/mailbox.h"
#include "../support/modes.h"

enum { kPairs = 40 };

// Sends and receives in opposite order: with threads that sleep in them it takes as many threads as there are tasks.
static void opposite_order(void)
{
  long sum = 0;
  int children = 0;
#pragma omp parallel
#pragma omp single
  {
    for (int i = 0; i < kPairs; i++) {
#pragma omp task firstprivate(i)
      send_to(i, 3 * i);
    }
    for (int i = kPairs - 1; i >= 0; i--) {
#pragma omp task firstprivate(i) shared(sum, children)
      {
        errno = 77;
        long value = receive_from(i);
        CHECK_EQ(errno, 77);
        CHECK_EQ(value, 3L * i);
#pragma omp atomic
        sum += value;
#pragma omp task shared(children)
        {
#pragma omp atomic
          children++;
        }
      }
    }
  }
  CHECK_EQ(sum, 3L * kPairs * (kPairs - 1) / 2);
  CHECK_EQ(children, kPairs);
}

// More tasks than a queue has room for, all of which wait for those that come last.
static void long_queue(void)
{
  enum { kMany = 300 };
  int received = 0;
#pragma omp parallel
#pragma omp single
  {
    for (int i = 0; i < kMany; i++) {
#pragma omp task firstprivate(i)
      send_to(i, i);
    }
    for (int i = kMany - 1; i >= 0; i--) {
#pragma omp task firstprivate(i) shared(received)
      if (receive_from(i) == i) {
#pragma omp atomic
        received++;
      }
    }
  }
  CHECK_EQ(received, kMany);
}

// Early iterations wait for late ones.
static void in_taskloops(void)
{
  enum { kHalf = 16 };
#pragma omp parallel
#pragma omp single
#pragma omp taskloop grainsize(1)
  for (int i = 0; i < 2 * kHalf; i++) {
    if (i < kHalf) {
      CHECK_EQ(receive_from(i), 7 * i);
    } else {
      send_to(i - kHalf, 7 * (i - kHalf));
    }
  }
}

// Tasks that wait for their children, which wait for messages of tasks that come last.
static void inside_taskwait(void)
{
  long sum = 0;
#pragma omp parallel
#pragma omp single
  {
    for (int i = 0; i < kPairs; i++) {
#pragma omp task firstprivate(i) shared(sum)
      {
        long value = 0;
#pragma omp task firstprivate(i) shared(value)
        value = receive_from(i);
        if (i % 2 == 0) {
#pragma omp taskwait
        } else {
#pragma omp taskgroup
          {
#pragma omp task
            {
            }
          }
#pragma omp taskwait
        }
#pragma omp atomic
        sum += value;
      }
    }
    for (int i = 0; i < kPairs; i++) {
#pragma omp task firstprivate(i)
      send_to(i, i);
    }
  }
  CHECK_EQ(sum, (long)kPairs * (kPairs - 1) / 2);
}

static void ring(int number, int count, int first)
{
  const int next = (number + 1) % count;
  for (int round = 0; round < 5; round++) {
    if (number % 2 == 0) {
      send_to(first + next, number);
      CHECK_EQ(receive_from(first + number), (number + count - 1) % count);
    } else {
      long value = receive_from(first + number);
      send_to(first + next, number);
      CHECK_EQ(value, (number + count - 1) % count);
    }
  }
}

static void implicit_tasks(void)
{
  enum { kMembers = 6 };
  int size = 0;
#pragma omp parallel num_threads(kMembers)
  {
#pragma omp single
    size = omp_get_num_threads();
    if (size % 2 == 0) ring(omp_get_thread_num(), size, 0);
#pragma omp barrier
#pragma omp for schedule(static, 1)
    for (int i = 0; i < size; i++) {
      if (size % 2 == 0) ring(i, size, 0);
    }
#pragma omp sections
    {
#pragma omp section
      if (size > 1) send_to(200, 5);
#pragma omp section
      if (size > 1) CHECK_EQ(receive_from(200), 5);
    }
  }
}

static void nested_regions(void)
{
#pragma omp parallel num_threads(2)
  {
    const int outer = omp_get_thread_num();
    const int outers = omp_get_num_threads();
#pragma omp parallel num_threads(4)
    {
      const int size = omp_get_num_threads();
      if (size % 2 == 0) ring(omp_get_thread_num(), size, 100 + 10 * outer);
#pragma omp barrier
      // Across the inner teams.
#pragma omp single
      {
        if (outers == 2) {
          if (outer == 0) {
            send_to(150, 9);
          } else {
            CHECK_EQ(receive_from(150), 9);
          }
        }
      }
#pragma omp single
      for (int i = 0; i < 8; i++) {
        const int box = 160 + 10 * outer + i;
#pragma omp task
        send_to(box, box);
#pragma omp task
        CHECK_EQ(receive_from(box), box);
      }
    }
  }
}

// A task is paused with a lock held that others wait for.
static void with_a_lock(void)
{
  omp_lock_t lock;
  omp_init_lock(&lock);
  int count = 0;
#pragma omp parallel
#pragma omp single
  {
#pragma omp task shared(count, lock)
    {
      omp_set_lock(&lock);
      CHECK_EQ(receive_from(0), 1);
      count++;
      omp_unset_lock(&lock);
    }
#pragma omp task
    send_to(0, 1);
#pragma omp taskwait
    for (int i = 0; i < 8; i++) {
#pragma omp task shared(count)
      {
#pragma omp critical(pauses)
        {
          send_to(1, i);
          count++;
        }
      }
#pragma omp task
      receive_from(1);
    }
  }
  CHECK_EQ(count, 9);
  omp_destroy_lock(&lock);
}

// Of two threads one keeps its number for a paused task, the other waits for that task's lock: there are tasks still.
static void number_and_lock(void)
{
  omp_lock_t lock;
  omp_init_lock(&lock);
  _Atomic int number = -1;
  int count = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
  if (omp_get_num_threads() == 2) {
#pragma omp task shared(count, lock, number)
    {
      omp_set_lock(&lock);
      number = omp_get_thread_num();
      CHECK_EQ(receive_from(0), 1);
      count++;
      omp_unset_lock(&lock);
    }
    while (number < 0) usleep(50);
    usleep(1000);
#pragma omp task
    send_to(0, 1);
    // The last one first.
#pragma omp task shared(count, lock)
    {
      omp_set_lock(&lock);
      count++;
      omp_unset_lock(&lock);
    }
  } else {
    count = 2;
  }
  CHECK_EQ(count, 2);
  omp_destroy_lock(&lock);
}

// The holder of a lock wants its number back, which a task has that wants the lock.
static void lock_against_number(int how)
{
  omp_lock_t lock;
  omp_init_lock(&lock);
  weft_blocking_context *_Atomic paused = 0;
  _Atomic int freed = 0;
  int count = 0, number = -1;
#pragma omp parallel num_threads(1)
  {
#pragma omp task shared(count, number, lock, freed, paused)
    {
      number = omp_get_thread_num();
      unblock_task(paused);
      if (how == 0) omp_set_lock(&lock);
      while (how == 1 && !omp_test_lock(&lock)) usleep(10);
      while (how == 2 && !freed) {
#pragma omp taskyield
      }
      if (how == 2) omp_set_lock(&lock);
      count++;
      omp_unset_lock(&lock);
    }
    // The last one first.
#pragma omp task shared(count, number, lock, freed, paused)
    {
      omp_set_lock(&lock);
      number = omp_get_thread_num();
      paused = get_blocking_context();
      block_task(paused);
      count++;
      omp_unset_lock(&lock);
      freed = 1;
    }
  }
  CHECK_EQ(count, 2);
  CHECK_EQ(number, 0);
  omp_destroy_lock(&lock);
}

// An inner region waits for the events of its tasks, which a task outside of it brings.
static void events_inside(int members)
{
  long value = 0;
#pragma omp parallel num_threads(1)
  {
#pragma omp task
    send_to(0, 9);
    // The last one first.
#pragma omp task shared(value)
#pragma omp parallel num_threads(members) shared(value)
#pragma omp single
#pragma omp task shared(value)
    receive_later(0, &value);
  }
  CHECK_EQ(value, 9);
}

// What a task keeps by its thread number stays its own while it is paused, as long as there are other threads.
static void thread_numbers(void)
{
  enum { kMost = 64, kPaused = 2 };
  static long scratch[kMost];
  static weft_blocking_context *_Atomic paused[kPaused];
  int wrong = 0;
#pragma omp parallel
#pragma omp single
  if (omp_get_num_threads() > kPaused && omp_get_num_threads() <= kMost) {
    for (int round = 0; round < 20; round++) {
      for (int i = 0; i < kPaused; i++) {
        paused[i] = 0;
#pragma omp task firstprivate(i, round) shared(wrong)
        {
          long *mine = &scratch[omp_get_thread_num()];
          const long value = 1000 * round + i;
          *mine = value;
          weft_blocking_context *pause = get_blocking_context();
          paused[i] = pause;
          block_task(pause);
          if (*mine != value) {
#pragma omp atomic
            wrong++;
          }
        }
      }
      for (int i = 0; i < 10; i++) {
#pragma omp task
        scratch[omp_get_thread_num()] = -1;
      }
      for (int i = 0; i < kPaused; i++) {
        while (paused[i] == 0) usleep(50);
        unblock_task(paused[i]);
      }
#pragma omp taskwait
    }
  }
  CHECK_EQ(wrong, 0);
}

// Two tasks that have asked for the same number do not run at the same time, also where it has to be shared.
static void one_at_a_time(void)
{
  enum { kMost = 64, kTasks = 16 };
  static _Atomic int inside[kMost];
  int wrong = 0;
#pragma omp parallel
#pragma omp single
  if (omp_get_num_threads() <= kMost) {
    for (int i = 0; i < 2 * kTasks; i++) {
#pragma omp task firstprivate(i) shared(wrong)
      {
        const int mine = omp_get_thread_num();
        for (int round = 0; round < 4; round++) {
          int others = inside[mine]++;
          for (int k = 0; k < TIMES(20000); k++) others |= inside[mine] - 1;
          inside[mine]--;
          if (others != 0) {
#pragma omp atomic
            wrong++;
          }
          if (i < kTasks) {
            receive_from(i);
          } else {
            send_to(i - kTasks, 1);
          }
        }
      }
    }
  }
  CHECK_EQ(wrong, 0);
}

// A task that has asked waits for children that ask too, perhaps on top of it.
static void numbers_of_children(void)
{
  int count = 0;
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < kPairs; i++) {
#pragma omp task firstprivate(i) shared(count)
    {
      const int mine = omp_get_thread_num();
      for (int k = 0; k < 2; k++) {
#pragma omp task firstprivate(i, k) shared(count)
        {
          if (omp_get_thread_num() >= 0) {
#pragma omp atomic
            count++;
          }
          if (k == 0) {
            receive_from(i);
          } else {
            send_to(i, 1);
          }
        }
      }
#pragma omp taskwait
      CHECK_EQ(omp_get_thread_num(), mine);
    }
  }
  CHECK_EQ(count, 2 * kPairs);
}

static void add_slowly(volatile long *sum, long value)
{
  for (long i = 0; i < value; i++) *sum = *sum + 1;
}

// What tasks add to their copies is all there in the end, though they are paused between.
static void reductions(void)
{
  enum { kMany = 24, kEach = 3000 };
  long sum = 0, last = 0;
#pragma omp parallel
#pragma omp single
  {
#pragma omp taskgroup task_reduction(+ : sum)
    for (int i = 0; i < kMany; i++) {
#pragma omp task in_reduction(+ : sum) firstprivate(i)
      {
        add_slowly(&sum, kEach);
        add_slowly(&sum, receive_from(i));
        add_slowly(&sum, receive_from(i));
      }
#pragma omp task in_reduction(+ : sum) firstprivate(i)
      {
        send_to(i, kEach);
        add_slowly(&sum, kEach);
        send_to(i, kEach);
        add_slowly(&sum, kEach);
      }
    }
    CHECK_EQ(sum, 5L * kMany * kEach);
  }
#pragma omp parallel reduction(task, + : last)
#pragma omp single
  for (int i = 0; i < kMany; i++) {
#pragma omp task in_reduction(+ : last) firstprivate(i)
    {
      const long value = receive_from(i);
      add_slowly(&last, value);
    }
#pragma omp task in_reduction(+ : last) firstprivate(i)
    {
      send_to(i, kEach);
      add_slowly(&last, kEach);
    }
  }
  CHECK_EQ(last, 2L * kMany * kEach);
}

// Members wait for the parts of others, and for their turns, while the others are paused: somebody runs the tasks.
static void inside_reductions(void)
{
  int sum = 0, members = 0;
#pragma omp parallel reduction(+ : sum)
  {
    const int number = omp_get_thread_num();
#pragma omp single nowait
    members = omp_get_num_threads();
    if (number == 0) {
#pragma omp task
      send_to(0, 4);
    }
    if (number == omp_get_num_threads() - 1) {
      sum += (int)receive_from(0);
    } else {
      sum += 1;
    }
  }
  CHECK_EQ(sum, members + 3);
  sum = 0;
#pragma omp parallel
#pragma omp for ordered schedule(static, 1)
  for (int i = 0; i < 8; i++) {
    if (i == 0) {
#pragma omp task
      send_to(1, 2);
    }
#pragma omp ordered
    sum += i == 1 ? (int)receive_from(1) : 1;
  }
  CHECK_EQ(sum, 9);
}

// Tasks open regions and are paused in there: the outer team's other tasks run, also where only one of the inner team
// is paused and the others wait for it.
static void regions_in_tasks(int members, int all_receive)
{
  enum { kRegions = 8 };
  int received = 0, regions = 0;
#pragma omp parallel
#pragma omp single
  {
    for (int i = 0; i < kRegions; i++) {
#pragma omp task firstprivate(i, members, all_receive) shared(received, regions)
      {
#pragma omp parallel num_threads(members) firstprivate(i, members, all_receive)
        {
          const int size = omp_get_num_threads();
          const int number = omp_get_thread_num();
          for (int k = number; k < members; k += size) {
            if (!all_receive && k != members - 1) continue;
            CHECK_EQ(receive_from(members * i + k), k);
#pragma omp atomic
            received++;
          }
          if (i % 2 == 0) {
#pragma omp barrier
          }
        }
#pragma omp atomic
        regions++;
      }
    }
    for (int i = 0; i < kRegions; i++) {
      for (int k = all_receive ? 0 : members - 1; k < members; k++) {
#pragma omp task firstprivate(i, k, members)
        send_to(members * i + k, k);
      }
    }
  }
  CHECK_EQ(regions, kRegions);
  CHECK_EQ(received, kRegions * (all_receive ? members : 1));
}

// In teams of one, and outside of all regions.
static void pairs_alone(int first)
{
  long values[4] = {0, 0, 0, 0};
  int order = 0;
  for (int i = 0; i < 4; i++) {
#pragma omp task shared(values) firstprivate(i, first)
    values[i] = receive_from(first + i);
  }
#pragma omp task firstprivate(first) depend(out : order)
  for (int i = 3; i >= 0; i--) send_to(first + i, i + 1);
#pragma omp task depend(in : order) shared(order)
  order++;
#pragma omp taskwait
  for (int i = 0; i < 4; i++) CHECK_EQ(values[i], i + 1);
  CHECK_EQ(order, 1);
#pragma omp taskgroup
  {
#pragma omp task shared(values) firstprivate(first)
    {
#pragma omp task shared(values) firstprivate(first)
      values[0] = receive_from(first);
#pragma omp task firstprivate(first)
      send_to(first, 9);
    }
  }
  CHECK_EQ(values[0], 9);
}

static void alone(void)
{
  long sum = 0;
  pairs_alone(0);
#pragma omp parallel if (0)
  pairs_alone(0);
#pragma omp parallel num_threads(1)
  pairs_alone(0);
#pragma omp parallel
  if (8 * omp_get_thread_num() < kBoxes) pairs_alone(8 * omp_get_thread_num());
#pragma omp teams num_teams(2)
  pairs_alone(8 * omp_get_team_num());
#pragma omp taskgroup task_reduction(+ : sum)
  for (int i = 0; i < 4; i++) {
#pragma omp task in_reduction(+ : sum) firstprivate(i)
    add_slowly(&sum, receive_from(i));
#pragma omp task in_reduction(+ : sum) firstprivate(i)
    {
      send_to(i, 1000);
      add_slowly(&sum, 1000);
    }
  }
  CHECK_EQ(sum, 8000);
#pragma omp taskloop grainsize(1)
  for (int i = 0; i < 8; i++) {
    if (i < 4) {
      CHECK_EQ(receive_from(i), i);
    } else {
      send_to(i - 4, i - 4);
    }
  }
}

// A region's members wait for a task that stands outside of all regions.
static void region_beside_tasks(void)
{
  int received = 0;
#pragma omp task
  send_to(0, 3);
#pragma omp parallel shared(received)
  {
    if (omp_get_thread_num() == omp_get_num_threads() - 1) {
      CHECK_EQ(receive_from(0), 3);
#pragma omp atomic
      received++;
    }
  }
#pragma omp taskwait
  CHECK_EQ(received, 1);
#pragma omp task shared(received)
  {
#pragma omp parallel
#pragma omp single
    received += (int)receive_from(1);
  }
#pragma omp task
  {
#pragma omp parallel
#pragma omp single
    send_to(1, 4);
  }
#pragma omp taskwait
  CHECK_EQ(received, 5);
}

static void *leave_a_task(void *argument)
{
#pragma omp task
  *(int *)argument = (int)receive_from(2);
#pragma omp task
  send_to(2, 6);
  return 0;
}

// Tasks that nobody waits for have ended when their thread has.
static void thread_with_tasks(void)
{
  int value = 0;
  pthread_t thread;
  pthread_create(&thread, 0, leave_a_task, &value);
  pthread_join(thread, 0);
  CHECK_EQ(value, 6);
}

static void events(void)
{
  long values[kPairs], undeferred = 0;
  int wrong = 0;
  memset(values, 0, sizeof values);
#pragma omp parallel
#pragma omp single
  {
    for (int i = 0; i < kPairs; i++) {
#pragma omp task firstprivate(i) depend(out : values[i]) shared(values)
      receive_later(i, &values[i]);
#pragma omp task firstprivate(i) depend(in : values[i]) shared(values, wrong)
      if (values[i] != i + 1) {
#pragma omp atomic
        wrong++;
      }
    }
    for (int i = 0; i < kPairs; i++) {
#pragma omp task firstprivate(i)
      send_to(i, i + 1);
    }
#pragma omp taskwait
#pragma omp task
    send_to(kPairs, 8);
    if (omp_get_num_threads() > 0) {
#pragma omp task if (0) shared(undeferred)
      receive_later(kPairs, &undeferred);
    }
    if (undeferred != 8) wrong++;
  }
  CHECK_EQ(wrong, 0);
}

// Loops that look for something that another task does.
static void yields(void)
{
  _Atomic int flag = 0;
  int seen = 0;
#pragma omp parallel
#pragma omp single
  {
    for (int i = 0; i < 4; i++) {
#pragma omp task shared(flag, seen)
      {
        while (flag == 0) yield_task();
#pragma omp atomic
        seen++;
      }
    }
#pragma omp task shared(flag)
    flag = 1;
  }
  CHECK_EQ(seen, 4);
}

// A task that lets another one go first, or waits for some of its children, goes on although a task is paused that it has
// begun meanwhile: for that it sends the message.
static void goes_on_above(void)
{
  enum { kTasks = 3 };
  int received = 0, written = 0;
#pragma omp parallel
#pragma omp single
  {
    for (int i = 0; i < kTasks; i++) {
#pragma omp task firstprivate(i) shared(received)
      if (receive_from(i) == 10 + i) {
#pragma omp atomic
        received++;
      }
#pragma omp taskyield
    }
    for (int i = 0; i < kTasks; i++) send_to(i, 10 + i);
#pragma omp taskwait
    for (int i = 0; i < kTasks; i++) {
#pragma omp task shared(written) depend(out : written)
      written++;
#pragma omp task firstprivate(i) shared(received)
      if (receive_from(i) == 20 + i) {
#pragma omp atomic
        received++;
      }
      if (i == 0) {
#pragma omp taskwait depend(in : written)
        CHECK_EQ(written, 1);
      } else {
#pragma omp task if (0) shared(written) depend(in : written)
        CHECK_EQ(written, i + 1);
      }
    }
    for (int i = 0; i < kTasks; i++) send_to(i, 20 + i);
  }
  CHECK_EQ(received, 2 * kTasks);
}

// The same where the wait is for a group, or for children that have left children behind.
static void goes_on_behind_waits(void)
{
  enum { kTasks = 4 };
  int received = 0, done = 0;
#pragma omp parallel
#pragma omp single
  {
    for (int i = 0; i < kTasks; i++) {
#pragma omp task firstprivate(i) shared(received)
      if (receive_from(i) == 10 + i) {
#pragma omp atomic
        received++;
      }
#pragma omp taskgroup
      for (int k = 0; k < 3; k++) {
#pragma omp task shared(done)
        {
#pragma omp task shared(done)
          {
#pragma omp atomic
            done++;
          }
        }
      }
      CHECK_EQ(done, 3 * (i + 1));
    }
    for (int i = 0; i < kTasks; i++) send_to(i, 10 + i);
#pragma omp taskwait
    for (int i = 0; i < kTasks; i++) {
#pragma omp task firstprivate(i) shared(received)
      {
#pragma omp task firstprivate(i) shared(received)
        if (receive_from(i) == 20 + i) {
#pragma omp atomic
          received++;
        }
      }
#pragma omp taskwait
    }
    for (int i = 0; i < kTasks; i++) send_to(i, 20 + i);
  }
  CHECK_EQ(received, 2 * kTasks);
}

// The tasks are those of another member.
static void goes_on_beside_others(void)
{
  enum { kMembers = 3 };
  int received = 0;
#pragma omp parallel num_threads(kMembers)
  if (omp_get_num_threads() == kMembers) {
    const int number = omp_get_thread_num();
    if (number > 0) {
#pragma omp task firstprivate(number) shared(received)
      if (receive_from(number) == 30 + number) {
#pragma omp atomic
        received++;
      }
    }
#pragma omp taskwait
    if (number == 0) {
      for (int i = 0; i < 5; i++) {
#pragma omp task
        usleep(100);
#pragma omp taskwait
      }
      for (int i = 1; i < kMembers; i++) send_to(i, 30 + i);
    }
  } else {
#pragma omp atomic write
    received = kMembers - 1;
  }
  CHECK_EQ(received, kMembers - 1);
}

static void *send_from_thread(void *argument)
{
  send_to(3, 11);
  return argument;
}

static void other_threads(void)
{
  pthread_t thread;
  pthread_create(&thread, 0, send_from_thread, 0);
  CHECK_EQ(receive_from(3), 11);
  pthread_join(thread, 0);
}

static int is_set(void *flag) { return *(int *)flag; }

int main(int count, char **arguments)
{
  open_mailbox();
  if (count > 1) {
    // It ends the process, if it is run.
#pragma omp task
    _exit(strcmp(arguments[1], "left") == 0 ? 7 : 8);
    return 0;
  }
  EXPECT_EXIT("left", 7);
  if (omp_get_max_active_levels() < 3) omp_set_max_active_levels(3);
  long_queue();
  for (int i = 0; i < 5; i++) {
    opposite_order();
    in_taskloops();
    inside_taskwait();
    implicit_tasks();
    nested_regions();
    with_a_lock();
    number_and_lock();
    for (int how = 0; how < 3; how++) lock_against_number(how);
    for (int members = 1; members <= 2; members++) events_inside(members);
    thread_numbers();
    one_at_a_time();
    numbers_of_children();
    reductions();
    inside_reductions();
    for (int members = 1; members <= 3; members++) {
      regions_in_tasks(members, 0);
      regions_in_tasks(members, 1);
    }
    alone();
    region_beside_tasks();
    thread_with_tasks();
    events();
    yields();
    goes_on_above();
    goes_on_behind_waits();
    goes_on_beside_others();
    other_threads();
  }
  int set = 1;
  CHECK_EQ(spin_until(is_set, &set), 1);
  CHECK(get_event_counter() == 0);
  CHECK_EQ(unregister_service(deliver, 0), 0);
  CHECK_EQ(unregister_service(deliver, 0), EINVAL);
  return check_result();
}
