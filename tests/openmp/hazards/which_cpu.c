// SPDX-License-Identifier: Apache-2.0
// sched_getcpu answers with the CPU that the member runs on. The C library reads it from an area that the kernel writes for
// the OS thread which has registered it (rseq), and members go from one OS thread to another. The same where a sandbox
// lets nobody take a registration back, or only says so.
#define _GNU_SOURCE
#include "../support/check.h"
#include "../support/everywhere.h"
#include "../support/modes.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

static unsigned kernel_says(void)
{
  unsigned cpu = 0;
  CHECK_EQ(syscall(SYS_getcpu, &cpu, NULL, NULL), 0);
  return cpu;
}

static int wrong, looks;
static int may_leave = 1;  // no sandbox keeps threads from taking their registration back
static pthread_t initial;

// Where the initial thread cannot take it back, the kernel goes on writing for its OS thread: another member is there
// while the initial thread runs elsewhere.
static int is_written_for_another(void)
{
  return !may_leave && pthread_equal(pthread_self(), initial) && syscall(SYS_gettid) != getpid();
}

static void look_once(void)
{
  const unsigned before = kernel_says();
  const int said = sched_getcpu();
  if (kernel_says() != before) return;  // it has moved meanwhile
  __atomic_add_fetch(&looks, 1, __ATOMIC_RELAXED);
  if (said != (int)before) __atomic_add_fetch(&wrong, 1, __ATOMIC_RELAXED);
}

static void look(void)
{
  if (!is_written_for_another()) look_once();
}

static void members(int threads)
{
#pragma omp parallel num_threads(threads)
  for (int i = 0; i < TIMES(40); i++) {
    look();
#pragma omp barrier
    look();
#pragma omp parallel num_threads(3)
    {
      look();
#pragma omp barrier
      look();
    }
  }
}

// Wherever the OS thread that runs the caller may go.
static void look_everywhere(void)
{
  cpu_set_t allowed, one;
  CHECK_EQ(sched_getaffinity(0, sizeof allowed, &allowed), 0);
  for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
    if (!CPU_ISSET(cpu, &allowed)) continue;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    syscall(SYS_sched_setaffinity, 0, sizeof one, &one);
    look_once();
  }
  syscall(SYS_sched_setaffinity, 0, sizeof allowed, &allowed);
}

static int primary_waits, lock_is_taken;

// A thread of its own keeps the lock until the initial thread's OS thread sleeps in the read below.
static void *keep_lock(void *lock)
{
  omp_set_lock(lock);
  __atomic_store_n(&lock_is_taken, 1, __ATOMIC_RELEASE);
  char path[64], state = 0;
  snprintf(path, sizeof path, "/proc/self/task/%d/stat", getpid());
  while (state != 'S' || !__atomic_load_n(&primary_waits, __ATOMIC_ACQUIRE)) {
    usleep(5000);
    FILE *file = fopen(path, "r");
    if (file == NULL || fscanf(file, "%*d (%*[^)]) %c", &state) != 1) abort();
    fclose(file);
  }
  omp_unset_lock(lock);
  return NULL;
}

// The primary's only OS thread sleeps as another member, so the primary goes on as a guest of a thread that is not its own.
static void guest(void)
{
  int ends[2];
  CHECK_EQ(pipe(ends), 0);
  omp_lock_t lock;
  omp_init_lock(&lock);
  primary_waits = lock_is_taken = 0;
  pthread_t keeper;
  CHECK_EQ(pthread_create(&keeper, NULL, keep_lock, &lock), 0);
  while (!__atomic_load_n(&lock_is_taken, __ATOMIC_ACQUIRE)) usleep(1000);
#pragma omp parallel num_threads(2)
  {
    char byte = 'x';
    if (omp_get_thread_num() == 1) {
      CHECK_EQ(read(ends[0], &byte, 1), 1);
    } else {
      __atomic_store_n(&primary_waits, 1, __ATOMIC_RELEASE);
      omp_set_lock(&lock);
      look_everywhere();
      omp_unset_lock(&lock);
      CHECK_EQ(write(ends[1], &byte, 1), 1);
    }
  }
  CHECK_EQ(pthread_join(keeper, NULL), 0);
  omp_destroy_lock(&lock);
  close(ends[0]);
  close(ends[1]);
}

// From now on rseq's flag that ends a registration is answered with `answer`, and nothing is done.
static void forbid_leaving(unsigned answer)
{
  enum { unregister = 1 };
  struct sock_filter rules[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rseq, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, unregister, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | answer),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {sizeof rules / sizeof *rules, rules};
  may_leave = 0;
  CHECK_EQ(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
  CHECK_EQ(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
}

static int run(const char *mode)
{
  initial = pthread_self();
  if (strcmp(mode, "refused") == 0) forbid_leaving(EPERM);
  if (strcmp(mode, "pretended") == 0) forbid_leaving(0);
  omp_set_dynamic(0);
  omp_set_max_active_levels(4);
  guest();
  members(1);
  members(4);
  members(omp_get_max_threads());
#pragma omp parallel num_threads(3)
  members(2);
  guest();
  CHECK(looks > 0);
  CHECK_EQ(wrong, 0);
  return check_result();
}

int main(int count, char **arguments)
{
  if (count > 1) return run(arguments[1]);
  EXPECT_EXIT("plain", 0);
  EXPECT_EXIT("refused", 0);
  EXPECT_EXIT("pretended", 0);
  return check_result();
}
