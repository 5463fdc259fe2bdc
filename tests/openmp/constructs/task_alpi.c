// SPDX-License-Identifier: Apache-2.0
// Libraries pause, spawn and complete tasks by ALPI (weft/alpi.h), with any number of threads: a wake-up that is lost, or
// a task that nobody runs, makes this hang.
#include <errno.h>
#include <omp.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "../support/alpi.h"
#include "../support/check.h"

enum { kPairs = 40 };

// What a program refers to that has been linked with something that gave its names no version.
extern int alpi_version_get(int *, int *) __attribute__((weak));

static void what_it_says(void)
{
  int major = -1, minor = -1, length = -1;
  char text[64] = "", cut[4];
  uint64_t size = 0;
  struct alpi_attr *attr = 0;
  CHECK_EQ(alpi.version_get(&major, &minor), ALPI_SUCCESS);
  CHECK_EQ(major, 1);
  CHECK_EQ(minor, 2);
  CHECK_EQ(alpi.version_check(1, 0), ALPI_SUCCESS);
  CHECK_EQ(alpi.version_check(1, 2), ALPI_SUCCESS);
  CHECK_EQ(alpi.version_check(1, 3), ALPI_ERR_VERSION);
  CHECK_EQ(alpi.version_check(2, 0), ALPI_ERR_VERSION);
  CHECK_EQ(alpi.version_check(0, 0), ALPI_ERR_VERSION);
  CHECK(alpi_version_get != 0 && alpi_version_get(&major, &minor) == ALPI_SUCCESS);
  CHECK_EQ(alpi.feature_check(ALPI_FEATURE_BLOCKING | ALPI_FEATURE_EVENTS | ALPI_FEATURE_RESOURCES |
                              ALPI_FEATURE_SUSPEND), ALPI_SUCCESS);
  CHECK_EQ(alpi.feature_check(1 << 4), ALPI_ERR_FEATURE_UNKNOWN);
  CHECK_EQ(alpi.info_get(ALPI_INFO_RUNTIME_NAME, text, sizeof text, &length), ALPI_SUCCESS);
  CHECK(strcmp(text, "weft") == 0 && length == 4);
  CHECK_EQ(alpi.info_get(ALPI_INFO_VERSION, cut, sizeof cut, &length), ALPI_SUCCESS);
  CHECK(strcmp(cut, "ALP") == 0 && length == 3);
  CHECK_EQ(alpi.info_get((alpi_info_t)9, text, sizeof text, 0), ALPI_ERR_PARAMETER);
  for (int error = 0; error <= ALPI_ERR_MAX; error++) CHECK(strlen(alpi.error_string((alpi_error_t)error)) > 0);
  CHECK_EQ(alpi.attr_create(&attr), ALPI_SUCCESS);
  CHECK_EQ(alpi.attr_size(&size), ALPI_SUCCESS);
  CHECK(size > 0);
  CHECK_EQ(alpi.attr_init(attr), ALPI_SUCCESS);
  CHECK_EQ(alpi.attr_destroy(attr), ALPI_SUCCESS);
}

