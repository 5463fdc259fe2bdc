// SPDX-License-Identifier: Apache-2.0
// A stand-in sleeps under the number of a member that is paused. At about the same time the member comes back and falls
// asleep itself, and a task is pushed that its creator does not run: one of the two has to be called for it. A call
// that is lost makes this hang.
#include <omp.h>
#include <unistd.h>

#include "../support/check.h"
#include "../support/mailbox.h"

enum { kRounds = 1500, kSteps = 16 };

static _Atomic int g_ran;
static _Atomic int g_roles;  // given out; who has asked for its thread number keeps it, and has no stand-in
static weft_blocking_context *_Atomic g_paused;

static void spin(long times)
{
  for (volatile long i = 0; i < times; i++) continue;
}

static void await(int count)
{
  for (long looks = 0; g_ran < count; looks++) {
    // Its CPU may be wanted by another process; it is not given to other threads of this one.
    if (looks > 100000) usleep(20);
  }
}

static void push(void)
{
#pragma omp task
  g_ran++;
}

static void round_of(int before, int between)
{
  g_ran = 0;
  g_paused = 0;
  g_roles = 0;
#pragma omp parallel num_threads(2)
  if (omp_get_num_threads() != 2) {
    // There is nobody to push tasks.
  } else if (g_roles++ == 0) {
    // By now the team has tasks, so a stand-in is called.
    while (g_ran == 0) yield_task();
    weft_blocking_context *pause = get_blocking_context();
    g_paused = pause;
    block_task(pause);
  } else {
    push();
    await(1);
    while (g_paused == 0) spin(1);
    spin(before);
    unblock_task(g_paused);
    spin(between);
    push();
    await(2);
  }
}

int main(void)
{
  // The one that pushes keeps a CPU busy.
  if (omp_get_num_procs() < 2) return 0;
  open_mailbox();
  for (int i = 0; i < TIMES(kRounds); i++) round_of((i / kSteps) % 40 * 2000, i % kSteps * 300);
  return check_result();
}
