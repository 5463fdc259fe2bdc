// SPDX-License-Identifier: Apache-2.0
// fork by members inside a region. The child may only do what is safe after a fork of a threaded process: _exit, exec. The
// region goes on in the parent. Also system, popen and posix_spawn, which fork inside.
#define _GNU_SOURCE
#include "../support/check.h"

#include <omp.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>

extern char **environ;

static void wait_for(pid_t child, int expected)
{
  int status = -1;
  CHECK(child > 0);
  CHECK_EQ(waitpid(child, &status, 0), child);
  CHECK(WIFEXITED(status));
  CHECK_EQ(WEXITSTATUS(status), expected);
}

static void members_fork(int threads, int rounds)
{
  int children = 0;
#pragma omp parallel num_threads(threads)
  for (int round = 0; round < rounds; round++) {
    int me = omp_get_thread_num();
    if (me == round % threads) {
      pid_t child = fork();
      if (child == 0) _exit(40 + me);
      wait_for(child, 40 + me);
#pragma omp atomic
      children++;
    }
#pragma omp barrier
    CHECK_EQ(omp_get_num_threads(), threads);
  }
  CHECK_EQ(children, rounds);
}

static void all_fork_at_once(int threads)
{
#pragma omp parallel num_threads(threads)
  {
    int me = omp_get_thread_num();
    pid_t child = fork();
    if (child == 0) {
      execl("/bin/sh", "sh", "-c", me % 2 ? "exit 7" : "exit 8", (char *)NULL);
      _exit(99);
    }
#pragma omp barrier
    wait_for(child, me % 2 ? 7 : 8);
  }
}

static void by_the_library(int threads)
{
#pragma omp parallel num_threads(threads)
  {
    CHECK_EQ(WEXITSTATUS(system("exit 5")), 5);
#pragma omp barrier
    FILE *output = popen("echo hello", "r");
    char line[20] = "";
    CHECK(output && fgets(line, sizeof line, output));
    CHECK(!strcmp(line, "hello\n"));
    CHECK_EQ(pclose(output), 0);
#pragma omp barrier
    pid_t child = -1;
    char shell[] = "sh", option[] = "-c", command[] = "exit 6";
    char *arguments[] = {shell, option, command, NULL};
    CHECK_EQ(posix_spawn(&child, "/bin/sh", NULL, NULL, arguments, environ), 0);
    wait_for(child, 6);
  }
}

// vfork borrows the member's stack and identity until the exec.
static void by_vfork(int threads)
{
#pragma omp parallel num_threads(threads)
  {
    pid_t child = vfork();
    if (child == 0) {
      execl("/bin/true", "true", (char *)NULL);
      _exit(99);
    }
    wait_for(child, 0);
  }
}

int main(void)
{
  omp_set_dynamic(0);
  omp_set_max_active_levels(3);
  alarm(18);
  members_fork(1, 2);
  members_fork(2, 10);
  members_fork(5, 10);
  all_fork_at_once(2);
  all_fork_at_once(6);
  by_the_library(3);
  by_vfork(3);
#pragma omp parallel num_threads(2)
  {
    members_fork(3, 4);
    all_fork_at_once(3);
  }
  return check_result();
}