// Each function's errors: what is missing, what is out of range, what is not the caller's.
static void wrong_arguments(void)
{
  struct alpi_task *task = own_task();
  const uint64_t too_many = UINT64_C(1) << 40;
  char text[8];
  int length = -1;
  uint64_t some = 9;
  CHECK(strcmp(alpi.error_string(ALPI_ERR_PARAMETER), alpi.error_string((alpi_error_t)77)) != 0);
  CHECK_EQ(alpi.info_get(ALPI_INFO_RUNTIME_NAME, 0, sizeof text, &length), ALPI_ERR_PARAMETER);
  CHECK_EQ(alpi.info_get(ALPI_INFO_RUNTIME_NAME, text, 0, &length), ALPI_ERR_PARAMETER);
  CHECK_EQ(length, -1);
  CHECK_EQ(alpi.feature_check(0), ALPI_SUCCESS);
  CHECK_EQ(alpi.feature_check(ALPI_FEATURE_EVENTS | 1 << 9), ALPI_ERR_FEATURE_UNKNOWN);
  CHECK_EQ(alpi.version_get(0, &length), ALPI_ERR_PARAMETER);
  CHECK_EQ(alpi.version_get(&length, 0), ALPI_ERR_PARAMETER);
  CHECK_EQ(alpi.task_self(0), ALPI_ERR_PARAMETER);
  CHECK_EQ(alpi.task_block(0), ALPI_ERR_PARAMETER);
  CHECK_EQ(alpi.task_unblock(0), ALPI_ERR_PARAMETER);
  CHECK_EQ(alpi.task_waitfor_ns(0, 0), ALPI_SUCCESS);
  CHECK_EQ(alpi.task_events_increase(0, 1), ALPI_ERR_PARAMETER);
  CHECK_EQ(alpi.task_events_increase(task, too_many), ALPI_ERR_PARAMETER);
  CHECK_EQ(alpi.task_events_increase(task, 0), ALPI_SUCCESS);
  CHECK_EQ(alpi.task_events_decrease(0, 1), ALPI_ERR_PARAMETER);
  CHECK_EQ(alpi.task_events_decrease(task, too_many), ALPI_ERR_PARAMETER);
  CHECK_EQ(alpi.task_events_decrease(task, 0), ALPI_SUCCESS);
  CHECK_EQ(alpi.task_events_test(0, &some), ALPI_ERR_PARAMETER);
  CHECK_EQ(alpi.task_events_test(task, 0), ALPI_ERR_PARAMETER);
  CHECK_EQ(some, 9);
  CHECK_EQ(alpi.task_events_test(task, &some), ALPI_SUCCESS);
  CHECK_EQ(some, 0);
  CHECK_EQ(alpi.task_suspend(0), ALPI_ERR_PARAMETER);
  CHECK_EQ(alpi.task_suspend(task), ALPI_ERR_PARAMETER);
  CHECK_EQ(alpi.task_suspend_mode_set(0, ALPI_SUSPEND_SUBMIT, 0), ALPI_ERR_PARAMETER);
  CHECK_EQ(alpi.task_suspend_mode_set(task, ALPI_SUSPEND_SUBMIT, 0), ALPI_ERR_PARAMETER);
  CHECK_EQ(alpi.task_spawn(0, 0, 0, 0, 0, 0), ALPI_ERR_PARAMETER);
  CHECK_EQ(alpi.attr_create(0), ALPI_ERR_PARAMETER);
  CHECK_EQ(alpi.attr_destroy(0), ALPI_ERR_PARAMETER);
  CHECK_EQ(alpi.attr_init(0), ALPI_ERR_PARAMETER);
  CHECK_EQ(alpi.attr_size(0), ALPI_ERR_PARAMETER);
  CHECK_EQ(alpi.cpu_count(0), ALPI_ERR_PARAMETER);
  CHECK_EQ(alpi.cpu_logical_id(0), ALPI_ERR_PARAMETER);
  CHECK_EQ(alpi.cpu_system_id(0), ALPI_ERR_PARAMETER);
}

// ---- tasks that are spawned ----

struct Flag {
  struct alpi_task *waiter;  // to be unblocked when it is set
  _Atomic int set;
};

static void wait_for(struct Flag *flag)
{
  CHECK_EQ(alpi.task_block(flag->waiter), ALPI_SUCCESS);
  CHECK_EQ(flag->set, 1);
}

static void set(void *argument)
{
  struct Flag *flag = argument;
  struct alpi_task *waiter = flag->waiter;
  flag->set++;
  CHECK_EQ(alpi.task_unblock(waiter), ALPI_SUCCESS);
}

static void do_nothing(void *argument) { (void)argument; }

// Of a task that another one runs. `argument` is the handle of the one that waits for this.
static void use_others(void *argument)
{
  struct alpi_task *self = own_task(), *other = argument;
  CHECK(self != other);
  CHECK_EQ(alpi.task_block(other), ALPI_ERR_PARAMETER);
  CHECK_EQ(alpi.task_events_increase(other, 1), ALPI_ERR_PARAMETER);
  CHECK_EQ(alpi.task_suspend(other), ALPI_ERR_PARAMETER);
  CHECK_EQ(alpi.task_suspend_mode_set(other, ALPI_SUSPEND_NONE, 0), ALPI_ERR_PARAMETER);
  CHECK_EQ(alpi.task_suspend_mode_set(self, (alpi_suspend_mode_t)9, 0), ALPI_ERR_PARAMETER);
  CHECK_EQ(alpi.task_suspend_mode_set(self, (alpi_suspend_mode_t)-1, 0), ALPI_ERR_PARAMETER);
}

