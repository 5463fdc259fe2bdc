// SPDX-License-Identifier: Apache-2.0
// For programs whose end is what is tested: main runs the program again, once for each mode, and looks at how that ended.
#pragma once

#include "check.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>

struct mode_end {
  int status;         // as waitpid gives it; -1 when it did not end in time
  char output[4000];  // stdout and stderr together
};

// Runs this program as `program mode`, for at most `seconds`.
__attribute__((unused)) static struct mode_end run_mode(const char *mode, int seconds)
{
  struct mode_end end;
  memset(&end, 0, sizeof end);
  int ends[2];
  if (pipe(ends)) return end;
  pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], 1);
    dup2(ends[1], 2);
    close(ends[0]);
    close(ends[1]);
    execl("/proc/self/exe", "program", mode, (char *)NULL);
    _exit(127);
  }
  close(ends[1]);
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
  struct timespec pause = {0, 2000000};
  size_t length = 0;
  end.status = -1;
  for (long waited = 0; waited < seconds * 500L; waited++) {
    ssize_t more;
    while (length < sizeof end.output - 1 && (more = read(ends[0], end.output + length, sizeof end.output - 1 - length)) > 0)
      length += (size_t)more;
    int status;
    if (end.status != -1) break;
    if (waitpid(child, &status, WNOHANG) == child) {
      end.status = status;
      continue;  // once more for the rest of its output
    }
    nanosleep(&pause, NULL);
  }
  if (end.status == -1) {
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
  }
  close(ends[0]);
  return end;
}

// The mode must end by itself with this exit status and print nothing.
__attribute__((unused)) static void expect_exit(const char *file, int line, const char *mode, int expected, int seconds)
{
  struct mode_end end = run_mode(mode, seconds);
  if (end.status == -1)
    check_failed(file, line, mode, "no end after %d s; it said: %.200s", seconds, end.output);
  else if (!WIFEXITED(end.status))
    check_failed(file, line, mode, "expected exit status %d, got signal %d; it said: %.200s", expected,
                 WTERMSIG(end.status), end.output);
  else if (WEXITSTATUS(end.status) != expected)
    check_failed(file, line, mode, "expected exit status %d, got %d; it said: %.200s", expected,
                 WEXITSTATUS(end.status), end.output);
  else if (end.output[0])
    check_failed(file, line, mode, "expected no output, got: %.200s", end.output);
}
#define EXPECT_EXIT(MODE, STATUS) expect_exit(__FILE__, __LINE__, MODE, STATUS, 10)
