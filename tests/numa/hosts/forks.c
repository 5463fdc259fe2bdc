// SPDX-License-Identifier: Apache-2.0
// Children of every kind use what they have inherited.
#include "busy.h"

#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#ifdef SYS_fork
#define FORK_CALL SYS_fork
#else
#define FORK_CALL SYS_clone, SIGCHLD, 0, 0, 0, 0
#endif

extern pid_t _Fork(void);

static char *array = NULL;

static long sum_of(size_t step) {
  long sum = 0;
  for (size_t i = 0; i < SIZE; i += step) sum += array[i];
  return sum;
}

static void *work(void *nothing) {
  while (goes_on()) sum_of(64);
  return nothing;
}

int main(int count, char **arguments) {
  begin(count, arguments);
  array = make_array();
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, work, NULL) == 0);
  for (int turn = 0; goes_on(); ++turn) {
    const pid_t child = turn % 3 == 0 ? fork() : turn % 3 == 1 ? _Fork() : (pid_t)syscall(FORK_CALL);
    CHECK(child >= 0);
    if (child == 0) {
      if (sum_of(64) != SIZE / 64) _exit(2);
      if (turn % 3 == 0) {
        char *other = malloc(SIZE);
        if (other == NULL) _exit(3);
        memset(other, 1, SIZE);
        free(other);
      }
      if (turn % 2 == 0) execl("/bin/true", "true", (char *)NULL);
      _exit(0);
    }
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    sum_of(512);
  }
  pthread_join(thread, NULL);
  return 0;
}