static void wrong_tasks(void)
{
  struct Flag flag = {own_task(), 0};
  CHECK_EQ(alpi.task_spawn(use_others, flag.waiter, set, &flag, 0, 0), ALPI_SUCCESS);
  wait_for(&flag);
}

// Its children wait for each other; the second one is created after the first.
static void have_children(void *argument)
{
  struct alpi_task *_Atomic waiting = 0;
  int *came = argument;
#pragma omp task shared(waiting) firstprivate(came)
  {
    struct alpi_task *self = own_task();
    waiting = self;
    CHECK_EQ(alpi.task_block(self), ALPI_SUCCESS);
    ++*came;
  }
#pragma omp task shared(waiting)
  {
    while (waiting == 0) alpi.task_waitfor_ns(0, 0);
    CHECK_EQ(alpi.task_unblock(waiting), ALPI_SUCCESS);
  }
#pragma omp taskwait
}

static void children_of_spawned(void)
{
  struct Flag flag = {own_task(), 0};
  int came = 0;
  CHECK_EQ(alpi.task_spawn(have_children, &came, set, &flag, 0, 0), ALPI_SUCCESS);
  wait_for(&flag);
  CHECK_EQ(came, 1);
}

static void spawned(void)
{
  errno = 77;
  struct Flag flag = {own_task(), 0};
  CHECK_EQ(alpi.task_spawn(do_nothing, 0, set, &flag, "nothing", 0), ALPI_SUCCESS);
  wait_for(&flag);
  CHECK_EQ(errno, 77);
}

// A thread that does not wait, but looks, keeps no other from its CPU.
static void beside_a_busy_thread(void)
{
  struct Flag flag = {own_task(), 0};
  CHECK_EQ(alpi.task_spawn(do_nothing, 0, set, &flag, 0, 0), ALPI_SUCCESS);
  while (flag.set == 0) continue;
  wait_for(&flag);
}

// Each is paused until the next one comes: as many are under way as there are tasks.
static struct alpi_task *_Atomic g_chain[kPairs];

static void link_of_chain(void *argument)
{
  struct alpi_task *_Atomic *mine = argument;
  struct alpi_task *self = own_task();
  *mine = self;
  if (mine != g_chain) {
    while (mine[-1] == 0) alpi.task_waitfor_ns(0, 0);
    CHECK_EQ(alpi.task_unblock(mine[-1]), ALPI_SUCCESS);
  }
  if (mine != &g_chain[kPairs - 1]) CHECK_EQ(alpi.task_block(self), ALPI_SUCCESS);
}

// Each waits inside a region of its own for the next one: they give up their places.
static void link_in_region(void *argument)
{
#pragma omp parallel num_threads(2)
#pragma omp single
  link_of_chain(argument);
}

static struct Flag g_all;
static _Atomic int g_left;

static void count_down(void *argument)
{
  (void)argument;
  if (--g_left == 0) set(&g_all);
}

static void spawned_chain(void)
{
  memset((void *)g_chain, 0, sizeof g_chain);
  g_all = (struct Flag){own_task(), 0};
  g_left = kPairs;
  for (int i = 0; i < kPairs; i++) {
    CHECK_EQ(alpi.task_spawn(link_of_chain, (void *)&g_chain[i], count_down, 0, 0, 0), ALPI_SUCCESS);
  }
  wait_for(&g_all);
}

// Its body runs again and again.
struct Again {
  struct Flag done;
  struct alpi_task *_Atomic task;
  _Atomic int runs;
  _Atomic int events_came;
};

