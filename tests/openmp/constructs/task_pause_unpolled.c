// SPDX-License-Identifier: Apache-2.0
// Tasks that another thread lets go on, in a process where no polling service is registered, or one only when they are
// paused: those that run meanwhile end for all that wait for them.
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <unistd.h>

#include "../../../include/weft/task.h"
#include "../support/check.h"

static weft_blocking_context *(*get_blocking_context)(void);
static void (*block_task)(weft_blocking_context *);
static void (*unblock_task)(weft_blocking_context *);
static int (*register_service)(const char *, weft_polling_service, void *);

enum { kTasks = 6, kTaskUs = 10000 };

static _Atomic(weft_blocking_context *) paused;

static int nothing(void *data)
{
  (void)data;
  return 0;
}

// It goes on in the middle of the second one of those tasks.
static void *let_go_on(void *registers)
{
  while (atomic_load(&paused) == NULL) usleep(100);
  usleep(kTaskUs / 2);
  if (registers != NULL) CHECK_EQ(register_service("nothing", nothing, NULL), 0);
  usleep(kTaskUs);
  unblock_task(atomic_load(&paused));
  return NULL;
}

static void count_slowly(int *done)
{
  for (int i = 0; i < kTasks; i++) {
#pragma omp task
    {
      usleep(kTaskUs);
#pragma omp atomic
      ++*done;
    }
  }
}

static void pause_one_of_many(int grouped, void *registers)
{
  int done = 0;
  atomic_store(&paused, NULL);
  pthread_t other;
  CHECK_EQ(pthread_create(&other, NULL, let_go_on, registers), 0);
#pragma omp parallel num_threads(2)
#pragma omp single
  {
#pragma omp task
    {
      weft_blocking_context *self = get_blocking_context();
      atomic_store(&paused, self);
      block_task(self);
    }
    if (grouped) {
#pragma omp taskgroup
      count_slowly(&done);
      CHECK_EQ(done, kTasks);
    } else {
      count_slowly(&done);
    }
  }
  CHECK_EQ(done, kTasks);
  pthread_join(other, NULL);
}

int main(void)
{
  get_blocking_context = dlsym(RTLD_DEFAULT, "weft_get_current_blocking_context");
  block_task = dlsym(RTLD_DEFAULT, "weft_block_current_task");
  unblock_task = dlsym(RTLD_DEFAULT, "weft_unblock_task");
  register_service = dlsym(RTLD_DEFAULT, "weft_register_polling_service");
  if (block_task == NULL) return check_result();  // another runtime
  for (int round = 0; round < 3; round++) {
    pause_one_of_many(0, NULL);
    pause_one_of_many(1, NULL);
  }
  pause_one_of_many(0, &paused);
  return check_result();
}
