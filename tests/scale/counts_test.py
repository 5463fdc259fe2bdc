# SPDX-License-Identifier: Apache-2.0
"""What large teams do to shared memory and to the kernel, counted on a simulated machine."""

import functools
import json
import os
import pathlib
import subprocess
import unittest

STUDY = os.environ["WEFT_SCALE_STUDY"]
PRESETS = pathlib.Path(__file__).resolve().parent / "presets"


def run_study(construct: str, cpus: int, machine: str = "epyc-2x96", repetitions: int = 5, **environment: str) -> dict:
    command = [STUDY, "--machine", PRESETS / f"{machine}.json", "--construct", construct, "--cpus", str(cpus)]
    command += ["--repetitions", str(repetitions), "--json"]
    variables = {**os.environ, **environment}
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False, env=variables)
    if done.returncode != 0:
        raise AssertionError(f"{construct} on {cpus} CPUs: exit code {done.returncode}\n{done.stderr}")
    return json.loads(done.stdout)


# Runs are the same each time, so those of several tests are made once.
study = functools.cache(run_study)


# Where records lie is the same in each run, and hangs on the sizes of the environment and of paths. Now and then two
# share a line, or a member goes astray: so what is measured is the best of some layouts.
LAYOUTS = tuple({"PADDING": "x" * size} for size in (1, 300, 1500, 2000))


def most_updates(result: dict) -> float:
    return max((line["updates"] for line in result["lines"]), default=0)


class CountsTest(unittest.TestCase):
    def test_regions_and_barriers_have_no_line_that_all_update(self) -> None:
        for construct in ("flat", "barrier"):
            for cpus in (16, 64, 192):
                with self.subTest(construct=construct, cpus=cpus):
                    self.assertLessEqual(most_updates(study(construct, cpus)), 16)

    def test_reductions_have_no_line_that_all_update(self) -> None:
        self.assertLessEqual(most_updates(study("reduction", 64, repetitions=2)), 16)

    def test_locks_go_to_few_of_those_that_wait(self) -> None:
        # Asked for, given back and taken; the line in which one waits. It was 32 when all looked at the lock.
        result = study("critical", 64, repetitions=1)
        self.assertLess(result["each"]["transfers"], 18 * 4 * 64)

    def test_dynamic_loops_do_not_wait_for_their_counter(self) -> None:
        # 0.70 when each member asked it.
        self.assertGreater(study("dynamic", 64, repetitions=1)["measures"]["efficiency"], 0.8)

    def test_regions_and_barriers_grow_with_the_logarithm(self) -> None:
        for construct in ("flat", "barrier"):
            small, large = (study(construct, cpus)["us"] for cpus in (16, 192))
            # log2 192 / log2 16 is 1.9; on the way other sockets come in, whose lines take twice as long.
            self.assertLess(large, 6 * small, construct)

    def test_members_that_sleep_wake_each_other(self) -> None:
        result = study("flat-after-pause", 64, repetitions=2)
        self.assertLessEqual(result["each"]["wakes_by_first_thread"], 20)
        self.assertGreaterEqual(result["each"]["wakes"], 60, "all have slept")

    def test_a_region_makes_no_system_call(self) -> None:
        self.assertEqual(study("flat", 64)["each"]["system_calls"], 0)

    def test_a_region_of_a_large_team_has_few_transfers_a_member(self) -> None:
        # Posted, seen, passed on, done: and some polls that come too early.
        self.assertLess(study("flat", 192)["each"]["transfers"], 8 * 192)

    def test_tasks_of_one_member_keep_the_others_busy(self) -> None:
        # The machine's own time, so the same on each computer.
        result = study("tasks", 64, repetitions=3)
        self.assertGreater(result["measures"]["efficiency"], 0.85)
        # Of 4096 tasks: neither each one's end nor each one's return.
        places = {site["place"]: site["updates"] for site in result["sites"]}
        for place in ("tell_parent", "TaskReturns::flush"):
            self.assertLess(sum(updates for name, updates in places.items() if place in name), 1024, place)

    def test_a_tree_of_tasks_has_few_transfers_a_task(self) -> None:
        result = study("task-tree", 64, repetitions=3)
        self.assertLess(result["each"]["transfers"], 24 * 4096)

    def test_members_of_inner_regions_run_near_their_primary(self) -> None:
        # Two nodes of 24 CPUs, and one of 16: anywhere would be 0.65.
        result = study("nested", 64, repetitions=5)
        self.assertLess(result["measures"]["members on another node than their primary (share)"], 0.3)

    def test_bound_members_of_inner_regions_stay_on_the_nodes_of_their_partition(self) -> None:
        binding = {"OMP_PROC_BIND": "spread,close", "OMP_PLACES": "cores"}
        results = [study("nested", 64, repetitions=5, **binding, **layout) for layout in LAYOUTS]
        share = "members on another node than their primary (share)"
        self.assertEqual(min(result["measures"][share] for result in results), 0)
        self.assertLess(max(result["measures"][share] for result in results), 0.01)
        # 80 us of work each. It was 209 when members took the carriers of other partitions.
        self.assertLess(min(result["us"] for result in results), 150)

    def test_bound_regions_cost_no_more(self) -> None:
        free, bound = (
            min(study("flat", 64, **binding, **layout)["us"] for layout in LAYOUTS)
            for binding in ({}, {"OMP_PROC_BIND": "close"})
        )
        self.assertLess(bound, 1.1 * free)

    def test_runs_are_the_same_each_time(self) -> None:
        self.assertEqual(run_study("barrier", 32), run_study("barrier", 32))

    def test_other_machines(self) -> None:
        for machine, cpus in (("kunpeng-4x48", 48), ("kunpeng-2x24", 48), ("desktop-16", 16)):
            with self.subTest(machine=machine):
                self.assertGreater(study("flat", cpus, machine)["us"], 0)


class BadInputTest(unittest.TestCase):
    def refused(self, *arguments: str) -> str:
        done = subprocess.run([STUDY, *arguments], capture_output=True, text=True, timeout=60, check=False)
        self.assertNotEqual(done.returncode, 0)
        return done.stdout + done.stderr

    def test_what_there_is_not(self) -> None:
        machine = ("--machine", str(PRESETS / "desktop-16.json"))
        self.assertIn("no construct is called nosuch", self.refused(*machine, "--construct", "nosuch"))
        self.assertIn("/nosuch.json: it cannot be opened", self.refused("--machine", "/nosuch.json"))
        self.assertIn("--threads", self.refused(*machine, "--threads", "some"))


if __name__ == "__main__":
    unittest.main()