static void run_again(void *argument)
{
  struct Again *again = argument;
  struct alpi_task *self = own_task();
  CHECK(again->runs == 0 || again->task == self);
  CHECK_EQ(again->done.set, 0);
  again->task = self;
  uint64_t some = 9;
  switch (again->runs++) {
    case 0:
      CHECK_EQ(alpi.task_suspend_mode_set(self, ALPI_SUSPEND_TIMEOUT_SUBMIT, 200000), ALPI_SUCCESS);
      break;
    case 1:  // the mode stays
      break;
    case 2:
      CHECK_EQ(alpi.task_suspend_mode_set(self, ALPI_SUSPEND_SUBMIT, 1), ALPI_SUCCESS);
      break;
    case 3:
      CHECK_EQ(alpi.task_events_increase(self, 2), ALPI_SUCCESS);
      CHECK_EQ(alpi.task_events_test(self, &some), ALPI_SUCCESS);
      CHECK_EQ(some, 1);
      CHECK_EQ(alpi.task_suspend_mode_set(self, ALPI_SUSPEND_EVENT_SUBMIT, 0), ALPI_SUCCESS);
      break;
    case 4:
      CHECK_EQ(again->events_came, 1);
      CHECK_EQ(alpi.task_events_test(self, &some), ALPI_SUCCESS);
      CHECK_EQ(some, 0);
      CHECK_EQ(alpi.task_suspend_mode_set(self, ALPI_SUSPEND_NONE, 0), ALPI_SUCCESS);
      break;
    default:
      return;
  }
  CHECK_EQ(alpi.task_suspend(self), ALPI_SUCCESS);
}

static void await_runs(struct Again *again, int runs)
{
  while (again->runs < runs) CHECK_EQ(alpi.task_waitfor_ns(100000, 0), ALPI_SUCCESS);
}

static void chain_in_regions(void)
{
  memset((void *)g_chain, 0, sizeof g_chain);
  g_all = (struct Flag){own_task(), 0};
  g_left = kPairs;
  for (int i = 0; i < kPairs; i++) {
    CHECK_EQ(alpi.task_spawn(link_in_region, (void *)&g_chain[i], count_down, 0, 0, 0), ALPI_SUCCESS);
  }
  wait_for(&g_all);
}

static void suspended(void)
{
  struct Again again = {.done = {own_task(), 0}};
  CHECK_EQ(alpi.task_spawn(run_again, &again, set, &again.done, 0, 0), ALPI_SUCCESS);
  await_runs(&again, 4);
  CHECK_EQ(alpi.task_events_decrease(again.task, 1), ALPI_SUCCESS);
  alpi.task_waitfor_ns(2000000, 0);
  CHECK_EQ(again.runs, 4);
  again.events_came = 1;
  CHECK_EQ(alpi.task_events_decrease(again.task, 1), ALPI_SUCCESS);
  await_runs(&again, 5);
  CHECK_EQ(again.done.set, 0);
  CHECK_EQ(alpi.task_unblock(again.task), ALPI_SUCCESS);
  wait_for(&again.done);
  CHECK_EQ(again.runs, 6);
}

// Completion comes after the last event, whoever brings it.
struct Eventful {
  struct Flag done;
  struct alpi_task *_Atomic task;
  _Atomic int released;
};

static void expect_three(void *argument)
{
  struct Eventful *eventful = argument;
  CHECK_EQ(alpi.task_events_increase(own_task(), 3), ALPI_SUCCESS);
  eventful->task = own_task();
}

static void see_release(void *argument)
{
  struct Eventful *eventful = argument;
  CHECK_EQ(eventful->released, 1);
  set(&eventful->done);
}

static void *release(void *argument)
{
  struct Eventful *eventful = argument;
  eventful->released = 1;
  CHECK_EQ(alpi.task_events_decrease(eventful->task, 2), ALPI_SUCCESS);
  return 0;
}

static void spawned_events(void)
{
  struct Eventful eventful = {.done = {own_task(), 0}};
  CHECK_EQ(alpi.task_spawn(expect_three, &eventful, see_release, &eventful, 0, 0), ALPI_SUCCESS);
  while (eventful.task == 0) alpi.task_waitfor_ns(100000, 0);
  CHECK_EQ(alpi.task_events_decrease(eventful.task, 1), ALPI_SUCCESS);
  alpi.task_waitfor_ns(2000000, 0);
  CHECK_EQ(eventful.done.set, 0);
  pthread_t thread;
  pthread_create(&thread, 0, release, &eventful);
  wait_for(&eventful.done);
  pthread_join(thread, 0);
}

static void open_a_region(void *argument)
{
  int count = 0;
#pragma omp parallel reduction(+ : count)
  {
    count++;
#pragma omp single
    for (int i = 0; i < 4; i++) {
#pragma omp task
      CHECK_EQ(alpi.task_waitfor_ns(100000, 0), ALPI_SUCCESS);
    }
  }
  CHECK(count >= 1);
  *(int *)argument = count;
}

