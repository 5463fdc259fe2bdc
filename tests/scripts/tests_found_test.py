#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""No file that is named as a test is one that nothing runs: each is found by CMake, or has a target in the Makefile."""

import json
import os
import pathlib
import re
import subprocess
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ["WEFT_BUILD_DIR"])


def tests(ending: str) -> list[pathlib.Path]:
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "tests"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    names = listed.stdout.splitlines() or [str(path.relative_to(ROOT)) for path in (ROOT / "tests").rglob("*")]
    return [ROOT / name for name in names if name.endswith(ending) and (ROOT / name).exists()]


def named(text: str) -> set[str]:
    """The scripts that a Makefile or a CMakeLists.txt names, outside of comments: as files, or as words of a shell's loop."""
    text = re.sub(r"#.*|\\\n", "", text)
    loops = re.findall(r"for test in ([\w ]+); do[^\n]*\$\{test\}_test\.py", text)
    return {*re.findall(r"\w+_test\.py", text), *(f"{word}_test.py" for words in loops for word in words.split())}


class TestsFoundTest(unittest.TestCase):
    def test_what_counts_as_named(self):
        loop = "for test in c d; do \\\n\t  python3 $${test}_test.py || exit 1; done"
        self.assertEqual(named(f"a: # e_test.py\n\tpython3 b_test.py a\n\t{loop}\n"), {f"{x}_test.py" for x in "bcd"})

    def test_scripts(self):
        outside = [ROOT / "Makefile", *(ROOT / "bench").rglob("CMakeLists.txt")]
        lost = []
        for path in tests("_test.py"):
            # The first one that there is says what this folder has.
            inside = [folder / "CMakeLists.txt" for folder in path.parents if (folder / "CMakeLists.txt").exists()]
            found = any(path.name in named(file.read_text()) for file in [*outside, inside[0]])
            if not found and not re.search(r"weft_script_tests|GLOB.*\*_test\.py", inside[0].read_text()):
                lost.append(str(path.relative_to(ROOT)))
        self.assertEqual(lost, [], "nothing runs these")

    def test_programs(self):
        compiled = {entry["file"] for entry in json.loads((BUILD / "compile_commands.json").read_text())}
        lost = [str(path.relative_to(ROOT)) for path in tests("_test.cpp") if str(path) not in compiled]
        self.assertEqual(lost, [], "nothing compiles these")


if __name__ == "__main__":
    unittest.main()
