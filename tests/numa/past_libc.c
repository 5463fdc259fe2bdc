// SPDX-License-Identifier: Apache-2.0
// A program whose system calls do not go through the C library, as those of Go, of Rust's rustix and of a liburing that
// is linked statically. It hands large blocks to the kernel, for so many seconds, and ends with 0 if no call has failed
// or fallen short. Under `weft numa` none may: no page is protected where nobody has asked for it.
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MB = 1 << 20, BYTES = 32 * MB, PAGE = 4096 };

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static long raw(long number, long a, long b, long c, long d) {
#if defined(__x86_64__)
  long result;
  register long fourth __asm__("r10") = d;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(fourth)
                   : "rcx", "r11", "memory");
  return result;
#elif defined(__aarch64__)
  register long x8 __asm__("x8") = number;
  register long x0 __asm__("x0") = a;
  register long x1 __asm__("x1") = b;
  register long x2 __asm__("x2") = c;
  register long x3 __asm__("x3") = d;
  __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3) : "memory");
  return x0;
#endif
}

static void touch(char* block) {
  for (size_t i = 0; i < BYTES; i += PAGE) block[i]++;
}

static long transfer(long call, const char* path, int flags, char* block) {
  const int file = open(path, flags);
  long bad = file < 0;
  for (size_t i = 0; i < BYTES; i += MB) bad += raw(call, file, (long)(block + i), MB, 0) != MB;
  close(file);
  return bad;
}

// By another process, for which the C library of this one does nothing.
static long read_from_outside(char* block) {
  const pid_t program = getpid();
  const pid_t other = fork();
  if (other == 0) {
    static char copy[64];
    long bad = 0;
    for (size_t i = 0; i < BYTES; i += PAGE) {
      struct iovec to = {copy, sizeof copy};
      struct iovec from = {block + i, sizeof copy};
      bad += process_vm_readv(program, &to, 1, &from, 1, 0) != (ssize_t)sizeof copy;
    }
    _exit(bad != 0);
  }
  for (int i = 0; i < 20; ++i) touch(block);
  int status = 0;
  waitpid(other, &status, 0);
  return status != 0;
}

static long compute_in_a_child(char* block) {
  const long child = raw(SYS_clone, SIGCHLD, 0, 0, 0);
  if (child == 0) {
    touch(block);
    raw(SYS_exit_group, 0, 0, 0, 0);
  }
  int status = 1;
  waitpid((pid_t)child, &status, 0);
  return status != 0;
}

int main(int count, char** arguments) {
  const char* how = count > 1 ? arguments[1] : "";
  const double end = now() + (count > 2 ? strtod(arguments[2], NULL) : 1);
  char* block = malloc(BYTES);
  if (block == NULL) return 2;
  memset(block, 1, BYTES);
  if (strcmp(how, "masks") == 0) {
    const unsigned long all = ~0UL;
    raw(SYS_rt_sigprocmask, SIG_BLOCK, (long)&all, 0, sizeof all);
  }
  long bad = 0;
  do {
    if (strcmp(how, "read") == 0) bad += transfer(SYS_read, "/dev/zero", O_RDONLY, block);
    if (strcmp(how, "write") == 0) bad += transfer(SYS_write, "/dev/null", O_WRONLY, block);
    if (strcmp(how, "from_outside") == 0) bad += read_from_outside(block);
    if (strcmp(how, "fork") == 0) bad += compute_in_a_child(block);
    touch(block);
  } while (now() < end);
  if (bad > 0) printf("%s: %ld failed or fell short\n", how, bad);
  return bad > 0;
}
