// SPDX-License-Identifier: Apache-2.0
// Where tasks may be paused, a task that makes many children goes aside now and then until some of them have ended; and
// goes on where none of them can.
#include "../support/check.h"
#include "../support/mailbox.h"

#include <omp.h>
#include <unistd.h>

enum { many = 4000, most_for_each = 64 };

// The children are made faster than they run.
static int work(int i)
{
  for (volatile int turn = 0; turn < 2000; turn++) {
  }
  return i;
}

static void few_are_left(int with_dependences)
{
  _Atomic int ended = 0;
  int most = 0;
  char chains[16];
  (void)chains;  // gcc sees no use in dependences
#pragma omp parallel
#pragma omp single
  {
    for (int i = 0; i < many; i++) {
      if (with_dependences) {
#pragma omp task depend(inout : chains[i % 16]) shared(ended)
        atomic_fetch_add(&ended, work(i) == i);
      } else {
#pragma omp task shared(ended)
        atomic_fetch_add(&ended, work(i) == i);
      }
      const int left = i + 1 - atomic_load(&ended);
      if (left > most) most = left;
    }
  }
  CHECK_EQ(atomic_load(&ended), many);
  // A thread that has lost its CPU keeps others from its tasks. Then their creator makes some more.
  if (omp_get_num_procs() <= sysconf(_SC_NPROCESSORS_ONLN)) CHECK(most < many / 2);
}

// Receivers first: none of them ends before their creator has made the senders.
static void none_can_end(void)
{
  enum { receivers = kBoxes };
  _Atomic long sum = 0;
#pragma omp parallel
#pragma omp single
  {
    for (int i = 0; i < receivers; i++) {
#pragma omp task shared(sum)
      atomic_fetch_add(&sum, receive_from(i));
    }
    for (int i = 0; i < receivers; i++) {
#pragma omp task
      send_to(i, i);
    }
  }
  CHECK_EQ(atomic_load(&sum), (long)receivers * (receivers - 1) / 2);
}

// The creator holds what all its children want.
static void with_a_lock(void)
{
  omp_lock_t lock;
  omp_init_lock(&lock);
  int ended = 0;
#pragma omp parallel
#pragma omp single
  {
    omp_set_lock(&lock);
    for (int i = 0; i < 10 * most_for_each; i++) {
#pragma omp task shared(ended, lock)
      {
        omp_set_lock(&lock);
        ended++;
        omp_unset_lock(&lock);
      }
    }
    omp_unset_lock(&lock);
  }
  CHECK_EQ(ended, 10 * most_for_each);
  omp_destroy_lock(&lock);
}

// A creator that counts on its thread number has no stand-in.
static void with_a_number(void)
{
  _Atomic int ended = 0;
#pragma omp parallel
#pragma omp single
#pragma omp task shared(ended)
  {
    const int before = omp_get_thread_num();
    for (int i = 0; i < many; i++) {
#pragma omp task shared(ended)
      atomic_fetch_add(&ended, 1);
    }
    CHECK_EQ(omp_get_thread_num(), before);
  }
  CHECK_EQ(atomic_load(&ended), many);
}

int main(void)
{
  open_mailbox();
  few_are_left(0);
  few_are_left(1);
  none_can_end();
  with_a_lock();
  with_a_number();
  return check_result();
}
