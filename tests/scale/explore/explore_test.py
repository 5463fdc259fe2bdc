# SPDX-License-Identifier: Apache-2.0
"""Protocols on the exploring machine: nothing is found in them, and what is planted is."""

import os
import re
import subprocess
import unittest

EXPLORE = os.environ["WEFT_SCALE_EXPLORE"]

# Operations whose order a protocol needs, and a program that shows it: by a part of what --weaken-each calls them.
NEEDED = {
    "claim_set": ["rest fence", "run fence"],
    "openmp_lock": ["openmp::unlock update", "Spinlock::unlock store"],
    "parallel_call": ["core::publish store", "core::join fence", "finish fence", "ParallelCall::take update"],
    "parking": ["Spinlock::unlock store"],
    "persistent_team": [
        "PersistentTeam::post store",
        "PersistentTeam::post fence",
        "core::PersistentTeam::serve store",
    ],
    "spin_queues": ["::pass_on update", "::enter update", "::is_first load", "::leave update"],
    "task_deque": ["TaskDeque::push store", "TaskDeque::pop fence", "steal<const explore:: fence"],
    "wait_queue": ["WaitQueue::release update", "WaitQueue::ticket load"],
    "waiting_set": ["announce fence", "notify fence"],
}


def explore(*arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run([EXPLORE, *arguments], capture_output=True, text=True, timeout=250, check=False)


class ExploreTest(unittest.TestCase):
    def test_nothing_is_found_in_protocols(self) -> None:
        done = explore("--stale", "--runs", "120")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertGreater(done.stdout.count("nothing found"), 40)

    def test_what_has_been_found_is_mended(self) -> None:
        # As many runs as it took, and some more: announce() without a fence, a notification that is taken by a store.
        for program, runs in (("waiting_set", "20000"), ("persistent_team_nudge", "3000")):
            done = explore("--stale", "--program", program, "--strategy", "random", "--runs", runs)
            self.assertEqual(done.returncode, 0, done.stdout)

    def test_planted_faults_are_found(self) -> None:
        names = re.findall(r"^(\S+) \(a planted fault\)$", explore("--list").stdout, re.MULTILINE)
        self.assertGreater(len(names), 7)
        for strategy in ("random", "pct"):
            found = explore("--stale", "--program", "faults", "--strategy", strategy, "--runs", "20000").stdout
            for name in names:
                with self.subTest(fault=name, strategy=strategy):
                    self.assertRegex(found, rf"(?m)^{name}: {strategy}: .*FAILED$")

    def test_orders_that_are_taken_away_are_missed(self) -> None:
        for program, operations in NEEDED.items():
            for operation in operations:
                with self.subTest(program=program, operation=operation):
                    done = explore("--stale", "--program", program, "--runs", "6000", "--weaken", operation)
                    self.assertIn("without order", done.stdout)
                    self.assertRegex(done.stdout, "(?m) stale loads: FAILED$")

    def test_some_faults_need_stale_loads(self) -> None:
        for fault in ("fault_no_wakers_fence", "fault_no_sleepers_fence", "fault_weak_exclude"):
            with self.subTest(fault=fault):
                self.assertEqual(explore("--program", fault, "--runs", "5000").returncode, 0)

    def test_a_failure_can_be_run_again(self) -> None:
        # Of a program that makes objects of its own on the way, and of one that wakes contexts.
        for arguments in (["--program", "fault_aba"], ["--program", "persistent_team", "--weaken", "post fence"]):
            found = explore("--stale", "--runs", "5000", *arguments).stdout
            trace, again = re.search(r"FAILED\n(.*)  again: ([^\n]*)\n", found, re.DOTALL).groups()
            done = explore(*[word.strip("'") for word in re.findall(r"'[^']*'|\S+", again)])
            self.assertEqual(done.returncode, 1, again)
            self.assertIn(trace, done.stdout)

    def test_runs_are_the_same_each_time(self) -> None:
        arguments = ("--stale", "--program", "team_tasks", "--runs", "50", "--seed", "7")
        self.assertEqual(explore(*arguments).stdout, explore(*arguments).stdout)

    def test_what_there_is_not(self) -> None:
        self.assertIn("no program is called nosuch", explore("--program", "nosuch").stderr)
        self.assertIn("--strategy", explore("--strategy", "nosuch").stderr)
        done = explore("--program", "task_deque", "--weaken", "nosuch")
        self.assertIn("there is no such operation", done.stdout)
        self.assertNotEqual(done.returncode, 0)


if __name__ == "__main__":
    unittest.main()
