// SPDX-License-Identifier: Apache-2.0
// Members that are stopped by a signal to each, as garbage collectors do: each answers, wherever it is; nothing of it goes
// on meanwhile; what it holds on its stack and in registers is found between the stack pointer in the handler and the end of
// its stack; and it goes on when it is told to.
#define _GNU_SOURCE
#include "../support/check.h"
#include "../support/everywhere.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

enum { most_threads = 128, stop_signal = SIGUSR1, go_signal = SIGUSR2, patience_s = 50 };

struct thread {
  pthread_t id;
  int registered;
  uintptr_t top, end;  // of its stack, as the handler saw it
  volatile uintptr_t *node;  // of the heap: reachable from its stack alone
  long steps;
};

static struct thread threads[most_threads];
static _Thread_local struct thread *volatile me;
static pthread_mutex_t registry = PTHREAD_MUTEX_INITIALIZER;
static sem_t answers;
static int stopped;

static __attribute__((noinline)) void wait_here(struct thread *self)
{
  self->top = (uintptr_t)__builtin_frame_address(0);
  sem_post(&answers);
  sigset_t all_but_go;
  sigfillset(&all_but_go);
  sigdelset(&all_but_go, go_signal);
  while (__atomic_load_n(&stopped, __ATOMIC_ACQUIRE)) sigsuspend(&all_but_go);
  sem_post(&answers);
}

static void on_stop(int signal)
{
  int kept = errno;
  jmp_buf registers;
  CHECK(me != NULL && pthread_equal(me->id, pthread_self()));
  if (signal == stop_signal && me != NULL && setjmp(registers) == 0) wait_here(me);
  errno = kept;
}

static void on_go(int signal)
{
  (void)signal;
}

static void handle(int signal, void (*with)(int))
{
  struct sigaction action = {.sa_handler = with, .sa_flags = SA_RESTART};
  sigfillset(&action.sa_mask);
  CHECK_EQ(sigaction(signal, &action, NULL), 0);
}

// Whether the caller has been registered by this call.
static int enroll(void)
{
  if (me != NULL) return 0;
  pthread_attr_t attributes;
  void *lowest;
  size_t size;
  CHECK_EQ(pthread_getattr_np(pthread_self(), &attributes), 0);
  CHECK_EQ(pthread_attr_getstack(&attributes, &lowest, &size), 0);
  pthread_attr_destroy(&attributes);
  pthread_mutex_lock(&registry);
  int i = 0;
  while (threads[i].registered) i++;
  threads[i] = (struct thread){pthread_self(), 1, 0, (uintptr_t)lowest + size, NULL, 0};
  me = &threads[i];
  pthread_mutex_unlock(&registry);
  return 1;
}

static void leave(int mine)
{
  if (!mine) return;
  pthread_mutex_lock(&registry);
  me->registered = 0;
  me = NULL;
  pthread_mutex_unlock(&registry);
}

static void await_answers(int count)
{
  struct timespec end;
  clock_gettime(CLOCK_REALTIME, &end);
  end.tv_sec += patience_s;
  for (int i = 0; i < count; i++) {
    int result;
    while ((result = sem_timedwait(&answers, &end)) != 0 && errno == EINTR) {}
    if (result != 0) {
      check_failed(__FILE__, __LINE__, "answers", "%d of %d came", i, count);
      _exit(check_result());
    }
  }
}

__attribute__((no_sanitize("address"))) static int stack_has(const struct thread *of, uintptr_t address)
{
  for (uintptr_t at = of->top & ~(uintptr_t)7; at < of->end; at += sizeof at) {
    if (*(volatile uintptr_t *)at == address) return 1;
  }
  return 0;
}

