// SPDX-License-Identifier: Apache-2.0
// setuid and its kin change all threads of the process, whoever calls them: main behind nested regions, any member, a task, a
// member while others run, a thread of the program; and they come back. Privileged, with other numbers than before.
#define _GNU_SOURCE
#include "../support/check.h"
#include "../support/everywhere.h"

#include <dirent.h>
#include <grp.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/types.h>
#include <sys/wait.h>

enum { some_id = 4711 };
static int privileged;

// What /proc says of one thread: real, effective, saved and file-system number.
static int read_ids(const char *thread, const char *which, int ids[4])
{
  char path[64], line[256];
  snprintf(path, sizeof path, "/proc/self/task/%s/status", thread);
  FILE *file = fopen(path, "r");
  int found = 0;
  if (!file) return 0;
  while (fgets(line, sizeof line, file))
    if (strncmp(line, which, strlen(which)) == 0)
      found = sscanf(line + strlen(which), "%d %d %d %d", ids, ids + 1, ids + 2, ids + 3) == 4;
  fclose(file);
  return found;
}

// How many threads of the process have another effective number than wanted, at a look.
static int others_now(const char *which, int wanted)
{
  DIR *threads = opendir("/proc/self/task");
  int wrong = 0, ids[4], seen = 0;
  CHECK(threads != NULL);
  for (struct dirent *entry; threads && (entry = readdir(threads));) {
    if (entry->d_name[0] == '.' || !read_ids(entry->d_name, which, ids)) continue;
    seen++;
    wrong += ids[1] != wanted;
  }
  if (threads) closedir(threads);
  CHECK(seen > 0);
  return wrong;
}

// Threads that are about to end are left out by the C library, and stand in /proc for a moment.
static int others(const char *which, int wanted)
{
  int wrong = others_now(which, wanted);
  for (int i = 0; wrong && i < 500; i++) {
    usleep(2000);
    wrong = others_now(which, wanted);
  }
  return wrong;
}

// Each of the calls, by the thread that runs this. One caller at a time: the numbers are the process's.
static void change(void)
{
  const uid_t user = getuid();
  const gid_t group = getgid();
  CHECK_EQ(setresuid((uid_t)-1, user, (uid_t)-1), 0);
  CHECK_EQ(setresgid((gid_t)-1, group, (gid_t)-1), 0);
  CHECK_EQ(setreuid((uid_t)-1, user), 0);
  CHECK_EQ(setregid((gid_t)-1, group), 0);
  CHECK_EQ(seteuid(user), 0);
  CHECK_EQ(setegid(group), 0);
  if (!privileged) {
    CHECK_EQ(setuid(user), 0);
    CHECK_EQ(setgid(group), 0);
    // Refused, to all alike.
    CHECK_EQ(setuid(user + 1), -1);
    return;
  }
  gid_t groups[2] = {some_id, some_id + 1};
  CHECK_EQ(setgroups(2, groups), 0);
  CHECK_EQ(setgroups(0, NULL), 0);
  CHECK_EQ(setegid(some_id), 0);
  CHECK_EQ(others("Gid:", some_id), 0);
  CHECK_EQ(setegid(group), 0);
  CHECK_EQ(others("Gid:", (int)group), 0);
  CHECK_EQ(seteuid(some_id), 0);
  CHECK_EQ(others("Uid:", some_id), 0);
  CHECK_EQ(seteuid(user), 0);
  CHECK_EQ(others("Uid:", (int)user), 0);
}

// Members of members, all there at once: each has been a thread that was suspended, and some go on elsewhere.
static void weave(int outer, int inner)
{
  int members = 0;
#pragma omp parallel num_threads(outer)
#pragma omp parallel num_threads(inner)
  {
#pragma omp barrier
#pragma omp atomic
    members++;
#pragma omp barrier
  }
  CHECK_IN(members, 1, outer * inner + 1);
}

static void by_main(void)
{
  weave(4, 4);
  change();
  weave(8, 3);
  change();
}

