# SPDX-License-Identifier: Apache-2.0
"""Who looks for tasks looks where there may be some: with many members most of whose tasks are paused, a search takes a few
deques, not one for each member."""

import os
import re
import unittest

from support import ProcessTest

SUPPORT = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "support")
PAUSES = f"""
#include <omp.h>
#include "{SUPPORT}/mailbox.h"
enum {{ kPairs = 100 }};
int main(void) {{
  open_mailbox();
  long sum = 0;
  for (int round = 0; round < 5; round++) {{
#pragma omp parallel
#pragma omp single
    {{
      for (int i = 0; i < kPairs; i++) {{
#pragma omp task shared(sum) firstprivate(i)
        {{
          long value = receive_from(i);
#pragma omp atomic
          sum += value;
        }}
      }}
      for (int i = 0; i < kPairs; i++) {{
#pragma omp task firstprivate(i)
        send_to(i, 1);
      }}
    }}
  }}
  return sum != 5 * kPairs;
}}
"""


class Searches(ProcessTest):
    def test_few_deques_are_looked_at(self):
        program = self.build("pauses", PAUSES)
        done = self.run_on_weft(program, WEFT_NUM_CPUS="32", OMP_NUM_THREADS="32", WEFT_STATS="all")
        self.assertEqual(done.returncode, 0, done.stderr)
        found = re.search(r"searches for tasks of others: (\d+), deques looked at: (\d+)", done.stderr)
        self.assertIsNotNone(found, done.stderr)
        searches, looked_at = int(found[1]), int(found[2])
        self.assertGreater(searches, 0)
        # Without marks it is all 32 in most of them.
        self.assertLess(looked_at, 4 * searches, done.stderr)


if __name__ == "__main__":
    unittest.main()
