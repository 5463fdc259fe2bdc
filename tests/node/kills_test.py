# SPDX-License-Identifier: Apache-2.0
"""Processes that share a node are killed at random, under load: no slot is lost, nobody hangs, and nothing remains.

kills_test.py [KILLS]        1000 by default; some minutes
"""

import random
import sys
import time

import own_node
from own_node import NodeTest, Program, segment

KILLS = own_node.number(1000)
PROCESSES = 4


class Kills(NodeTest):
    def start(self):
        members = random.choice((2, 3, 4))
        us = random.choice((1, 20, 300))
        return Program([self.worker, 100_000, us, members], WEFT_NUM_CPUS=str(random.choice((2, 4))))

    def test_at_random(self):
        seed = time.time_ns() % 1_000_000
        random.seed(seed)
        print(f"kills_test: seed {seed}", flush=True)
        programs = [self.start() for _ in range(PROCESSES)]
        try:
            for kill in range(KILLS):
                time.sleep(random.choice((0, 0.001, 0.01)))
                victim = random.randrange(PROCESSES)
                # Often one that has begun, sometimes one that is about to join.
                if random.random() < 0.8:
                    programs[victim].await_first_region()
                programs[victim].process.kill()
                programs[victim].process.communicate()
                programs[victim] = self.start()
                if kill % 50 == 49:
                    self.all_go_on(programs)
            self.all_go_on(programs)
            for program in programs:
                self.assertEqual(program.end(), (0, ""))
        finally:
            for program in programs:
                program.__exit__()
        done = own_node.weft("node", "status")
        self.assertIn("no process shares", done.stdout)
        self.assertFalse(segment().exists())

    def all_go_on(self, programs):
        """Each opens regions still, and together they hold no more slots than there are."""
        before = {}

        def each_has_moved():
            found = self.status()
            for pid, process in found.items():
                before.setdefault(pid, process["regions"])
            return all(p.pid in found and found[p.pid]["regions"] > before[p.pid] for p in programs)

        self.eventually(each_has_moved)


if __name__ == "__main__":
    own_node.enter()
    if not own_node.is_own():
        print("kills_test: needs namespaces (unshare --user --pid)", file=sys.stderr)
        sys.exit(77)
    own_node.main()
