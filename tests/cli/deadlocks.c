// SPDX-License-Identifier: Apache-2.0
// Programs that hang: deadlocks KIND. Each says "hangs" once its members are about to.
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static omp_lock_t lock_a, lock_b;
static omp_nest_lock_t nest_a, nest_b;
static pthread_mutex_t mutex_a = PTHREAD_MUTEX_INITIALIZER, mutex_b = PTHREAD_MUTEX_INITIALIZER;
static int shared_value;
static volatile int never_set;

static void others_get_there(void) { usleep(100000); }
static int me(void) { return omp_get_thread_num(); }

static void locks_crossed(void) {
#pragma omp parallel num_threads(2)
  {
    omp_set_lock(me() == 0 ? &lock_a : &lock_b);
    others_get_there();
    omp_set_lock(me() == 0 ? &lock_b : &lock_a);
  }
}
static void lock_twice(void) {
#pragma omp parallel num_threads(2)
  if (me() == 1) {
    omp_set_lock(&lock_a);
    omp_set_lock(&lock_a);
  }
}
static void lock_left(void) {
#pragma omp parallel num_threads(3)
  {
    if (me() == 1) omp_set_lock(&lock_a);
    if (me() == 2) {
      others_get_there();
      omp_set_lock(&lock_a);
    }
  }
}
static void nest_locks_crossed(void) {
#pragma omp parallel num_threads(2)
  {
    omp_set_nest_lock(me() == 0 ? &nest_a : &nest_b);
    others_get_there();
    omp_set_nest_lock(me() == 0 ? &nest_b : &nest_a);
  }
}
static void criticals_crossed(void) {
#pragma omp parallel num_threads(2)
  if (me() == 0) {
#pragma omp critical(one)
    {
      others_get_there();
#pragma omp critical(two)
      shared_value++;
    }
  } else {
#pragma omp critical(two)
    {
      others_get_there();
#pragma omp critical(one)
      shared_value++;
    }
  }
}
static void enter_again(void) {
#pragma omp critical(one)
  shared_value++;
}
static void critical_in_itself(void) {
#pragma omp parallel num_threads(2)
  {
#pragma omp critical(one)
    enter_again();
  }
}
static void meet(void) {
#pragma omp barrier
}
static void barrier_in_critical(void) {
#pragma omp parallel num_threads(2)
  {
#pragma omp critical(one)
    meet();
  }
}
static void barrier_missed(void) {
#pragma omp parallel num_threads(3)
  if (me() != 1) meet();
}
static void barrier_in_masked(void) {
#pragma omp parallel num_threads(2)
  if (me() == 0) meet();
}
static void barriers_counted(void) {
#pragma omp parallel num_threads(3)
  {
    meet();
    if (me() == 2) meet();
  }
}
static void task_wants_parents_lock(void) {
#pragma omp parallel num_threads(2)
#pragma omp single
  {
    omp_set_lock(&lock_a);
#pragma omp task
    omp_set_lock(&lock_a);
    others_get_there();
#pragma omp taskwait
  }
}
static void group_wants_parents_lock(void) {
#pragma omp parallel num_threads(2)
#pragma omp single
  {
    omp_set_lock(&lock_a);
#pragma omp taskgroup
    {
#pragma omp task
      omp_set_lock(&lock_a);
      others_get_there();
    }
  }
}
static void event_never_comes(void) {
#pragma omp parallel num_threads(2)
#pragma omp single
  {
    omp_event_handle_t event;
#pragma omp task detach(event)
    shared_value++;
#pragma omp taskwait
  }
}
static void dependence_on_event(void) {
#pragma omp parallel num_threads(2)
#pragma omp single
  {
    omp_event_handle_t event;
#pragma omp task detach(event) depend(out : shared_value)
    shared_value++;
#pragma omp taskwait depend(in : shared_value)
  }
}
static void copyprivate_missed(void) {
#pragma omp parallel num_threads(3)
  if (me() != 1) {
    int value;
#pragma omp single copyprivate(value)
    value = 1;
    shared_value += value;
  }
}
static void turn_behind_lock(void) {
#pragma omp parallel num_threads(2)
#pragma omp for ordered schedule(static, 1)
  for (int i = 0; i < 2; i++) {
    if (i == 0) others_get_there();
    omp_set_lock(&lock_a);
#pragma omp ordered
    shared_value++;
    omp_unset_lock(&lock_a);
  }
}
static void post_behind_lock(void) {
#pragma omp parallel num_threads(2)
#pragma omp for ordered(1) schedule(static, 1)
  for (int i = 0; i < 2; i++) {
    if (i == 0) others_get_there();
    omp_set_lock(&lock_a);
#pragma omp ordered depend(sink : i - 1)
    shared_value++;
#pragma omp ordered depend(source)
    omp_unset_lock(&lock_a);
  }
}
static void mutexes_crossed(void) {
#pragma omp parallel num_threads(2)
  {
    pthread_mutex_lock(me() == 0 ? &mutex_a : &mutex_b);
    others_get_there();
    pthread_mutex_lock(me() == 0 ? &mutex_b : &mutex_a);
  }
}
static void lock_and_mutex(void) {
#pragma omp parallel num_threads(2)
  if (me() == 0) {
    omp_set_lock(&lock_a);
    others_get_there();
    pthread_mutex_lock(&mutex_a);
  } else {
    pthread_mutex_lock(&mutex_a);
    others_get_there();
    omp_set_lock(&lock_a);
  }
}
static void inner_waits_for_outer(void) {
#pragma omp parallel num_threads(2)
  if (me() == 0) {
    omp_set_lock(&lock_a);
#pragma omp parallel num_threads(2)
    if (me() == 1) omp_set_lock(&lock_a);
  }
}
static void *threads_crossed_in_region(void *first) {
#pragma omp parallel num_threads(2)
  shared_value = 0;
  omp_set_lock(first != 0 ? &lock_a : &lock_b);
#pragma omp parallel num_threads(2)
  {
    others_get_there();
    if (me() == 1) omp_set_lock(first != 0 ? &lock_b : &lock_a);
  }
  return first;
}
static void threads_crossed(void) {
  pthread_t thread;
  pthread_create(&thread, 0, threads_crossed_in_region, &thread);
  threads_crossed_in_region(0);
}
static void reduction_missed(void) {
  int sum = 0;
#pragma omp parallel num_threads(3) reduction(+ : sum)
  if (me() != 1) {
#pragma omp for
    for (int i = 0; i < 10; i++) sum += i;
  }
  shared_value = sum;
}

