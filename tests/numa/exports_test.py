# SPDX-License-Identifier: Apache-2.0
"""The collector defines what its list of exports says, and nothing else; and it needs libc alone."""

import pathlib
import re
import subprocess
import sys
import unittest

LIBRARY, LIST = sys.argv.pop(1), pathlib.Path(sys.argv.pop(1))
BUFFERS = LIST.with_name("buffers.def")


def read(*options: str) -> str:
    return subprocess.run([*options, LIBRARY], capture_output=True, text=True, check=True).stdout


class Exports(unittest.TestCase):
    def test_names(self) -> None:
        text = re.sub(r"#.*", "", LIST.read_text())
        listed = set(re.findall(r"(\w+);", text.partition("global:")[2].partition("local:")[0]))
        defined = {line.split()[-1].partition("@")[0] for line in read("nm", "-D", "--defined-only").splitlines()}
        self.assertGreater(len(listed), 200)
        self.assertEqual(defined, listed)

    def test_calls_with_buffers_are_all_exported(self) -> None:
        calls = re.findall(r"^WEFT_CALL\((\w+),", BUFFERS.read_text(), re.MULTILINE)
        self.assertEqual(len(calls), len(set(calls)))
        self.assertLessEqual(set(calls), set(re.findall(r"(\w+);", LIST.read_text())))

    def test_libraries(self) -> None:
        needed = set(re.findall(r"NEEDED.*\[(.*)\]", read("readelf", "-d")))
        self.assertLessEqual(
            {name.partition(".so")[0] for name in needed}, {"libc", "ld-linux-x86-64", "ld-linux-aarch64"}
        )


if __name__ == "__main__":
    unittest.main()
