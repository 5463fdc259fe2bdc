// SPDX-License-Identifier: Apache-2.0
// What a member sets for itself by calls that the kernel takes for its OS thread (affinity, scheduling, niceness, name, timer
// slack) is told to it again, wherever it runs by then, and holds for no other member and no OS thread of the pool. The CPU
// time of a member is its own. A thread of the program still has an OS thread.
#define _GNU_SOURCE
#include "../support/check.h"

#include <dirent.h>
#include <errno.h>
#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>

static cpu_set_t all;
static int cpus;

// Of the OS thread.
static cpu_set_t kernels_mask(pid_t thread)
{
  cpu_set_t mask;
  CPU_ZERO(&mask);
  CHECK(syscall(SYS_sched_getaffinity, thread, sizeof mask, &mask) > 0);
  return mask;
}

static void meet_elsewhere(void)
{
#pragma omp barrier
#pragma omp parallel num_threads(2)
  {
#pragma omp barrier
  }
#pragma omp barrier
}

static cpu_set_t one_cpu(int number)
{
  cpu_set_t one;
  CPU_ZERO(&one);
  for (int cpu = 0, seen = 0; cpu < CPU_SETSIZE; cpu++)
    if (CPU_ISSET(cpu, &all) && seen++ == number % cpus) CPU_SET(cpu, &one);
  return one;
}

static void affinity(int threads, int by_handle)
{
#pragma omp parallel num_threads(threads)
  {
    const cpu_set_t one = one_cpu(omp_get_thread_num());
    cpu_set_t none, told;
    CPU_ZERO(&none);
    errno = 7;
    if (by_handle)
      CHECK_EQ(pthread_setaffinity_np(pthread_self(), sizeof one, &one), 0);
    else
      CHECK_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    CHECK_EQ(errno, 7);
    meet_elsewhere();
    CHECK_EQ(sched_getaffinity(0, sizeof told, &told), 0);
    CHECK(CPU_EQUAL(&told, &one));
    CHECK_EQ(pthread_getaffinity_np(pthread_self(), sizeof told, &told), 0);
    CHECK(CPU_EQUAL(&told, &one));
    CHECK_EQ(pthread_setaffinity_np(pthread_self(), sizeof none, &none), EINVAL);
    CHECK_EQ(sched_setaffinity(0, sizeof none, &none), -1);
    CHECK_EQ(errno, EINVAL);
    meet_elsewhere();
    CHECK_EQ(sched_getaffinity(0, sizeof told, &told), 0);
    CHECK(CPU_EQUAL(&told, &one));
  }
  CHECK_EQ(sched_setaffinity(0, sizeof all, &all), 0);
  // Whoever runs members now: together they have all CPUs.
  cpu_set_t seen;
  CPU_ZERO(&seen);
  for (int round = 0; round < 20; round++) {
#pragma omp parallel num_threads(threads)
    {
#pragma omp barrier
      const cpu_set_t mine = kernels_mask(0);
#pragma omp critical
      CPU_OR(&seen, &seen, &mine);
    }
  }
  CHECK_EQ(CPU_COUNT(&seen), cpus);
}

// Applies to each OS thread of the process but the initial one.
static void each_thread(void (*look)(pid_t thread))
{
  DIR *threads = opendir("/proc/self/task");
  CHECK(threads != NULL);
  for (struct dirent *entry; threads && (entry = readdir(threads));) {
    const pid_t thread = atoi(entry->d_name);
    if (thread > 0 && thread != getpid()) look(thread);
  }
  if (threads) closedir(threads);
}

// The raw answer is 20 - niceness; a thread may have ended.
static void is_as_nice_as_before(pid_t thread)
{
  const long answer = syscall(SYS_getpriority, PRIO_PROCESS, thread);
  if (answer >= 0) CHECK_EQ(answer, syscall(SYS_getpriority, PRIO_PROCESS, getpid()));
}

