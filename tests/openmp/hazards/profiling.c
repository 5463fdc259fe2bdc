// SPDX-License-Identifier: Apache-2.0
// Sampling profilers: timers of the process's CPU time whose handler takes a backtrace, while members switch, run tasks and open
// regions. Samples must arrive, on the members too, and nothing may be lost.
#include "../support/check.h"

#include <errno.h>
#include <execinfo.h>
#include <omp.h>
#include <signal.h>
#include <sys/time.h>
#include <time.h>

enum { deepest = 64 };
static int samples, samples_of_others, empty_samples;

static void sample(int signal)
{
  int kept = errno;
  void *frames[deepest];
  int depth = backtrace(frames, deepest);
  __atomic_add_fetch(&samples, signal != 0, __ATOMIC_RELAXED);
  if (depth < 2) __atomic_add_fetch(&empty_samples, 1, __ATOMIC_RELAXED);
  if (omp_get_thread_num() > 0) __atomic_add_fetch(&samples_of_others, 1, __ATOMIC_RELAXED);
  errno = kept;
}

static int seen(const int *counter) { return __atomic_load_n(counter, __ATOMIC_RELAXED); }

static double work(int n)
{
  double sum = 0;
  for (int i = 1; i < n; i++) sum += 1.0 / i;
  return sum;
}

static long tree(int depth)
{
  if (depth == 0) return work(20) > 0;
  long left, right;
#pragma omp task shared(left)
  left = tree(depth - 1);
  right = tree(depth - 1);
#pragma omp taskwait
  return left + right;
}

static void load(void)
{
  long leaves = 0, members = 0, inner = 0;
#pragma omp parallel num_threads(4) reduction(+ : members, inner)
  {
#pragma omp single
    leaves = tree(8);
    for (int i = 0; i < 20; i++) {
#pragma omp parallel num_threads(3) reduction(+ : inner)
      {
        inner += work(200) > 0;
#pragma omp barrier
      }
    }
    members++;
  }
  CHECK_EQ(leaves, 256);
  CHECK_EQ(members, 4);
  CHECK_EQ(inner, 4 * 20 * 3);
}

// Until both kinds of samples have been seen; at most some seconds, since this machine may be busy.
static void load_until_sampled(void)
{
  int before = seen(&samples), before_of_others = seen(&samples_of_others);
  double begin = omp_get_wtime();
  do {
    for (int i = 0; i < TIMES(20); i++) load();
  } while ((seen(&samples) - before < 50 || seen(&samples_of_others) == before_of_others) && omp_get_wtime() - begin < 20);
  CHECK(seen(&samples) - before >= 50);
  CHECK_EQ(seen(&empty_samples), 0);
  if (omp_get_max_threads() > 1) CHECK(seen(&samples_of_others) > before_of_others);
}

int main(void)
{
  omp_set_dynamic(0);
  omp_set_max_active_levels(3);
  void *frame;
  backtrace(&frame, 1);  // the first call loads libgcc: not in a handler
  struct sigaction action = {.sa_handler = sample, .sa_flags = SA_RESTART};
  sigaction(SIGPROF, &action, NULL);

  struct itimerval often = {{0, 1000}, {0, 1000}}, never = {{0, 0}, {0, 0}};
  CHECK_EQ(setitimer(ITIMER_PROF, &often, NULL), 0);
  load_until_sampled();
  CHECK_EQ(setitimer(ITIMER_PROF, &never, NULL), 0);

  timer_t timer;
  struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGPROF};
  CHECK_EQ(timer_create(CLOCK_PROCESS_CPUTIME_ID, &event, &timer), 0);
  struct itimerspec each = {{0, 1000000}, {0, 1000000}};
  CHECK_EQ(timer_settime(timer, 0, &each, NULL), 0);
  load_until_sampled();
  CHECK_EQ(timer_delete(timer), 0);
  return check_result();
}
