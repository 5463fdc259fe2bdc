# SPDX-License-Identifier: Apache-2.0
"""`weft compare -- A -- B`: two programs in turn."""

import json
import unittest

from command_test import CommandTest


class Duel(CommandTest):
    def compare(self, *words, seconds="20s"):
        report = self.folder / "duel.json"
        done = self.weft("compare", "--time-limit", seconds, "--json", report, *words)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout, json.loads(report.read_text())

    def test_one_that_is_faster(self):
        for first, second, verdict in (("0.05", "0.01", "B is faster"), ("0.01", "0.05", "A is faster")):
            with self.subTest(verdict=verdict):
                said, report = self.compare("--", "sleep", first, "--", "sleep", second)
                self.assertIn(f"confidence): {verdict}\n", said)
                self.assertTrue(report["clear"])
                low, high = report["interval"]
                self.assertLessEqual(low, report["ratio"])
                self.assertLessEqual(report["ratio"], high)
                self.assertEqual(
                    [side["command"] for side in report["programs"]], [["sleep", first], ["sleep", second]]
                )
                rounds = {len(side["seconds"]) for side in report["programs"]}
                self.assertEqual(len(rounds), 1)
                self.assertGreaterEqual(min(rounds), 8)

    def test_what_programs_say_is_thrown_away(self):
        said, _ = self.compare("--", "echo", "first", "--", "echo", "second", seconds="0.2")
        self.assertEqual([line[0] for line in said.splitlines()], ["A", "B", "B"])
        self.assertIn("  echo first\n", said)

    def test_too_few_runs(self):
        said, report = self.compare("--", "sleep", "0.2", "--", "sleep", "0.2", seconds="0.3")
        self.assertIn("too few runs", said)
        self.assertNotIn("interval", report)

    def test_failures_and_usage(self):
        done = self.weft("compare", "--", "false", "--", "true")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.one_complaint(done, "false has ended with code 1")
        done = self.weft("compare", "--", "true", "--", "/nonexistent")
        self.assertEqual(done.returncode, 127)
        self.one_complaint(done, "/nonexistent")
        for words in (
            (),
            ("--",),
            ("--", "true"),
            ("--", "true", "--"),
            ("--", "a", "--", "b", "--", "c"),
            ("--time-limit", "1s"),
        ):
            with self.subTest(words=words):
                done = self.weft("compare", *words)
                self.assertEqual(done.returncode, 2)
                self.one_complaint(done, "-- A -- B")


if __name__ == "__main__":
    unittest.main()
