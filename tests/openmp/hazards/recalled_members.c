// SPDX-License-Identifier: Apache-2.0
// Members that have finished are called back to tasks, while stand-ins of the same numbers come, sleep and leave. A member
// that is counted as called twice answers once; then nobody is called any more, and this hangs.
#include <omp.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "../support/check.h"
#include "../support/mailbox.h"

enum { kRounds = 100, kTasks = 12 };

static _Atomic int g_pauses;

static void *unblock_soon(void *context)
{
  usleep(g_pauses++ * 37 % 300);
  unblock_task(context);
  return NULL;
}

static void pause_for_a_moment(void)
{
  weft_blocking_context *context = get_blocking_context();
  pthread_t thread;
  if (pthread_create(&thread, NULL, unblock_soon, context) != 0) abort();
  pthread_detach(thread);
  block_task(context);
}

int main(void)
{
  MAILBOX_FIND(get_blocking_context, "weft_get_current_blocking_context");
  MAILBOX_FIND(block_task, "weft_block_current_task");
  MAILBOX_FIND(unblock_task, "weft_unblock_task");
  _Atomic int ran = 0;
  int members = 0;
  for (int round = 0; round < kRounds; round++) {
#pragma omp parallel num_threads(1 + round % 5) reduction(+ : members)
    {
      members++;
      for (int i = 0; i < kTasks; i++) {
#pragma omp task firstprivate(i) shared(ran)
        {
          if (i % 3 == 0) pause_for_a_moment();
#pragma omp task shared(ran)
          {
            if (i % 4 == 0) pause_for_a_moment();
            ran++;
          }
        }
      }
      if (round % 2 != 0) pause_for_a_moment();
    }
  }
  CHECK_EQ(ran, members * kTasks);
  return check_result();
}
