// SPDX-License-Identifier: Apache-2.0
// Processes that are made before, inside and after regions get the affinity mask that the user has given, though threads are
// bound; or what the thread that makes them has chosen for itself. Their signal mask is the user's too. The thread that makes
// them is bound as before.
#define _GNU_SOURCE
#include "../support/check.h"

#include <omp.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

extern char **environ;
static char *self;
static char niceness[12];  // expected
static char *arguments[] = {NULL, "ask", niceness, NULL};
static cpu_set_t all;
static int cpus;
enum { other_signals = 100, other_limits, other_niceness };

static cpu_set_t kernels_mask(void)
{
  cpu_set_t mask;
  CPU_ZERO(&mask);
  CHECK(syscall(SYS_sched_getaffinity, 0, sizeof mask, &mask) > 0);
  return mask;
}

// By the child.
static int answer(void)
{
  sigset_t blocked;
  struct rlimit files;
  sigprocmask(SIG_SETMASK, NULL, &blocked);
  getrlimit(RLIMIT_CORE, &files);
  if (sigismember(&blocked, SIGUSR1) != 1 || sigismember(&blocked, SIGUSR2) || sigismember(&blocked, SIGCHLD))
    return other_signals;
  if (files.rlim_cur != 0) return other_limits;
  if (getpriority(PRIO_PROCESS, 0) != atoi(niceness)) return other_niceness;
  const cpu_set_t mask = kernels_mask();
  return CPU_COUNT(&mask) % 64;
}

static int status_of(pid_t child)
{
  int status = 0;
  if (child <= 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status)) return -1;
  return WEXITSTATUS(status);
}

static int by_fork(void)
{
  const pid_t child = fork();
  if (child == 0) _exit(answer());
  return status_of(child);
}

static int by_fork_and_exec(void)
{
  const pid_t child = fork();
  if (child == 0) {
    execv(self, arguments);
    _exit(-1);
  }
  return status_of(child);
}

__attribute__((noinline)) static pid_t vforked(void)
{
  const pid_t child = vfork();
  if (child == 0) {
    execv(self, arguments);
    _exit(-1);
  }
  return child;
}
static int by_vfork(void) { return status_of(vforked()); }

static int by_vfork_that_fails(void)
{
  const pid_t child = vfork();
  if (child == 0) _exit(3);
  return status_of(child) == 3 ? -2 : -1;
}

static int by_spawn(void)
{
  pid_t child = 0;
  return posix_spawn(&child, self, NULL, NULL, arguments, environ) == 0 ? status_of(child) : -1;
}

static int by_spawnp(void)
{
  pid_t child = 0;
  return posix_spawnp(&child, self, NULL, NULL, arguments, environ) == 0 ? status_of(child) : -1;
}

// By a child that has been made with attributes.
static int has_attributes(void)
{
  sigset_t blocked;
  struct sigaction now;
  sigprocmask(SIG_SETMASK, NULL, &blocked);
  sigaction(SIGUSR1, NULL, &now);
  return sigismember(&blocked, SIGUSR2) == 1 && sigismember(&blocked, SIGUSR1) == 0 && now.sa_handler == SIG_DFL &&
         getpgrp() == getpid();
}