static void region_inside(void)
{
  struct Flag flag = {own_task(), 0};
  int count = 0;
  CHECK_EQ(alpi.task_spawn(open_a_region, &count, set, &flag, 0, 0), ALPI_SUCCESS);
  wait_for(&flag);
  CHECK(count >= 1);
}

// ---- tasks of OpenMP ----

static void pairs(void)
{
  struct alpi_task *_Atomic waiting[kPairs];
  int woken = 0;
  for (int i = 0; i < kPairs; i++) waiting[i] = 0;
#pragma omp parallel
#pragma omp single
  {
    for (int i = 0; i < kPairs; i++) {
#pragma omp task firstprivate(i) shared(waiting, woken)
      {
        struct alpi_task *self = own_task();
        // Every other one is unblocked before it blocks, perhaps.
        waiting[i] = self;
        if (i % 2 == 0) alpi.task_waitfor_ns(50000, 0);
        errno = 77;
        CHECK_EQ(alpi.task_block(self), ALPI_SUCCESS);
        CHECK_EQ(errno, 77);
        CHECK(own_task() == self);
#pragma omp atomic
        woken++;
      }
    }
    for (int i = kPairs - 1; i >= 0; i--) {
#pragma omp task firstprivate(i) shared(waiting)
      {
        while (waiting[i] == 0) alpi.task_waitfor_ns(0, 0);
        CHECK_EQ(alpi.task_unblock(waiting[i]), ALPI_SUCCESS);
      }
    }
  }
  CHECK_EQ(woken, kPairs);
}

static void unblocked_before(void)
{
  struct alpi_task *self = own_task();
  for (int i = 0; i < 3; i++) {
    CHECK_EQ(alpi.task_unblock(self), ALPI_SUCCESS);
    CHECK_EQ(alpi.task_block(self), ALPI_SUCCESS);
  }
#pragma omp parallel
  {
    struct alpi_task *member = own_task();
    CHECK(member != 0);
    CHECK_EQ(alpi.task_unblock(member), ALPI_SUCCESS);
    CHECK_EQ(alpi.task_block(member), ALPI_SUCCESS);
#pragma omp barrier
#pragma omp task
    {
      CHECK(own_task() != member);
      CHECK_EQ(alpi.task_block(member), ALPI_ERR_PARAMETER);
    }
  }
}

static void timed_waits(void)
{
  uint64_t waited = 0;
  CHECK_EQ(alpi.task_waitfor_ns(3000000, &waited), ALPI_SUCCESS);
  CHECK(waited >= 3000000);
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < kPairs; i++) {
#pragma omp task firstprivate(i)
    {
      uint64_t mine = 0;
      CHECK_EQ(alpi.task_waitfor_ns(1000 * (uint64_t)(i * i), &mine), ALPI_SUCCESS);
      CHECK(mine >= 1000 * (uint64_t)(i * i));
    }
  }
}

// The event of one that another thread brings.
struct Event {
  struct alpi_task *task;
  _Atomic int *came;
};

static void *bring_later(void *argument)
{
  struct Event *event = argument;
  alpi.task_waitfor_ns(500000, 0);
  (*event->came)++;
  CHECK_EQ(alpi.task_events_decrease(event->task, 1), ALPI_SUCCESS);
  return 0;
}

static void bring(void *event)
{
  bring_later(event);
  free(event);
}

static void expect_one(_Atomic int *came)
{
  struct Event *event = malloc(sizeof *event);
  event->task = own_task();
  event->came = came;
  CHECK_EQ(alpi.task_events_increase(event->task, 1), ALPI_SUCCESS);
  CHECK_EQ(alpi.task_spawn(bring, event, 0, 0, 0, 0), ALPI_SUCCESS);
}

static void explicit_events(void)
{
  _Atomic int came = 0;
  int undeferred = 0;
#pragma omp parallel
#pragma omp single
  {
#pragma omp task depend(out : undeferred) shared(came)
    expect_one(&came);
#pragma omp task depend(in : undeferred) shared(came)
    CHECK_EQ(came, 1);
#pragma omp taskwait
    CHECK_EQ(came, 1);
#pragma omp task if (0) shared(came, undeferred)
    {
      expect_one(&came);
      undeferred = 1;
    }
    CHECK_EQ(came, 2);
  }
  CHECK_EQ(undeferred, 1);
  CHECK_EQ(came, 2);
}

