// SPDX-License-Identifier: Apache-2.0
// fork while another thread is in a call that guards what it uses by a lock: the child may use the same call, and finds
// nothing half done. As compilers call them, where these would not.
#include "../support/check.h"

#include <omp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

// Weak: programs by gcc are linked to libgomp, which has few of them.
__attribute__((weak)) void GOMP_add_alloc(const void *address);
__attribute__((weak)) bool GOMP_is_alloc(const void *address);
__attribute__((weak)) void kmp_create_affinity_mask(void **mask);
__attribute__((weak)) void kmp_destroy_affinity_mask(void **mask);
__attribute__((weak)) int kmp_set_affinity(void **mask);
__attribute__((weak)) int kmp_get_affinity(void **mask);
__attribute__((weak)) void *__kmpc_threadprivate(void *where, int32_t gtid, void *address, size_t size);
__attribute__((weak)) void __kmpc_threadprivate_register(void *where, const void *address, void *(*construct)(void *),
                                                         void *(*copy)(void *, void *), void (*destroy)(void *));
__attribute__((weak)) void __kmpc_push_num_threads_list(void *where, int32_t gtid, uint32_t count, int *list);

static void format(void)
{
  static __thread char a[1000], b[1000], got[1001];
  if (!a[0]) {
    memset(a, 'a', sizeof a - 1);
    memset(b, 'b', 500);
  }
  omp_set_affinity_format(a);
  omp_set_affinity_format(b);
  const size_t length = omp_get_affinity_format(got, sizeof got);
  // Another thread's, but one of the two.
  CHECK(length == strlen(got) && (strcmp(got, a) == 0 || strcmp(got, b) == 0));
}

static void alloc(void)
{
  char here = 0;
  GOMP_add_alloc(&here);
  CHECK(GOMP_is_alloc(&here));
  CHECK(!GOMP_is_alloc(&here));
}

static void mask(void)
{
  void *cpus;
  kmp_create_affinity_mask(&cpus);
  CHECK_EQ(kmp_get_affinity(&cpus), 0);
  CHECK_EQ(kmp_set_affinity(&cpus), 0);
  kmp_destroy_affinity_mask(&cpus);
}

static void private_copy(void)
{
  static int variables[64];
  for (int i = 0; i < 64; i++) {
    __kmpc_threadprivate_register(NULL, &variables[i], NULL, NULL, NULL);
    int *copy = __kmpc_threadprivate(NULL, 0, &variables[i], sizeof(int));
    ++*copy;
  }
}

static void list(void)
{
  int threads[] = {2, 3, 2, 4, 2};
  __kmpc_push_num_threads_list(NULL, 0, 5, threads);
}

// Tasks for free agents. Those of the parent's other thread are not the child's to run.
typedef struct kmp_task {
  void *shareds;
  int32_t (*call)(int32_t gtid, struct kmp_task *task);
  int32_t part;
  void *destructors;
  void *priority;
  pid_t of;
} kmp_task;
__attribute__((weak)) kmp_task *__kmpc_omp_task_alloc(void *where, int32_t gtid, int32_t flags, size_t size,
                                                      size_t shareds, int32_t (*call)(int32_t gtid, kmp_task *task));
__attribute__((weak)) int32_t __kmpc_omp_task(void *where, int32_t gtid, kmp_task *task);
static int run_tasks;

static int32_t run(int32_t gtid, kmp_task *task)
{
  (void)gtid;
  CHECK_EQ(task->of, getpid());
  __atomic_add_fetch(&run_tasks, 1, __ATOMIC_RELAXED);
  return 0;
}

static void tasks(void)
{
  enum { tied = 1, free_agent = 0x80, count = 6 };
  const int before = __atomic_load_n(&run_tasks, __ATOMIC_RELAXED);
  for (int i = 0; i < count; i++) {
    kmp_task *task = __kmpc_omp_task_alloc(NULL, 0, tied | free_agent, sizeof(kmp_task), 0, run);
    task->of = getpid();
    __kmpc_omp_task(NULL, 0, task);
  }
#pragma omp taskwait
  CHECK(__atomic_load_n(&run_tasks, __ATOMIC_RELAXED) >= before + count);
}

static void (*call)(void);
static atomic_bool begun, over;

static void *go_on(void *unused)
{
  while (!over) {
    call();
    begun = true;
  }
  return unused;
}

// A child that hangs ends by its alarm.
static void forks(void (*which)(void), const char *name)
{
  call = which;
  begun = over = false;
  pthread_t other;
  CHECK_EQ(pthread_create(&other, NULL, go_on, NULL), 0);
  while (!begun) usleep(100);
  const int before = check_failures;
  for (int i = 0; i < TIMES(150) && check_failures == before; i++) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(20);
      for (int k = 0; k < 3; k++) which();
      _exit(check_failures > before);
    }
    int status = -1;
    CHECK_EQ(waitpid(child, &status, 0), child);
    if (status != 0) check_failed(__FILE__, __LINE__, name, "fork %d: the child's status is %#x", i, status);
    usleep(100);
  }
  over = true;
  CHECK_EQ(pthread_join(other, NULL), 0);
}

int main(void)
{
  forks(format, "format");
  if (GOMP_add_alloc) forks(alloc, "alloc");
  if (kmp_create_affinity_mask) forks(mask, "mask");
  if (__kmpc_threadprivate_register) forks(private_copy, "private copy");
  if (__kmpc_push_num_threads_list) forks(list, "list");
  if (__kmpc_omp_task_alloc) forks(tasks, "tasks");
  return check_result();
}
