// SPDX-License-Identifier: Apache-2.0
// A task with detach ends when its body has ended and its event is fulfilled, in either order, from any thread.
#include <pthread.h>
#include <unistd.h>

#include "../support/check.h"
#include "../support/everywhere.h"

static void fulfilled_inside(int threads)
{
  int ran = 0;
#pragma omp parallel num_threads(threads)
#pragma omp single
  {
    for (int i = 0; i < 20; i++) {
      omp_event_handle_t event;
#pragma omp task detach(event) shared(ran)
      {
#pragma omp atomic
        ran++;
        omp_fulfill_event(event);
      }
    }
#pragma omp taskwait
    CHECK_EQ(ran, 20);
  }
}

static void fulfilled_by_a_sibling(int threads)
{
  int order = 0, wrong = 0;
#pragma omp parallel num_threads(threads)
#pragma omp single
  for (int i = 0; i < 10; i++) {
    omp_event_handle_t event;
#pragma omp task detach(event) depend(out : order) shared(order)
    {
#pragma omp atomic
      order++;
    }
#pragma omp task firstprivate(event) shared(order)
    {
#pragma omp atomic
      order++;
      omp_fulfill_event(event);
    }
#pragma omp task depend(in : order) shared(order, wrong) firstprivate(i)
    {
      int now;
#pragma omp atomic read
      now = order;
      if (now != 2 * i + 2) wrong++;
    }
#pragma omp taskwait
  }
  CHECK_EQ(wrong, 0);
}

// gcc 12 drops a task without a body, and with it the event.
static void empty(void) { __asm__ volatile("" ::: "memory"); }

struct later {
  omp_event_handle_t event;
  int *value;
};

static void *fulfil_later(void *argument)
{
  struct later *later = argument;
  usleep(2000);
  *later->value = 1;
  omp_fulfill_event(later->event);
  return NULL;
}

// By a thread that has nothing to do with the team; what waits is in turn a successor, a taskwait, a taskgroup, the
// barrier, the end of the region.
static void by_another_thread(int threads)
{
  enum { ways = 5 };
  int values[ways] = {0}, successor = 0;
  pthread_t helpers[ways];
  struct later later[ways];
#pragma omp parallel num_threads(threads)
  {
    for (int way = 0; way < ways; way++) {
#pragma omp single
      {
        omp_event_handle_t event;
        if (way == 2) {
#pragma omp taskgroup
          {
#pragma omp task detach(event)
            empty();
            later[way] = (struct later){event, &values[way]};
            pthread_create(&helpers[way], NULL, fulfil_later, &later[way]);
          }
          CHECK_EQ(values[way], 1);
        } else {
#pragma omp task detach(event) depend(out : values[way])
          empty();
          later[way] = (struct later){event, &values[way]};
          pthread_create(&helpers[way], NULL, fulfil_later, &later[way]);
        }
        if (way == 0) {
#pragma omp task depend(in : values[0]) shared(values, successor)
          successor = values[0];
        }
        if (way == 1) {
#pragma omp taskwait
          CHECK_EQ(values[1], 1);
        }
      }
      // Behind a barrier all that were created before it have ended.
      int value;
#pragma omp atomic read
      value = values[way];
      CHECK_EQ(value, 1);
#pragma omp barrier
    }
  }
  CHECK_EQ(successor, 1);
  for (int way = 0; way < ways; way++) pthread_join(helpers[way], NULL);
}

// The creator runs the body at once; the event may come before or after.
static void undeferred(int threads)
{
  int done = 0;
#pragma omp parallel num_threads(threads)
#pragma omp single
  {
    omp_event_handle_t event;
#pragma omp task detach(event) if (0) depend(out : done) shared(done)
    done = 1;
    CHECK_EQ(done, 1);
    omp_fulfill_event(event);
#pragma omp task depend(inout : done) shared(done)
    done = 2;
#pragma omp taskwait
    CHECK_EQ(done, 2);
  }
}

int main(void)
{
  everywhere(fulfilled_inside, fulfilled_by_a_sibling, by_another_thread, undeferred);
  return check_result();
}
