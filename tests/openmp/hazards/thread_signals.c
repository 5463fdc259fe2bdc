// SPDX-License-Identifier: Apache-2.0
// Signals to one member: each reaches the member that it was sent to, once, by pthread_kill, pthread_sigqueue and tgkill,
// while that runs, waits or is blocked in the kernel; and what else is asked of a member by its pthread_t.
#define _GNU_SOURCE
#include "../support/check.h"
#include "../support/everywhere.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

enum { most_here = 16 };

static struct member {
  pthread_t id;
  int came, wrong;
  long values;
} members[most_here];
static _Thread_local volatile int number = -1;

static void note(int signal, siginfo_t *info, void *context)
{
  (void)context;
  int kept = errno;
  int self = number;
  if (self < 0) {
    check_failed(__FILE__, __LINE__, "number", "signal %d came to a thread that is no member", signal);
    return;
  }
  struct member *member = &members[self];
  if (!pthread_equal(member->id, pthread_self()) || omp_get_thread_num() != self || info->si_pid != getpid())
    __atomic_fetch_add(&member->wrong, 1, __ATOMIC_RELAXED);
  if (info->si_code == SI_QUEUE) __atomic_fetch_add(&member->values, info->si_value.sival_int, __ATOMIC_RELAXED);
  __atomic_fetch_add(&member->came, 1, __ATOMIC_RELEASE);
  errno = kept;
}

static void handle(int signal, int flags)
{
  struct sigaction action = {.sa_sigaction = note, .sa_flags = SA_SIGINFO | flags};
  CHECK_EQ(sigaction(signal, &action, NULL), 0);
}

static int came(int member)
{
  return __atomic_load_n(&members[member].came, __ATOMIC_ACQUIRE);
}

static void await(int member, int count)
{
  for (int i = 0; came(member) < count && i < 500000; i++) usleep(100);
  CHECK_EQ(came(member), count);
}

static void begin(int self)
{
  members[self] = (struct member){.id = pthread_self()};
  number = self;
#pragma omp barrier
}

// Members whose identity has no OS thread have no clock, and no number to the kernel: 0.
static pid_t number_of(pthread_t thread)
{
  clockid_t clock;
  const int error = pthread_getcpuclockid(thread, &clock);
  if (error == ENOENT && getenv("WEFT_PARKED_THREADS") != NULL) return 0;
  CHECK_EQ(error, 0);
  struct timespec used;
  CHECK_EQ(clock_gettime(clock, &used), 0);
  return ~(clock >> 3);
}

// What programs have that were linked with glibc 2.33 or older.
extern int kill_as_before(pthread_t thread, int signal);
#if defined(__x86_64__)
__asm__(".symver kill_as_before, pthread_kill@GLIBC_2.2.5");
#elif defined(__aarch64__)
__asm__(".symver kill_as_before, pthread_kill@GLIBC_2.17");
#endif

enum way { killed, queued, by_number, killed_as_before, ways };

static int send(enum way way, pthread_t thread)
{
  switch (way) {
  case killed: return pthread_kill(thread, SIGRTMIN + 3);
  case killed_as_before: return kill_as_before(thread, SIGRTMIN + 3);
  case queued: return pthread_sigqueue(thread, SIGRTMIN + 3, (union sigval){.sival_int = 10});
  default: break;
  }
  const pid_t to = number_of(thread);
  if (to == 0) return pthread_kill(thread, SIGRTMIN + 3);
  return tgkill(getpid(), to, SIGRTMIN + 3) == 0 ? 0 : errno;
}

// Under weft a member on an OS thread of the pool has the number of whichever it runs on; others have one of their own.
static int has_number(int member)
{
  const char *cpus = getenv("WEFT_NUM_CPUS");
  return member == 0 || (cpus != NULL && strcmp(cpus, "1") == 0);
}

