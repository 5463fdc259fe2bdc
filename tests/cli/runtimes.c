// SPDX-License-Identifier: Apache-2.0
// Has OpenMP runtimes loaded in every order of two ways, each order in a child of its own, and says where something
// else than weft's was mapped or called.
// usage: runtimes WEFT only|first WAY...: whether weft's may be the only one, or must only come first. A way is a letter
// and what is opened: o dlopen; q dlopen with RTLD_NOLOAD; m dlmopen in the own namespace; p a library with a region.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef void Parallel(void (*)(void *), void *, unsigned, unsigned);

#ifdef LINKED
extern Parallel GOMP_parallel;
#endif

static const char *weft;
static int only;

static int members;
static void count(void *unused) { __atomic_add_fetch(&members, 1, __ATOMIC_RELAXED); }

static int fail(const char *what, const char *why) {
  printf("%s: %s\n", what, why ? why : "?");
  return 0;
}

// Whether a region by this function would run on weft; where no other way follows it is run, too.
static int runs(const char *what, Parallel *parallel, int last) {
  Dl_info info;
  if (!parallel) return fail(what, "has no GOMP_parallel");
  if (!dladdr((void *)parallel, &info) || strcmp(info.dli_fname, weft)) return fail(what, info.dli_fname);
  if (!last) return 1;
  members = 0;
  parallel(count, NULL, 3, 0);
  return members == 3 || fail(what, "has not run three members");
}

static int go(const char *way, int last) {
  const char *what = way + 1;
  void *handle = way[0] == 'm' ? dlmopen(LM_ID_BASE, what, RTLD_NOW)
                               : dlopen(what, way[0] == 'q' ? RTLD_NOW | RTLD_NOLOAD : RTLD_NOW);
  if (way[0] == 'q' && !handle) return 1;
  if (!handle) return fail(way, dlerror());
  Parallel *(*asked)(void) = (Parallel * (*)(void)) dlsym(handle, "parallel_of_plugin");
  return runs(way, asked ? asked() : (Parallel *)dlsym(handle, "GOMP_parallel"), last);
}

static int is_alone(void) {
  char line[4096];
  FILE *maps = fopen("/proc/self/maps", "r");
  int alone = 1;
  while (alone && fgets(line, sizeof line, maps)) {
    char *name = strrchr(line, '/');
    if (!name || !strstr(line, " r-xp ")) continue;
    line[strcspn(line, "\n")] = 0;
    if (strncmp(name, "/libgomp", 8) && strncmp(name, "/libomp", 7) && strncmp(name, "/libiomp", 8)) continue;
    if (strcmp(strchr(line, '/'), weft)) alone = fail("mapped", strchr(line, '/'));
  }
  fclose(maps);
  return alone;
}

static int check(const char *first, const char *second) {
  int good = go(first, !second) && (!second || go(second, 0));
#ifdef LINKED
  good = good && runs("linked", GOMP_parallel, !second);
#endif
  return good && (!only || is_alone());
}

int main(int count_of_arguments, char **arguments) {
  weft = arguments[1];
  only = !strcmp(arguments[2], "only");
  int faults = 0;
  for (char **first = arguments + 3; *first; first++) {
    // Behind all: alone.
    for (char **second = arguments + 3;; second++) {
      fflush(stdout);
      pid_t child = fork();
      if (child == 0) {
        const int good = check(*first, *second);
        fflush(stdout);
        _exit(!good);
      }
      int status = -1;
      waitpid(child, &status, 0);
      if (status != 0) {
        printf("  so it is with %s, then %s (status %d)\n", *first, *second ? *second : "nothing", status);
        faults++;
      }
      if (!*second) break;
    }
  }
  return faults > 0;
}
