// SPDX-License-Identifier: Apache-2.0
// Preloaded into a program: it sees the CPUs of WEFT_TEST_CPUS ("0-7,16") in its affinity mask and the /sys below
// WEFT_TEST_ROOT. Threads are bound to CPUs that are not there by doing nothing. So the places that a runtime makes can be
// looked at on any machine.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int fill(size_t size, cpu_set_t *mask)
{
  const char *at = getenv("WEFT_TEST_CPUS");
  memset(mask, 0, size);
  while (at && *at) {
    char *end;
    long first = strtol(at, &end, 10), last = first;
    if (*end == '-') last = strtol(end + 1, &end, 10);
    for (long cpu = first; cpu <= last; cpu++) CPU_SET_S((size_t)cpu, size, mask);
    at = *end == ',' ? end + 1 : end;
  }
  return 0;
}

int sched_getaffinity(pid_t pid, size_t size, cpu_set_t *mask) { return (void)pid, fill(size, mask); }
int pthread_getaffinity_np(pthread_t thread, size_t size, cpu_set_t *mask) { return (void)thread, fill(size, mask); }

int sched_setaffinity(pid_t pid, size_t size, const cpu_set_t *mask) { return (void)pid, (void)size, (void)mask, 0; }
int pthread_setaffinity_np(pthread_t thread, size_t size, const cpu_set_t *mask)
{
  return (void)thread, (void)size, (void)mask, 0;
}
int pthread_attr_setaffinity_np(pthread_attr_t *attributes, size_t size, const cpu_set_t *mask)
{
  return (void)attributes, (void)size, (void)mask, 0;
}

static const char *moved(const char *path, char *room, size_t size)
{
  const char *root = getenv("WEFT_TEST_ROOT");
  if (!root || strncmp(path, "/sys/devices/system/", 20) != 0) return path;
  snprintf(room, size, "%s%s", root, path);
  return room;
}

FILE *fopen(const char *path, const char *mode)
{
  FILE *(*real)(const char *, const char *) = (FILE * (*)(const char *, const char *)) dlsym(RTLD_NEXT, "fopen");
  char room[4096];
  return real(moved(path, room, sizeof room), mode);
}

int open(const char *path, int flags, ...)
{
  int (*real)(const char *, int, ...) = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, "open");
  va_list arguments;
  va_start(arguments, flags);
  mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  char room[4096];
  return real(moved(path, room, sizeof room), flags, mode);
}
