# SPDX-License-Identifier: Apache-2.0
"""What routines answer follows from the environment."""
import unittest

from support import CLANG, ProcessTest

ANSWERS = """
#include <limits.h>
#include <omp.h>
#include <stdio.h>
#ifdef __clang__
#define BLOCK_TIME kmp_get_blocktime()
#else
#define BLOCK_TIME 0
#endif
int main(void) {
  omp_sched_t kind;
  int chunk;
  omp_get_schedule(&kind, &chunk);
  printf("%d %d %d %d\\n", omp_get_max_task_priority(), (int)(kind & 7), chunk, BLOCK_TIME);
  return 0;
}
"""
AUTO, STATIC = 4, 1


class Settings(ProcessTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.answers = cls.build("answers", ANSWERS)
        cls.answers_by_clang = cls.build("answers-clang", ANSWERS, compiler=CLANG)

    def ask(self, program, **variables):
        done = self.run_on_weft(program, **variables)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return [int(word) for word in done.stdout.split()]

    def test_priority(self):
        self.assertEqual(self.ask(self.answers)[0], 0)
        self.assertEqual(self.ask(self.answers, OMP_MAX_TASK_PRIORITY="42")[0], 42)

    def test_chunk_left_out(self):
        self.assertEqual(self.ask(self.answers, OMP_SCHEDULE="auto")[1:3], [AUTO, 1])
        self.assertEqual(self.ask(self.answers, OMP_SCHEDULE="static")[1:3], [STATIC, 0])

    def test_block_time(self):
        self.assertEqual(self.ask(self.answers_by_clang, OMP_WAIT_POLICY="passive")[3], 0)
        self.assertEqual(self.ask(self.answers_by_clang, OMP_WAIT_POLICY="active")[3], 2**31 - 1)


if __name__ == "__main__":
    unittest.main()
