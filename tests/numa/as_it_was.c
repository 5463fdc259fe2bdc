// SPDX-License-Identifier: Apache-2.0
// A program that looks whether it is as it was written, for so many seconds: no page of its arrays is protected, nobody
// handles its faults, no thread or stack is there that it has not made, and its calls other than for memory are the C
// library's. Ends with 0 if so.
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { MB = 1 << 20, BYTES = 32 * MB, PAGE = 4096 };
static const char* const kOfLibc[] = {"read",     "write",   "pread",      "recv",          "fread",
                                      "printf",   "puts",    "open",       "stat",          "pthread_create",
                                      "mprotect", "madvise", "sigaction",  "signal",        "pthread_sigmask",
                                      "ppoll",    "_exit",   "quick_exit", "sigaltstack",   "pthread_mutex_lock",
                                      "execve",   "_Fork",   "sem_wait",   "clock_gettime", "sched_getaffinity"};

static char* array = NULL;
static double limit = 0;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static int complain(const char* what) {
  printf("%s\n", what);
  return 1;
}

static int has_handler_stack(void) {
  stack_t stack;
  return syscall(SYS_sigaltstack, NULL, &stack) != 0 || (stack.ss_flags & SS_DISABLE) == 0;
}

static void* work(void* stop) {
  if (has_handler_stack()) return (void*)1;
  while (!__atomic_load_n((int*)stop, __ATOMIC_RELAXED)) {
    for (size_t i = 0; i < BYTES; i += PAGE) array[i]++;
  }
  return NULL;
}

static int calls_of_others(void) {
  int bad = 0;
  for (size_t i = 0; i < sizeof kOfLibc / sizeof *kOfLibc; ++i) {
    void* call = dlsym(RTLD_DEFAULT, kOfLibc[i]);
    Dl_info where;
    if (call == NULL || dladdr(call, &where) == 0 || strstr(where.dli_fname, "libc.so") != NULL) continue;
    printf("%s is of %s\n", kOfLibc[i], where.dli_fname);
    bad = 1;
  }
  return bad;
}

static int handles_faults(void) {
  struct {
    void* handler;
    unsigned long flags;
    void* restorer;
    unsigned long mask;
  } action = {0};
  return syscall(SYS_rt_sigaction, SIGSEGV, NULL, &action, sizeof action.mask) != 0 || action.handler != NULL;
}

static int count_threads(void) {
  DIR* folder = opendir("/proc/self/task");
  int threads = -2;  // . and ..
  while (folder != NULL && readdir(folder) != NULL) ++threads;
  if (folder != NULL) closedir(folder);
  return threads;
}

static int protected_pages(void) {
  FILE* maps = fopen("/proc/self/maps", "r");
  char line[512];
  int bad = maps == NULL;
  while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
    unsigned long begin = 0;
    unsigned long end = 0;
    char access[8] = "";
    if (sscanf(line, "%lx-%lx %7s", &begin, &end, access) != 3) continue;
    if (begin < (unsigned long)array + BYTES && end > (unsigned long)array && strncmp(access, "rw", 2) != 0) bad = 1;
  }
  if (maps != NULL) fclose(maps);
  return bad;
}

int main(int count, char** arguments) {
  limit = now() + (count > 1 ? strtod(arguments[1], NULL) : 1);
  array = malloc(BYTES);
  if (array == NULL) return 2;
  memset(array, 1, BYTES);
  int stop = 0;
  pthread_t thread;
  if (pthread_create(&thread, NULL, work, &stop) != 0) return 2;
  const int zero = open("/dev/zero", O_RDONLY);
  int bad = calls_of_others();
  while (!bad && now() < limit) {
    if (handles_faults()) bad = complain("somebody handles faults");
    if (has_handler_stack()) bad = complain("somebody has made a stack for handlers");
    if (count_threads() != 2) bad = complain("there are other threads");
    if (protected_pages()) bad = complain("pages are protected");
    for (size_t i = 0; i < BYTES; i += MB) {
      if (read(zero, array + i, MB) != MB) bad = complain("read() fell short");
    }
  }
  __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
  void* seen = NULL;
  pthread_join(thread, &seen);
  if (seen != NULL) bad = complain("a thread has a stack for handlers");
  return bad;
}
