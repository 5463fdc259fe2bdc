# SPDX-License-Identifier: Apache-2.0
"""`make bench` runs every study that bench/run knows, with the options of the performance page; pages list them all."""

import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))
from runner.studies import ABOUT, STUDIES  # noqa: E402

PERFORMANCE = (ROOT / "docs/reference/performance.md").read_text()
HOW_TO = "".join(page.read_text() for page in (ROOT / "docs/how-to").glob("benchmark*.md"))
# What runs several of the others.
TOGETHER = {"demo", "all", "everything"}


class Bench(unittest.TestCase):
    def test_every_study_is_run(self) -> None:
        self.assertEqual({study.name for study in STUDIES}, ABOUT.keys() - TOGETHER)
        self.assertRegex((ROOT / "Makefile").read_text(), r"(?m)^\tbench/run everything \$\(STUDIES\)$")

    def test_the_options_are_those_of_the_page(self) -> None:
        for study in STUDIES:
            command = " ".join(study.command())
            if re.search(rf"bench/run {study.name}\b(?!-)", PERFORMANCE):
                self.assertRegex(PERFORMANCE, rf"{re.escape(command)}(?=[`\n])", study.name)

    def test_each_is_explained(self) -> None:
        for study in STUDIES:
            self.assertRegex(HOW_TO, rf"bench/run {study.name}\b(?!-)", study.name)

    def test_their_scripts_exist(self) -> None:
        for study in STUDIES:
            for script in (*study.needs, *study.made_by):
                self.assertTrue((ROOT / script.split()[0]).exists(), script)


if __name__ == "__main__":
    unittest.main()