static void by_members(int threads)
{
#pragma omp parallel num_threads(threads)
  for (int caller = 0; caller < omp_get_num_threads(); caller += 1 + omp_get_num_threads() / 4) {
    if (omp_get_thread_num() == caller) {
#pragma omp critical
      change();
    }
    // The others wait: asleep, looking, or gone on to something else.
#pragma omp barrier
  }
}

// The other members go on meanwhile, with regions of their own.
static void beside_work(void)
{
  int over = 0;
#pragma omp parallel num_threads(4)
  {
    if (omp_get_thread_num() == 2) {
      for (int i = 0; i < TIMES(8); i++) change();
      __atomic_store_n(&over, 1, __ATOMIC_RELEASE);
    }
    while (!__atomic_load_n(&over, __ATOMIC_ACQUIRE)) weave(1, 3);
  }
}

static void by_tasks(void)
{
#pragma omp parallel num_threads(4)
#pragma omp single
  for (int i = 0; i < 4; i++) {
#pragma omp task
    {
#pragma omp critical
      change();
    }
  }
}

// Threads of the program come and go, with regions.
static void *short_life(void *unused)
{
  weave(2, 2);
  return unused;
}

static void *many_threads(void *over)
{
  while (!__atomic_load_n((int *)over, __ATOMIC_ACQUIRE)) {
    pthread_t thread;
    CHECK_EQ(pthread_create(&thread, NULL, short_life, NULL), 0);
    CHECK_EQ(pthread_join(thread, NULL), 0);
  }
  return NULL;
}

static void beside_threads(void)
{
  int over = 0;
  pthread_t maker;
  CHECK_EQ(pthread_create(&maker, NULL, many_threads, &over), 0);
  for (int i = 0; i < TIMES(8); i++) change();
#pragma omp parallel num_threads(3)
  if (omp_get_thread_num() == omp_get_num_threads() - 1) change();
  __atomic_store_n(&over, 1, __ATOMIC_RELEASE);
  pthread_join(maker, NULL);
}

// Another one holds the only thread of the primary, which goes on as a guest of a thread that is not its own.
static void by_guest(void)
{
  int ends[2];
  CHECK_EQ(pipe(ends), 0);
  omp_lock_t lock;
  omp_init_lock(&lock);
  int held = 0;
#pragma omp parallel num_threads(2)
  {
    char byte = 'x';
    if (omp_get_num_threads() < 2) {
      change();
    } else if (omp_get_thread_num() == 1) {
      omp_set_lock(&lock);
      __atomic_store_n(&held, 1, __ATOMIC_RELEASE);
      usleep(20000);
      omp_unset_lock(&lock);
      CHECK_EQ(read(ends[0], &byte, 1), 1);
    } else {
      while (!__atomic_load_n(&held, __ATOMIC_ACQUIRE)) {
#pragma omp taskyield
      }
      omp_set_lock(&lock);
      change();
      omp_unset_lock(&lock);
      CHECK_EQ(write(ends[1], &byte, 1), 1);
    }
  }
  omp_destroy_lock(&lock);
  close(ends[0]);
  close(ends[1]);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
// The child begins anew, with a C library that has one thread.
static void in_a_child(void)
{
  fflush(NULL);
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);  // the parent's is not inherited
    weave(3, 3);
    change();
    by_members(4);
    _exit(check_result());
  }
  int status = -1;
  CHECK_EQ(waitpid(child, &status, 0), child);
  CHECK_EQ(status, 0);
}
#endif

int main(void)
{
  omp_set_max_active_levels(4);
  omp_set_dynamic(0);
  privileged = geteuid() == 0 && seteuid(some_id) == 0 && seteuid(0) == 0 && setgroups(0, NULL) == 0;
  alarm(50);  // it has hung: better than to wait for the limit of the tests
  by_main();
  by_guest();
  for (int threads = 1; threads <= 9; threads += 4) by_members(threads);
#pragma omp parallel num_threads(3)
  by_members(3);
  by_tasks();
  beside_work();
  beside_threads();
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  in_a_child();
#endif
  return check_result();
}
