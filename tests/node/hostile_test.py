# SPDX-License-Identifier: Apache-2.0
"""Words of the segment are changed at random while programs share it. Each of them gives its right result and ends; it may
say in one line that it goes on alone.

    hostile_test.py [SEED]       the seed of an earlier run, which it prints
"""

import os
import subprocess
import time
import unittest

import own_node
from own_node import NodeTest, Program, segment

CORRUPT = os.environ["WEFT_TEST_CORRUPT"]
SEED = own_node.number(time.time_ns() % 1_000_000)
# Short attacks, and many: after a while all have gone on alone.
SECONDS = 0.4
ATTACKS = 4
# A program under attack may wait now and then; all that counts is that it ends.
PATIENCE_S = 90


@unittest.skipUnless(own_node.is_own(), "needs namespaces (unshare --pid): other processes may use the segment")
class Hostile(NodeTest):
    def tearDown(self):
        segment().unlink(missing_ok=True)

    def check(self, program):
        """It has got what it computes, and said at most one line."""
        try:
            _, said = program.process.communicate(timeout=PATIENCE_S)
        except subprocess.TimeoutExpired:
            self.fail(f"it does not end, seed {SEED}")
        self.assertEqual(program.process.returncode, 0, f"seed {SEED}: {said}")
        self.assertLessEqual(said.count("\n"), 1, said)
        if said:
            self.assertTrue(said.startswith("weft: WEFT_NODE"), said)

    def attack(self, seed, **variables):
        def start(seconds):
            return Program([self.worker, seconds, 200, 3], WEFT_NUM_CPUS="3", **variables)

        with start(SECONDS) as first, start(SECONDS) as second:
            for program in (first, second):
                program.await_first_region()
            with subprocess.Popen([CORRUPT, segment(), str(SECONDS), str(seed)], stdout=subprocess.PIPE) as corrupt:
                # Others come and go meanwhile.
                while corrupt.poll() is None:
                    with start(0.1) as visitor:
                        self.check(visitor)
                    status = own_node.weft("node", "status")
                    self.assertIn(status.returncode, (0, 1), f"seed {SEED}: {status}")
                self.assertGreater(int(corrupt.stdout.read()), 0)
                self.assertEqual(corrupt.returncode, 0)
            for program in (first, second):
                self.check(program)

    def test_words_change(self):
        print(f"hostile_test: seed {SEED}", flush=True)
        for mode in ("dynamic", "exclusive", "counting"):
            for i in range(ATTACKS):
                with self.subTest(mode=mode, seed=SEED + i):
                    self.attack(SEED + i, WEFT_MODE=mode)


if __name__ == "__main__":
    own_node.enter()
    own_node.main()