static int by_spawn_with_attributes(void)
{
  char *words[] = {self, "attributes", NULL};
  posix_spawnattr_t wanted;
  sigset_t signals;
  pid_t child = 0;
  posix_spawnattr_init(&wanted);
  sigemptyset(&signals);
  sigaddset(&signals, SIGUSR2);
  posix_spawnattr_setsigmask(&wanted, &signals);
  sigemptyset(&signals);
  sigaddset(&signals, SIGUSR1);
  posix_spawnattr_setsigdefault(&wanted, &signals);
  posix_spawnattr_setpgroup(&wanted, 0);
  posix_spawnattr_setflags(&wanted, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  const int error = posix_spawn(&child, self, NULL, &wanted, words, environ);
  posix_spawnattr_destroy(&wanted);
  return error == 0 ? status_of(child) : -1;
}

// By a spawned child, which is told its maker's niceness a moment after its start.
static int comes_to(int expected)
{
  const struct timespec moment = {0, 1000000};
  for (int i = 0; i < 20000 && getpriority(PRIO_PROCESS, 0) != expected; i++) nanosleep(&moment, NULL);
  return getpriority(PRIO_PROCESS, 0) == expected;
}

static int by_spawn_in_time(void)
{
  char *words[] = {self, "in-time", niceness, NULL};
  pid_t child = 0;
  return posix_spawn(&child, self, NULL, NULL, words, environ) == 0 ? status_of(child) : -1;
}

static char command[4096];
static int by_system(void)
{
  const int status = system(command);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int by_popen(void)
{
  FILE *child = popen(command, "r");
  const int status = child ? pclose(child) : -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void make_all(int expected)
{
  const cpu_set_t before = kernels_mask();
  CHECK_EQ(by_fork(), expected);
  CHECK_EQ(by_fork_and_exec(), expected);
  CHECK_EQ(by_vfork(), expected);
  CHECK_EQ(by_vfork_that_fails(), -2);
  CHECK_EQ(by_spawn(), expected);
  CHECK_EQ(by_spawnp(), expected);
  CHECK_EQ(by_spawn_with_attributes(), 1);
  CHECK_EQ(by_system(), expected);
  CHECK_EQ(by_popen(), expected);
  const cpu_set_t after = kernels_mask();
  CHECK(CPU_EQUAL(&before, &after));
}

static void region(int threads)
{
#pragma omp parallel num_threads(threads)
  {
#pragma omp critical
    make_all(cpus);
  }
}

int main(int count, char **words)
{
  if (count > 1 && strcmp(words[1], "attributes") == 0) return has_attributes();
  if (count > 2 && strcmp(words[1], "in-time") == 0) return comes_to(atoi(words[2]));
  if (count > 2) strcpy(niceness, words[2]);
  if (count > 1) return answer();
  self = words[0];
  arguments[0] = self;
  const int nice_before = getpriority(PRIO_PROCESS, 0);
  snprintf(niceness, sizeof niceness, "%d", nice_before);
  snprintf(command, sizeof command, "exec '%s' ask %d", self, nice_before);
  signal(SIGUSR1, SIG_IGN);
  // As the user wants them: one signal blocked, no core files.
  sigset_t wanted;
  sigemptyset(&wanted);
  sigaddset(&wanted, SIGUSR1);
  CHECK_EQ(sigprocmask(SIG_SETMASK, &wanted, NULL), 0);
  const struct rlimit none = {0, 0};
  CHECK_EQ(setrlimit(RLIMIT_CORE, &none), 0);
  all = kernels_mask();
  cpus = CPU_COUNT(&all) % 64;
  omp_set_dynamic(0);
  omp_set_max_active_levels(2);

  make_all(cpus);
#pragma omp parallel num_threads(1)
  make_all(cpus);
  region(2);
  make_all(cpus);
  region(3);
#pragma omp parallel num_threads(2)
  {
#pragma omp single
    region(2);
  }
  make_all(cpus);

  // A thread's own choice is its children's.
#pragma omp parallel num_threads(3)
  {
    cpu_set_t one, before;
    CHECK_EQ(sched_getaffinity(0, sizeof before, &before), 0);
    CPU_ZERO(&one);
    for (int cpu = 0; CPU_COUNT(&one) == 0; cpu++)
      if (CPU_ISSET(cpu, &all)) CPU_SET(cpu, &one);
    if (omp_get_thread_num() > 0) {
      CHECK_EQ(sched_setaffinity(0, sizeof one, &one), 0);
#pragma omp critical
      {
        CHECK_EQ(by_fork_and_exec(), 1);
        CHECK_EQ(by_vfork(), 1);
        CHECK_EQ(by_system(), 1);
        CHECK_EQ(setpriority(PRIO_PROCESS, 0, nice_before + 3), 0);
        snprintf(niceness, sizeof niceness, "%d", nice_before + 3);
        CHECK_EQ(by_fork(), 1);
        CHECK_EQ(by_fork_and_exec(), 1);
        CHECK_EQ(by_vfork(), 1);
        CHECK_EQ(by_spawn_in_time(), 1);
        snprintf(niceness, sizeof niceness, "%d", nice_before);
      }
      CHECK_EQ(sched_setaffinity(0, sizeof before, &before), 0);
    }
  }
  return check_result();
}
