// SPDX-License-Identifier: Apache-2.0
// Signal handlers while members run: on a member's stack, on an alternate one, sent by the member to itself or to the process from
// outside, leaving by siglongjmp; what OpenMP routines answer inside; and the signal mask that members begin with.
#include "../support/check.h"
#include "../support/everywhere.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>

// volatile: the compiler believes that raise() calls nothing of this file.
static _Thread_local volatile int handled, number_seen, level_seen, team_seen;
static int handled_in_all;

static void handler(int signal)
{
  int kept = errno;
  number_seen = omp_get_thread_num();
  team_seen = omp_get_num_threads();
  level_seen = omp_get_level();
  handled = handled + (signal != 0);
  __atomic_add_fetch(&handled_in_all, 1, __ATOMIC_RELAXED);
  errno = kept;
}

static void handle(int signal, void (*with)(int), int flags)
{
  struct sigaction action = {.sa_handler = with, .sa_flags = flags};
  CHECK_EQ(sigaction(signal, &action, NULL), 0);
}

// The handler of a signal that a member sends to itself runs as that member, before the call returns.
static void to_oneself(int threads)
{
#pragma omp parallel num_threads(threads)
  for (int i = 0; i < 8; i++) {
    handled = 0;
    CHECK_EQ(i % 2 ? raise(i % 4 == 1 ? SIGUSR1 : SIGUSR2) : pthread_kill(pthread_self(), SIGUSR1), 0);
    CHECK_EQ(handled, 1);
    CHECK_EQ(number_seen, omp_get_thread_num());
    CHECK_EQ(team_seen, omp_get_num_threads());
    CHECK_EQ(level_seen, omp_get_level());
#pragma omp barrier
  }
}

// Signals for the process land on whatever runs, also between two contexts.
static void from_outside(void)
{
  handled_in_all = 0;
  int sent = 0, done = 0;
  enum { rounds = 200 };
#pragma omp parallel num_threads(4) reduction(+ : sent)
  {
    if (omp_get_thread_num() == 0) {
      for (int i = 0; i < rounds; i++) {
        CHECK_EQ(kill(getpid(), i % 2 ? SIGUSR1 : SIGUSR2), 0);
        sent++;
        usleep(100);
      }
      __atomic_store_n(&done, 1, __ATOMIC_RELEASE);
    } else {
      do {
        int members = 0, tasks = 0;
#pragma omp parallel num_threads(3) reduction(+ : members)
        {
          errno = 77;
#pragma omp barrier
#pragma omp task shared(tasks)
#pragma omp atomic
          tasks++;
          CHECK_EQ(errno, 77);
          members++;
        }
        CHECK_EQ(members, 3);
        CHECK_EQ(tasks, 3);
      } while (!__atomic_load_n(&done, __ATOMIC_ACQUIRE));
    }
  }
  CHECK_EQ(sent, rounds);
  CHECK_IN(handled_in_all, 1, rounds + 1);  // two of the same kind may become one
}

// A member's own alternate stack belongs to the OS thread: it holds until the member waits for something.
static void own_alternate_stack(int threads)
{
#pragma omp parallel num_threads(threads)
  {
    enum { size = 64 << 10 };
    stack_t before, mine = {.ss_sp = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
                            .ss_size = size};
    CHECK_EQ(sigaltstack(&mine, &before), 0);
    handled = 0;
    raise(SIGUSR2);
    CHECK_EQ(handled, 1);
    CHECK_EQ(sigaltstack(&before, NULL), 0);
    munmap(mine.ss_sp, size);
  }
}

static _Thread_local sigjmp_buf back;
static void leap(int signal) { siglongjmp(back, signal); }

// Programs that try an access and go on when it faults.
static void leaving_a_handler(int threads)
{
#pragma omp parallel num_threads(threads)
  for (int i = 0; i < 4; i++) {
    volatile int caught = sigsetjmp(back, 1);
    if (caught == 0) raise(SIGFPE);
    CHECK_EQ(caught, SIGFPE);
#pragma omp barrier
  }
}

// The pool's threads have the mask of the thread that opened the first region, those lent later (to members that spin) as well.
static void mask_of_members(int threads)
{
  int arrived = 0;
#pragma omp parallel num_threads(threads)
  {
    sigset_t mask;
    CHECK_EQ(pthread_sigmask(SIG_SETMASK, NULL, &mask), 0);
    CHECK_EQ(sigismember(&mask, SIGHUP), 1);
    CHECK_EQ(sigismember(&mask, SIGUSR1), 0);
    CHECK_EQ(sigismember(&mask, SIGSEGV), 0);
    handled = 0;
    // All are inside at once: there are OS threads beyond the CPUs. Naps are long, since hundreds of threads that wake
    // every 100 us take all of two CPUs, and what lends the missing threads hardly runs.
    __atomic_add_fetch(&arrived, 1, __ATOMIC_ACQ_REL);
    while (__atomic_load_n(&arrived, __ATOMIC_ACQUIRE) < omp_get_num_threads()) usleep(5000);
    raise(SIGUSR1);
    CHECK_EQ(handled, 1);
  }
}

int main(void)
{
  sigset_t hangup;
  sigemptyset(&hangup);
  sigaddset(&hangup, SIGHUP);
  pthread_sigmask(SIG_BLOCK, &hangup, NULL);
  handle(SIGUSR1, handler, SA_RESTART);
  handle(SIGUSR2, handler, SA_RESTART | SA_ONSTACK);
  handle(SIGFPE, leap, SA_NODEFER);

  mask_of_members(12);
  everywhere(to_oneself, own_alternate_stack, leaving_a_handler, mask_of_members);
  from_outside();
  return check_result();
}