static void niceness(int threads)
{
  const int before = getpriority(PRIO_PROCESS, 0);
#pragma omp parallel num_threads(threads)
  {
    const int number = omp_get_thread_num(), nicer = 3 + number % 5;
    if (number > 0) {
      errno = 7;
      CHECK_EQ(setpriority(PRIO_PROCESS, 0, before + nicer), 0);
      CHECK_EQ(nice(1), before + nicer + 1);
      CHECK_EQ(errno, 7);
    }
    meet_elsewhere();
    CHECK_EQ(getpriority(PRIO_PROCESS, 0), before + (number > 0 ? nicer + 1 : 0));
  }
  each_thread(is_as_nice_as_before);
  CHECK_EQ(getpriority(PRIO_PROCESS, 0), before);
}

static void is_scheduled_as_before(pid_t thread)
{
  const long policy = syscall(SYS_sched_getscheduler, thread);
  if (policy >= 0) CHECK_EQ(policy, syscall(SYS_sched_getscheduler, getpid()));
}

static void scheduling(int threads)
{
#pragma omp parallel num_threads(threads)
  {
    const int number = omp_get_thread_num();
    struct sched_param parameters = {0};
    int policy = -1;
    if (number % 2 == 1) {
      CHECK_EQ(sched_setscheduler(0, SCHED_BATCH, &parameters), 0);
    } else if (number > 0) {
      CHECK_EQ(pthread_setschedparam(pthread_self(), SCHED_BATCH, &parameters), 0);
    }
    if (number > 0) {
      const struct sched_param wrong = {.sched_priority = 1000};
      CHECK_EQ(sched_setscheduler(0, SCHED_FIFO, &wrong), -1);
      CHECK_EQ(errno, EINVAL);
      CHECK_EQ(pthread_setschedparam(pthread_self(), 77, &parameters), EINVAL);
    }
    meet_elsewhere();
    CHECK_EQ(sched_getscheduler(0), number > 0 ? SCHED_BATCH : SCHED_OTHER);
    CHECK_EQ(pthread_getschedparam(pthread_self(), &policy, &parameters), 0);
    CHECK_EQ(policy, number > 0 ? SCHED_BATCH : SCHED_OTHER);
    CHECK_EQ(parameters.sched_priority, 0);
  }
  each_thread(is_scheduled_as_before);
}

static void names_and_slack(int threads)
{
#pragma omp parallel num_threads(threads)
  {
    const int number = omp_get_thread_num();
    char name[16], told[16] = "";
    snprintf(name, sizeof name, "member %d", number);
    if (number % 2 == 0)
      CHECK_EQ(pthread_setname_np(pthread_self(), name), 0);
    else
      CHECK_EQ(prctl(PR_SET_NAME, name, 0, 0, 0), 0);
    CHECK_EQ(prctl(PR_SET_TIMERSLACK, 60000 + number, 0, 0, 0), 0);
    meet_elsewhere();
    CHECK_EQ(pthread_getname_np(pthread_self(), told, sizeof told), 0);
    CHECK_EQ(strcmp(told, name), 0);
    memset(told, 0, sizeof told);
    CHECK_EQ(prctl(PR_GET_NAME, told, 0, 0, 0), 0);
    CHECK_EQ(strcmp(told, name), 0);
    CHECK_EQ(prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0), 60000 + number);
  }
}

static long long cpu_ns(clockid_t clock)
{
  struct timespec now;
  CHECK_EQ(clock_gettime(clock, &now), 0);
  return now.tv_sec * 1000000000ll + now.tv_nsec;
}

