# SPDX-License-Identifier: Apache-2.0
"""`make bench` runs every study that bench/run knows, with the options of the performance page; pages list them all."""

import ast
import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))
from runner.everything import STUDIES  # noqa: E402

PERFORMANCE = (ROOT / "docs/reference/performance.md").read_text()
HOW_TO = (ROOT / "docs/how-to/benchmark.md").read_text()
# What runs several of the others.
TOGETHER = {"demo", "all", "everything"}


def known() -> "set[str]":
    """What the command line takes: read, since the module needs libraries that draw."""
    found: set[str] = set()
    for statement in ast.parse((ROOT / "bench/runner/main.py").read_text()).body:
        if isinstance(statement, ast.Assign) and statement.targets[0].id in ("OWN", "OWN_OPTIONS"):
            found |= set(ast.literal_eval(statement.value))
    return found


class Bench(unittest.TestCase):
    def test_every_study_is_run(self) -> None:
        self.assertIn("micro", known())
        self.assertEqual({study.name for study in STUDIES}, known() - TOGETHER)
        self.assertRegex((ROOT / "Makefile").read_text(), r"(?m)^\tbench/run everything \$\(STUDIES\)$")

    def test_the_options_are_those_of_the_page(self) -> None:
        for study in STUDIES:
            command = " ".join(study.command())
            if re.search(rf"bench/run {study.name}\b(?!-)", PERFORMANCE):
                self.assertRegex(PERFORMANCE, rf"{re.escape(command)}(?=[`\n])", study.name)

    def test_each_is_explained(self) -> None:
        explained = HOW_TO + (ROOT / "bench/run").read_text()
        for study in STUDIES:
            self.assertRegex(explained, rf"bench/run {study.name}\b", study.name)

    def test_their_scripts_exist(self) -> None:
        for study in STUDIES:
            for script in (*study.needs, *study.made_by):
                self.assertTrue((ROOT / script.split()[0]).exists(), script)


if __name__ == "__main__":
    unittest.main()