// They hold up the team's barriers.
static void implicit_events(void)
{
  _Atomic int came = 0;
  int size = 0;
#pragma omp parallel shared(came, size)
  {
#pragma omp single
    size = omp_get_num_threads();
    expect_one(&came);
    expect_one(&came);
#pragma omp barrier
    CHECK_EQ(came, 2 * size);
#pragma omp barrier
    expect_one(&came);
  }
  CHECK_EQ(came, 3 * size);
}

// ---- threads ----

static void *paused_thread(void *argument)
{
  struct Flag *flag = argument;
  struct Flag mine = {own_task(), 0};
  CHECK(mine.waiter != flag->waiter);
  CHECK_EQ(alpi.task_spawn(do_nothing, 0, set, &mine, 0, 0), ALPI_SUCCESS);
  wait_for(&mine);
  set(flag);
  return 0;
}

static void other_threads(void)
{
  struct Flag flag = {own_task(), 0};
  pthread_t thread;
  pthread_create(&thread, 0, paused_thread, &flag);
  wait_for(&flag);
  pthread_join(thread, 0);
}

// One thread at a time has a number.
enum { kThreads = 12, kMost = 8192 };
static _Atomic int g_inside[kMost];
static pthread_barrier_t g_barrier;

static uint64_t use_own_number(void)
{
  uint64_t count = 0, id = kMost, system = kMost;
  CHECK_EQ(alpi.cpu_count(&count), ALPI_SUCCESS);
  CHECK_EQ(alpi.cpu_logical_id(&id), ALPI_SUCCESS);
  CHECK(count <= kMost && id < count);
  if (id >= kMost) return 0;
  CHECK_EQ(g_inside[id]++, 0);
  for (int i = 0; i < 200; i++) CHECK_EQ(g_inside[id], 1);
  g_inside[id]--;
  CHECK_EQ(alpi.cpu_system_id(&system), ALPI_SUCCESS);
  CHECK(system < (uint64_t)sysconf(_SC_NPROCESSORS_CONF));
  return id;
}

static void *numbered_thread(void *argument)
{
  *(uint64_t *)argument = use_own_number();
  pthread_barrier_wait(&g_barrier);
  for (int i = 0; i < 20; i++) CHECK_EQ(use_own_number(), *(uint64_t *)argument);
  pthread_barrier_wait(&g_barrier);
  return 0;
}

static void use_numbers(void *argument)
{
  (void)argument;
  for (int i = 0; i < 5; i++) {
    use_own_number();
    alpi.task_waitfor_ns(0, 0);
  }
}

static void thread_numbers(void)
{
  pthread_t threads[kThreads];
  uint64_t ids[kThreads];
  pthread_barrier_init(&g_barrier, 0, kThreads + 1);
  for (int i = 0; i < kThreads; i++) pthread_create(&threads[i], 0, numbered_thread, &ids[i]);
  g_all = (struct Flag){own_task(), 0};
  g_left = kPairs;
  for (int i = 0; i < kPairs; i++) alpi.task_spawn(use_numbers, 0, count_down, 0, 0, 0);
  pthread_barrier_wait(&g_barrier);
#pragma omp parallel
  use_numbers(0);
  for (int i = 0; i < kThreads; i++) {
    for (int k = 0; k < i; k++) CHECK(ids[i] != ids[k]);
  }
  pthread_barrier_wait(&g_barrier);
  for (int i = 0; i < kThreads; i++) pthread_join(threads[i], 0);
  pthread_barrier_destroy(&g_barrier);
  wait_for(&g_all);
}

int main(void)
{
  find_alpi();
  // Before any region.
  spawned();
  what_it_says();
  wrong_arguments();
  wrong_tasks();
  for (int i = 0; i < 5; i++) {
    spawned();
    beside_a_busy_thread();
    spawned_chain();
    chain_in_regions();
    children_of_spawned();
    suspended();
    spawned_events();
    region_inside();
    pairs();
    unblocked_before();
    timed_waits();
    explicit_events();
    implicit_events();
    other_threads();
    thread_numbers();
  }
  return check_result();
}