// ---- no deadlocks ----

static void one_computes(void) {
#pragma omp parallel num_threads(3)
  {
    if (me() == 1) {
      while (!never_set) {}
    }
    meet();
  }
}
static void one_sleeps(void) {
#pragma omp parallel num_threads(3)
  {
    if (me() == 1) sleep(1000);
    meet();
  }
}
static void lock_held_long(void) {
#pragma omp parallel num_threads(3)
  {
    omp_set_lock(&lock_a);
    sleep(1000);
    omp_unset_lock(&lock_a);
  }
}
static void event_from_thread(void) {
#pragma omp parallel num_threads(2)
#pragma omp single
  {
    omp_event_handle_t event;
#pragma omp task detach(event)
    shared_value++;
#pragma omp task
    sleep(1000);
#pragma omp taskwait
  }
}
static void *sleep_long(void *unused) {
  sleep(1000);
  return unused;
}
static void thread_is_joined(void) {
#pragma omp parallel num_threads(2)
  {
    if (me() == 1) {
      pthread_t thread;
      pthread_create(&thread, 0, sleep_long, 0);
      pthread_join(thread, 0);
    }
    meet();
  }
}
// The members' functions are not on the stack any more: they have called sleep as their last deed.
static void tail_calls(void) {
#pragma omp parallel num_threads(4)
  sleep(1000);
}
static void mutexes_with_time(void) {
  const struct timespec far = {.tv_sec = 1L << 33};
#pragma omp parallel num_threads(2)
  {
    pthread_mutex_lock(me() == 0 ? &mutex_a : &mutex_b);
    others_get_there();
    pthread_mutex_timedlock(me() == 0 ? &mutex_b : &mutex_a, &far);
  }
}
static void barriers_pass(void) {
#pragma omp parallel num_threads(4)
  for (;;) meet();
}
static void locks_pass(void) {
#pragma omp parallel num_threads(4)
  for (;;) {
    omp_set_lock(&lock_a);
    omp_set_lock(&lock_b);
    omp_unset_lock(&lock_b);
    omp_unset_lock(&lock_a);
  }
}

#define KINDS(K)                                                                                                  \
  K(locks_crossed) K(lock_twice) K(lock_left) K(nest_locks_crossed) K(criticals_crossed) K(critical_in_itself)       \
  K(barrier_in_critical) K(barrier_missed) K(barrier_in_masked) K(barriers_counted) K(task_wants_parents_lock)       \
  K(group_wants_parents_lock) K(event_never_comes) K(dependence_on_event) K(copyprivate_missed) K(turn_behind_lock)  \
  K(post_behind_lock) K(mutexes_crossed) K(lock_and_mutex) K(inner_waits_for_outer) K(threads_crossed)               \
  K(reduction_missed) K(one_computes) K(one_sleeps) K(lock_held_long) K(event_from_thread) K(thread_is_joined)       \
  K(barriers_pass) K(locks_pass) K(tail_calls) K(mutexes_with_time)

int main(int count, char **arguments) {
  omp_init_lock(&lock_a);
  omp_init_lock(&lock_b);
  omp_init_nest_lock(&nest_a);
  omp_init_nest_lock(&nest_b);
  omp_set_max_active_levels(2);
  puts("hangs");
  fflush(stdout);
#define CALL(name) \
  if (count > 1 && strcmp(arguments[1], #name) == 0) name();
  KINDS(CALL)
  return 1;
}
