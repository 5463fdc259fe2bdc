// SPDX-License-Identifier: Apache-2.0
// The handler of a profiler asks for the thread number at any moment, while tasks are paused and go on: it waits for
// nobody, and the numbers of tasks stay whole.
#include <omp.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "../support/check.h"
#include "../support/mailbox.h"

enum { kRounds = 400, kPairs = 40 };

static _Atomic int g_over, g_asked;

static void ask(int signal)
{
  (void)signal;
  if (omp_get_thread_num() == 0) g_asked++;
}

static void *send_signals(void *unused)
{
  while (!g_over) {
    usleep(20);
    kill(getpid(), SIGPROF);
  }
  return unused;
}

static void work(long times)
{
  for (volatile long i = 0; i < times; i++) continue;
}

static long round_of(int threads)
{
  long sum = 0;
#pragma omp parallel num_threads(threads)
#pragma omp single
  for (int i = 0; i < kPairs; i++) {
#pragma omp task firstprivate(i) shared(sum)
    {
      long value = receive_from(i);
      work(5000);
#pragma omp atomic
      sum += value;
    }
#pragma omp task firstprivate(i)
    {
      work(5000);
      send_to(i, 1);
    }
  }
  return sum;
}

int main(void)
{
  open_mailbox();
  sigset_t profiling;
  sigemptyset(&profiling);
  sigaddset(&profiling, SIGPROF);
  struct sigaction action = {.sa_handler = ask, .sa_flags = SA_RESTART};
  sigaction(SIGPROF, &action, NULL);
  // The handler is for the other threads.
  pthread_sigmask(SIG_BLOCK, &profiling, NULL);
  pthread_t sender;
  pthread_create(&sender, NULL, send_signals, NULL);
  pthread_sigmask(SIG_UNBLOCK, &profiling, NULL);
  for (int i = 0; i < TIMES(kRounds); i++) CHECK_EQ(round_of(1 + i % 4 / 3), kPairs);
  g_over = 1;
  pthread_join(sender, NULL);
  CHECK(g_asked > 0);
  return check_result();
}