static long long used_ns(void)
{
  struct rusage usage;
  CHECK_EQ(getrusage(RUSAGE_THREAD, &usage), 0);
  return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000000ll +
         (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000ll;
}

// It grows as long as the member computes, by its own name and by that of the caller's clock; and never goes back.
static void cpu_time(int threads)
{
  long long sum = 0;
  const long long begin = cpu_ns(CLOCK_PROCESS_CPUTIME_ID);
#pragma omp parallel num_threads(threads) reduction(+ : sum)
  {
    clockid_t own;
    CHECK_EQ(pthread_getcpuclockid(pthread_self(), &own), 0);
    if (omp_get_thread_num() == 0) own = CLOCK_THREAD_CPUTIME_ID;  // the other is that of its OS thread
    const long long first = cpu_ns(CLOCK_THREAD_CPUTIME_ID);
    long long last = first;
    for (int round = 0; round < 5; round++) {
      const long long until = last + 500000;
      while (cpu_ns(own) < until) continue;
      meet_elsewhere();
      const long long now = cpu_ns(CLOCK_THREAD_CPUTIME_ID);
      CHECK(now >= until);
      if (omp_get_thread_num() > 0) CHECK(used_ns() >= now - 1000);  // in whole microseconds
      last = now;
    }
    sum += last - first;
  }
  CHECK(sum <= cpu_ns(CLOCK_PROCESS_CPUTIME_ID) - begin);
}

// As a profiler's does, in the middle of whatever the thread does.
static void ask_in_handler(int signal)
{
  struct timespec now;
  const int before = errno;
  if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now) != 0 || now.tv_sec < 0 || signal != SIGPROF) abort();
  errno = before;
}

static void ask_now_and_then(int microseconds)
{
  const struct itimerval period = {{0, microseconds}, {0, microseconds}};
  signal(SIGPROF, ask_in_handler);
  CHECK_EQ(setitimer(ITIMER_PROF, &period, NULL), 0);
}

// Of the OS thread.
static long long kernels_cpu_ns(void)
{
  struct timespec now;
  CHECK_EQ(syscall(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, &now), 0);
  return now.tv_sec * 1000000000ll + now.tv_nsec;
}

static void burn(void)
{
  for (volatile int i = 0; i < 400000; i++) continue;
}

// Burns, and returns what that has cost the OS thread, which does not change meanwhile.
static long long burnt_ns(void)
{
  const long long start = kernels_cpu_ns();
  burn();
  return kernels_cpu_ns() - start;
}

// All turns between two questions count, wherever they were, also beside members that have never asked.
static void cpu_time_of_all_turns(int threads)
{
  enum { rounds = 20 };
  long long sum = 0;
  int lacking = 0;
  const long long begin = cpu_ns(CLOCK_PROCESS_CPUTIME_ID);
#pragma omp parallel num_threads(threads) reduction(+ : sum, lacking)
  {
    const int asks = omp_get_thread_num() % 2 == 0;
    const long long first = asks ? cpu_ns(CLOCK_THREAD_CPUTIME_ID) : 0;
    long long burnt = 0;
    for (int round = 0; round < rounds; round++) {
      burnt += burnt_ns();
      meet_elsewhere();
    }
    const long long used = asks ? cpu_ns(CLOCK_THREAD_CPUTIME_ID) - first : 0;
    if (asks && used < burnt) lacking++;
    sum += used;
  }
  CHECK_EQ(lacking, 0);
  CHECK(sum <= cpu_ns(CLOCK_PROCESS_CPUTIME_ID) - begin);
}

int main(void)
{
  // Before this thread has to do with the runtime.
  const long long first_cpu_time = cpu_ns(CLOCK_THREAD_CPUTIME_ID);
  omp_set_dynamic(0);
  omp_set_max_active_levels(2);
  CHECK_EQ(sched_getaffinity(0, sizeof all, &all), 0);
  cpus = CPU_COUNT(&all);
  const int sizes[] = {2, cpus, 2 * cpus};
  for (int i = 0; i < 3; i++) {
    affinity(sizes[i], 0);
    affinity(sizes[i], 1);
  }
  niceness(2 * cpus);
  scheduling(2 * cpus);
  names_and_slack(2 * cpus);
  cpu_time_of_all_turns(2 * cpus);  // before all have asked
  CHECK(cpu_ns(CLOCK_THREAD_CPUTIME_ID) >= first_cpu_time);
  cpu_time(2 * cpus);
  ask_now_and_then(500);
  cpu_time(2 * cpus);
  cpu_time_of_all_turns(2 * cpus);
  ask_now_and_then(0);

  const cpu_set_t one = one_cpu(1);
  CHECK_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  const cpu_set_t mine = kernels_mask(0);
  CHECK(CPU_EQUAL(&mine, &one));
  CHECK_EQ(sched_setaffinity(0, sizeof all, &all), 0);
  return check_result();
}
