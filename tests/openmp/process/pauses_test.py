# SPDX-License-Identifier: Apache-2.0
"""Members that hold up others are told once that something is paused, and not for short waits: the number of switches tells."""

import os
import re
import unittest

from support import ProcessTest

SUPPORT = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "support")
HEAD = f"""
#include <omp.h>
#include <unistd.h>
#include "{SUPPORT}/mailbox.h"
"""

# In a task's region all members but few wait at a barrier, where they have run a task.
INSIDE = (
    HEAD
    + """
static void by_member(int number);
int main(void) {
  open_mailbox();
  omp_set_max_active_levels(3);
#pragma omp parallel num_threads(2)
#pragma omp single
#pragma omp task
#pragma omp parallel num_threads(48)
  {
    if (omp_get_thread_num() == 0) {
#pragma omp task
      usleep(1);
    }
    by_member(omp_get_thread_num());
#pragma omp barrier
  }
  return 0;
}
"""
)
EVENTS = (
    INSIDE
    + """
static void by_member(int number) {
  weft_event_counter *_Atomic first = 0;
  if (number != 1) return;
  usleep(20000);
#pragma omp task shared(first)
  {
    weft_event_counter *event = get_event_counter();
    increase_events(event, 1);
    first = event;
  }
  while (first == 0) usleep(20);
  for (int i = 0; i < 6000; i++) {
#pragma omp task if (0)
    {
      weft_event_counter *event = get_event_counter();
      increase_events(event, 1);
      decrease_events(event, 1);
    }
    if (i % 20 == 0) usleep(20);
  }
  decrease_events(first, 1);
}
"""
)
LOCKS = (
    INSIDE
    + """
static void by_member(int number) {
  static omp_lock_t lock;
  if (number == 0) omp_init_lock(&lock);
  if (number != 1 && number != 2) return;
  usleep(20000);
  for (int i = 0; i < 500; i++) {
    omp_set_lock(&lock);
    usleep(60);
    omp_unset_lock(&lock);
    usleep(30);
  }
}
"""
)


class Pauses(ProcessTest):
    def switches(self, name, source):
        program = self.build(name, source)
        done = self.run_on_weft(program, WEFT_NUM_CPUS="56", WEFT_STATS="all")
        self.assertEqual(done.returncode, 0, done.stderr)
        found = re.search(r"context switches: (\d+)", done.stderr)
        self.assertIsNotNone(found, done.stderr)
        return int(found[1])

    def test_events_beside_others(self):
        # Where each event wakes those that wait it is 18 000 and more.
        self.assertLess(self.switches("events", EVENTS), 8000)

    def test_short_waits_for_locks(self):
        # Where each wait wakes those that wait it is 40 000 and more.
        self.assertLess(self.switches("locks", LOCKS), 15000)


if __name__ == "__main__":
    unittest.main()