// One member sends, the others wait or compute.
static void among_members(int threads)
{
  enum { times = 6 };
#pragma omp parallel num_threads(threads)
  {
    int self = omp_get_thread_num(), size = omp_get_num_threads(), expected = 0, values = 0;
    begin(self);
    for (int way = 0; way < ways; way++) {
      int sender = way % size, reached = self != sender && (way != by_number || has_number(self));
      expected += reached ? times : 0;
      values += reached && way == queued ? 10 * times : 0;
      if (self == sender) {
        for (int other = 0; other < size; other++) {
          if (other == self || (way == by_number && !has_number(other))) continue;
          int before = came(other);
          for (int i = 0; i < times; i++) CHECK_EQ(send((enum way)way, members[other].id), 0);
          await(other, before + times);
        }
      } else if (reached && self % 3 == 1) {
        // It computes until it has been told.
        while (came(self) < expected) {}
      }
#pragma omp barrier
    }
    CHECK_EQ(members[self].wrong, 0);
    CHECK_EQ(came(self), expected);
    CHECK_EQ(members[self].values, values);
#pragma omp barrier
    number = -1;
  }
}

// A handler without SA_RESTART gets a member out of the kernel.
static void interrupted(int threads)
{
  int pipes[2];
  CHECK_EQ(pipe(pipes), 0);
  int left = threads - 1;
#pragma omp parallel num_threads(threads)
  {
    int self = omp_get_thread_num(), size = omp_get_num_threads();
    begin(self);
    if (self == 0) {
      while (__atomic_load_n(&left, __ATOMIC_ACQUIRE) > threads - size) {
        for (int other = 1; other < size; other++) CHECK_EQ(pthread_kill(members[other].id, SIGUSR1), 0);
        usleep(1000);
      }
    } else {
      char byte;
      CHECK_EQ(read(pipes[0], &byte, 1), -1);
      CHECK_EQ(errno, EINTR);
      __atomic_fetch_sub(&left, 1, __ATOMIC_ACQ_REL);
    }
#pragma omp barrier
    // What is still on its way has come by now.
    CHECK_EQ(members[self].wrong, 0);
  }
  close(pipes[0]);
  close(pipes[1]);
}

static void asked_of(int threads)
{
  char *frames[most_here];
#pragma omp parallel num_threads(threads)
  {
    int self = omp_get_thread_num();
    char here = 0;
    frames[self] = &here;
    begin(self);
    int other = (self + 1) % omp_get_num_threads();
    CHECK_EQ(pthread_kill(members[other].id, 0), 0);
    CHECK_EQ(pthread_kill(members[other].id, 200), EINVAL);
    // To itself: they have come when the call returns.
    const int before = came(self);
    CHECK_EQ(pthread_kill(pthread_self(), SIGRTMIN + 3), 0);
    CHECK_EQ(pthread_sigqueue(pthread_self(), SIGRTMIN + 3, (union sigval){.sival_int = 0}), 0);
    CHECK_EQ(came(self), before + 2);
    pthread_attr_t attributes;
    void *lowest;
    size_t size;
    CHECK_EQ(pthread_getattr_np(members[other].id, &attributes), 0);
    CHECK_EQ(pthread_attr_getstack(&attributes, &lowest, &size), 0);
    pthread_attr_destroy(&attributes);
    CHECK(frames[other] >= (char *)lowest && frames[other] < (char *)lowest + size);
    CHECK(number_of(members[other].id) >= 0);
#pragma omp barrier
    number = -1;
  }
}

static void *sleep_on(void *unused)
{
  pause();
  return unused;
}

int main(void)
{
  // Other threads may be there before the runtime is.
  pthread_t other;
  CHECK_EQ(pthread_create(&other, NULL, sleep_on, NULL), 0);
  handle(SIGRTMIN + 3, SA_RESTART);
  handle(SIGUSR1, 0);
  const int sizes[] = {2, 4, 9};
  for (int i = 0; i < 3; i++) {
    among_members(sizes[i]);
    interrupted(sizes[i]);
    asked_of(sizes[i]);
  }
  return check_result();
}
