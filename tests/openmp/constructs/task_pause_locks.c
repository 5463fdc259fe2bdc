// SPDX-License-Identifier: Apache-2.0
// Tasks wait for locks where tasks may be paused: for a paused task's lock others run meanwhile, for a lock that changes
// hands they wait.
#include <dirent.h>
#include <omp.h>
#include <unistd.h>

#include "../support/alpi.h"
#include "../support/check.h"
#include "../support/mailbox.h"

static omp_lock_t g_lock;
static struct alpi_task *_Atomic g_holder;
static _Atomic int g_waiting, g_done;

static void hold_and_pause(void *unused)
{
  (void)unused;
  omp_set_lock(&g_lock);
  struct alpi_task *own = own_task();
  g_holder = own;
  if (alpi.task_block(own) != ALPI_SUCCESS) abort();
  omp_unset_lock(&g_lock);
  g_done++;
}

static void want_it(void *unused)
{
  (void)unused;
  g_waiting++;
  omp_set_lock(&g_lock);
  omp_unset_lock(&g_lock);
  g_done++;
}

static void wake_holder(void *unused)
{
  (void)unused;
  if (alpi.task_unblock(g_holder) != ALPI_SUCCESS) abort();
  g_done++;
}

static void spawn(void (*body)(void *))
{
  if (alpi.task_spawn(body, 0, 0, 0, 0, 0) != ALPI_SUCCESS) abort();
}

// There are no more free agents than CPUs: those that wait for the lock are to make room for the one that ends it.
static void spawned_tasks(void)
{
  const int waiting = omp_get_num_procs();
  g_holder = 0;
  g_waiting = 0;
  g_done = 0;
  spawn(hold_and_pause);
  while (g_holder == 0) usleep(50);
  for (int i = 0; i < waiting; i++) spawn(want_it);
  while (g_waiting < waiting) usleep(50);
  spawn(wake_holder);
  while (g_done < waiting + 2) usleep(50);
}

static int threads_now(void)
{
  int count = 0;
  DIR *tasks = opendir("/proc/self/task");
  if (tasks == 0) return 0;
  for (const struct dirent *entry; (entry = readdir(tasks)) != 0;) count += entry->d_name[0] != '.';
  closedir(tasks);
  return count;
}

// No more threads than it takes, though each task waits for the others' lock, and nobody is there to run further ones.
static void crowded_lock(void)
{
  enum { kOuter = 2, kInner = 4, kTasks = 700, kMost = 300 };
  const int before = threads_now();
  long count = 0;
#pragma omp parallel num_threads(kOuter)
#pragma omp parallel num_threads(kInner)
#pragma omp single
  for (int i = 0; i < kTasks; i++) {
#pragma omp task
    {
#pragma omp critical(crowded)
      {
        usleep(50);
        count++;
      }
    }
  }
  CHECK(count % kTasks == 0 && count > 0);
  CHECK(threads_now() - before < kMost);
}

int main(void)
{
  omp_set_max_active_levels(3);
  omp_init_lock(&g_lock);
  find_alpi();
  open_mailbox();
  crowded_lock();
  for (int i = 0; i < 5; i++) spawned_tasks();
  omp_destroy_lock(&g_lock);
  return check_result();
}