static void collect(void)
{
  pthread_mutex_lock(&registry);
  __atomic_store_n(&stopped, 1, __ATOMIC_RELEASE);
  int others = 0;
  for (int i = 0; i < most_threads; i++) {
    if (!threads[i].registered || &threads[i] == me) continue;
    CHECK_EQ(pthread_kill(threads[i].id, stop_signal), 0);
    others++;
  }
  await_answers(others);
  long before[most_threads];
  for (int i = 0; i < most_threads; i++) before[i] = __atomic_load_n(&threads[i].steps, __ATOMIC_RELAXED);
  for (int i = 0; i < most_threads; i++) {
    if (!threads[i].registered || &threads[i] == me) continue;
    volatile uintptr_t *node = threads[i].node;
    if (node != NULL) CHECK(stack_has(&threads[i], (uintptr_t)node));
  }
  usleep(200);
  for (int i = 0; i < most_threads; i++) {
    if (threads[i].registered && &threads[i] != me)
      CHECK_EQ(__atomic_load_n(&threads[i].steps, __ATOMIC_RELAXED), before[i]);
  }
  __atomic_store_n(&stopped, 0, __ATOMIC_RELEASE);
  for (int i = 0; i < most_threads; i++) {
    if (threads[i].registered && &threads[i] != me) CHECK_EQ(pthread_kill(threads[i].id, go_signal), 0);
  }
  await_answers(others);
  pthread_mutex_unlock(&registry);
}

static void step(void)
{
  __atomic_fetch_add(&me->steps, 1, __ATOMIC_RELAXED);
}

static int pipes[2];
static omp_lock_t lock;

enum way { barriers, tasks, locks, computing, nested, blocked, ways };

static void work(enum way way, int rounds)
{
  switch (way) {
  case barriers:
    for (int i = 0; i < rounds; i++) {
#pragma omp barrier
      step();
    }
    break;
  case tasks:
    for (int i = 0; i < rounds; i++) {
      int done = 0;
#pragma omp task shared(done)
#pragma omp atomic
      done++;
#pragma omp taskwait
      CHECK_EQ(done, 1);
      step();
    }
    break;
  case locks:
    for (int i = 0; i < rounds; i++) {
      omp_set_lock(&lock);
      step();
      omp_unset_lock(&lock);
#pragma omp critical
      step();
    }
    break;
  case computing:
    for (int i = 0; i < rounds * 2000; i++) step();
    break;
  case nested:
#pragma omp parallel num_threads(3)
    {
      int mine = enroll();
      for (int i = 0; i < rounds / 2; i++) {
#pragma omp barrier
        step();
      }
      leave(mine);
    }
    break;
  case blocked: {
    char byte;
    CHECK_EQ(read(pipes[0], &byte, 1), 1);
    step();
    break;
  }
  case ways: break;
  }
}

// The members collect in turns; where they are blocked, the primary does.
static void region(int members, enum way way, int collections)
{
#pragma omp parallel num_threads(members)
  {
    int mine = enroll();
    uintptr_t *node = malloc(sizeof *node);
    *node = 1234;
    me->node = node;
    __asm__ volatile("" : "+r"(node));
    if (omp_get_thread_num() == 0 && way == blocked) {
      usleep(1000);
      collect();
      for (int i = 1; i < omp_get_num_threads(); i++) CHECK_EQ(write(pipes[1], "", 1), 1);
    } else {
      for (int i = 0; i < collections; i++) {
        if (omp_get_thread_num() == i % omp_get_num_threads() && way != blocked) collect();
        work(way, 12);
        if (way == blocked) break;
      }
    }
#pragma omp barrier
    __asm__ volatile("" : "+r"(node));
    CHECK_EQ(*node, 1234);
    me->node = NULL;
    free(node);
    leave(mine);
  }
}

static int over;

static void *watch(void *unused)
{
  while (!__atomic_load_n(&over, __ATOMIC_ACQUIRE)) {
    collect();
    usleep(1500);
  }
  return unused;
}

int main(void)
{
  handle(stop_signal, on_stop);
  handle(go_signal, on_go);
  CHECK_EQ(sem_init(&answers, 0, 0), 0);
  CHECK_EQ(pipe(pipes), 0);
  omp_init_lock(&lock);
  omp_set_max_active_levels(2);
  int mine = enroll();
  const int sizes[] = {2, 4, 8};
  for (int i = 0; i < 3; i++) {
    for (int way = 0; way < ways; way++) region(sizes[i], (enum way)way, 3);
    // Between regions the others are idle.
    collect();
  }
  pthread_t watcher;
  CHECK_EQ(pthread_create(&watcher, NULL, watch, NULL), 0);
  for (int i = 0; i < 2; i++) {
    for (int way = 0; way < ways; way++) region(5, (enum way)way, 1);
  }
  __atomic_store_n(&over, 1, __ATOMIC_RELEASE);
  CHECK_EQ(pthread_join(watcher, NULL), 0);
  leave(mine);
  return check_result();
}
