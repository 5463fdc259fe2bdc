#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""scripts/quick: which tests a change concerns."""

import importlib.machinery
import importlib.util
import pathlib
import subprocess
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def load_quick():
    loader = importlib.machinery.SourceFileLoader("quick", str(ROOT / "scripts/quick"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("quick", loader))
    loader.exec_module(module)
    return module


QUICK = load_quick()


def of_area(name: str, *labels: str) -> dict:
    return {"name": name, "properties": [{"name": "LABELS", "value": list(labels)}]}


class AreasTest(unittest.TestCase):
    def test_a_file_is_of_the_longest_prefix(self):
        self.assertEqual(QUICK.areas_of("tools/weft/report/html.cpp"), {"report"})
        self.assertEqual(QUICK.areas_of("tools/weft/run.cpp"), {"cli", "docs"})

    def test_a_file_of_the_tests_is_of_its_folder(self):
        self.assertEqual(QUICK.areas_of("tests/node/queue_test.cpp"), {"node"})

    def test_prefixes_are_there(self):
        for prefix in QUICK.AREAS:
            self.assertTrue(any(ROOT.glob(prefix.rstrip("/") + "*")), prefix)

    def test_areas_have_tests(self):
        for area in " ".join(QUICK.AREAS.values()).split():
            self.assertTrue((ROOT / "tests" / area / "CMakeLists.txt").exists() or area == "bench", area)

    def test_each_folder_of_the_tests_builds_what_its_tests_need(self):
        without = {"programs", "collectors", "bench"}  # their targets build by themselves; bench's stand in bench/
        for folder in (ROOT / "tests").iterdir():
            if folder.is_dir() and folder.name not in without and not folder.name.startswith(("_", ".")):
                for area in QUICK.areas_of(f"tests/{folder.name}/any"):
                    self.assertTrue((ROOT / "tests" / area / "CMakeLists.txt").exists(), f"{folder.name}: {area}")

    def test_headers_in_include_are_those_of_their_product(self):
        self.assertIn("shm", QUICK.areas_of("include/weft/rwlock.h"))
        self.assertIn("mpi", QUICK.areas_of("include/weft/tampi/TAMPI.h"))

    def test_all_that_is_compiled_has_an_area(self):
        files = subprocess.run(
            ["git", "ls-files", "src", "tools/weft"], cwd=ROOT, capture_output=True, text=True, check=False
        )
        for name in files.stdout.splitlines():
            if name.endswith((".cpp", ".h")):
                self.assertTrue(QUICK.areas_of(name), name)


class PickTest(unittest.TestCase):
    TESTS = (
        of_area("node.programs", "node"),
        of_area("QueueTest.AFew", "node", "protocol"),
        of_area("SlotTest.AFew", "node", "protocol"),
        of_area("cli.node", "cli"),
    )

    def pick(self, words=(), known=None, seconds=1000.0):
        return QUICK.pick(list(self.TESTS), {"node"}, set(words), known or {}, seconds)

    def test_only_of_the_areas(self):
        chosen, left_out = self.pick()
        self.assertEqual(sorted(chosen), ["QueueTest.AFew", "SlotTest.AFew", "node.programs"])
        self.assertEqual(left_out, [])

    def test_the_shortest_first(self):
        chosen, _ = self.pick(known={"QueueTest.AFew": 3, "SlotTest.AFew": 1, "node.programs": 2})
        self.assertEqual(chosen, ["SlotTest.AFew", "node.programs", "QueueTest.AFew"])

    def test_named_after_a_changed_file_before_all_others(self):
        words = QUICK.words_of(["src/node/queue.cpp"])
        chosen, _ = self.pick(words, {"QueueTest.AFew": 30})
        self.assertLess(chosen.index("QueueTest.AFew"), chosen.index("SlotTest.AFew"))

    def test_what_does_not_fit_is_said(self):
        chosen, left_out = self.pick(known=dict.fromkeys(("QueueTest.AFew", "SlotTest.AFew", "node.programs"), 1e9))
        self.assertEqual((chosen, len(left_out)), ([], 3))


if __name__ == "__main__":
    unittest.main()
