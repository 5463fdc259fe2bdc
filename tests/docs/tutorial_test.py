# SPDX-License-Identifier: Apache-2.0
"""The tutorial on callers and nested BLAS, as it is printed: its programs are saved under the names that it says, and
all of its commands run in its order. What they measure is not looked at."""

import os
import pathlib
import re
import shutil
import tempfile
import unittest

from finished import finished

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/tutorials/nested-blas.md").read_text()
WEFT = pathlib.Path(os.environ["WEFT_COMMAND"])
# Little of everything: the commands and the structure stay.
SMALLER = {"pool.c": ("kCalls = 200", "kCalls = 2"), "nested.c": ("round < 6", "round < 2")}


def steps() -> "list[tuple[str, str]]":
    """(name, text) of each program and ("", commands) of each block of commands, in the page's order."""
    found = []
    blocks = re.finditer(r"^```(\w+)\n(.*?)^```$|((?:^    [^\n]*\n)+)", PAGE, re.MULTILINE | re.DOTALL)
    for block in blocks:
        if block[1] == "c":
            name = re.findall(r"ave this as `([\w.]+)`", PAGE[: block.start()])[-1]
            found.append((name, block[2]))
        elif block[3]:
            found.append(("", re.sub(r"^    ", "", block[3], flags=re.MULTILINE)))
    return found


class Tutorial(unittest.TestCase):
    def test_all_steps(self) -> None:
        blas = next(pathlib.Path("/usr/lib").glob("*/openblas-openmp/libopenblas.so"), None)
        folder = tempfile.TemporaryDirectory(prefix="weft-tutorial-")
        self.addCleanup(folder.cleanup)
        environment = {
            name: value for name, value in os.environ.items() if not name.startswith(("OMP_", "WEFT_", "LD_"))
        }
        environment["PATH"] = f"{WEFT.parent}:{environment['PATH']}"
        names, said = [], []
        for name, text in steps():
            if name:
                names.append(name)
                self.assertIn(SMALLER[name][0], text)
                (pathlib.Path(folder.name) / name).write_text(text.replace(*SMALLER[name]))
                continue
            if "nested" in text and not blas:
                self.skipTest("no libopenblas-openmp-dev")
            # The machine need not be busy to see that the commands are right.
            text = text.replace("timeout 60", "timeout 0.2").replace("for i in 1 2 3", "for i in 1")
            done = finished(["bash", "-e", "-c", text], cwd=folder.name, env=environment, timeout=120)
            self.assertEqual(done.returncode, 0, f"{text}{done.stdout}{done.stderr}")
            said.append(done.stdout + done.stderr)
        self.assertEqual(names, ["pool.c", "nested.c"])
        self.assertRegex(said[1], r"^\d+\.\d\d s\n\d+\.\d\d s\n$")
        self.assertTrue(any(re.search(r"parallel regions: 2, inside of these: ", text) for text in said), said)


if __name__ == "__main__":
    if not shutil.which("gcc"):
        raise SystemExit(77)
    unittest.main()
