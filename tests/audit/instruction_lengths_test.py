#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The lengths of instructions are those that binutils' disassembler says, in all of some large libraries."""

import pathlib
import re
import subprocess
import sys
import unittest

LENGTHS = sys.argv.pop()
FOLDERS = [pathlib.Path(folder) for folder in ("/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/usr/lib64")]
NAMES = ("libc.so.6", "libm.so.6", "libmvec.so.1", "libstdc++.so.6", "libgomp.so.1")


def code_of(path):
    """The bytes of each instruction in a line; what is no instruction is left out."""
    command = ["objdump", "--disassemble", "--insn-width=16", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300)
    rows = (line.split("\t") for line in done.stdout.splitlines())
    codes = (row[1] for row in rows if len(row) > 2 and "(bad)" not in row[2])
    # A wait for the coprocessor and the instruction behind it are shown as one.
    return "\n".join(code.removeprefix("9b ") or code for code in codes)


class InstructionLengths(unittest.TestCase):
    def test_agree_with_a_disassembler(self):
        files = sorted({(folder / name).resolve() for folder in FOLDERS for name in NAMES if (folder / name).exists()})
        self.assertTrue(files)
        for file in files:
            with self.subTest(file.name):
                done = subprocess.run([LENGTHS], input=code_of(file), capture_output=True, text=True, timeout=300)
                *wrong, last = done.stdout.splitlines()
                self.assertEqual(wrong[:20], [])
                self.assertGreater(int(re.match(r"(\d+) instructions", last)[1]), 1000)


if __name__ == "__main__":
    unittest.main()
