#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles the programs of tests/openmp/constructs with the pass: the code is valid, and most loops are lowered.

`--list` prints each loop that is not.
"""

import collections
import json
import pathlib
import sys
import tempfile
import unittest

import tools

CONSTRUCTS = pathlib.Path(__file__).resolve().parents[2] / "openmp/constructs"
FLAGS = {"threadprivate_calls": ["-fnoopenmp-use-tls"]}
# Of regions that are one loop. The rest of them have doacross loops, or do things before the loop.
LEAST = 0.9


def compile_all(folder):
    """What the pass reports of each construct."""
    report, kept = folder / "report", folder / "kept"
    for source in sorted(CONSTRUCTS.iterdir()):
        if source.suffix not in (".c", ".cpp"):
            continue
        flags = FLAGS.get(source.stem, [])
        tools.compile(source, "/dev/null", "-O2", "-g", "-w", *flags, WEFTCC_REPORT=report, WEFTCC_KEEP=kept)
        verified = tools.run(tools.OPT, "-passes=verify", "-disable-output", f"{kept}.after.ll")
        if verified.stderr:
            raise AssertionError(f"{source.name}: {verified.stderr}")
    return [json.loads(line) for line in report.read_text().splitlines()]


def one_loop(construct):
    return construct["construct"] != "parallel"


class ConstructsTest(unittest.TestCase):
    def test_constructs(self):
        with tempfile.TemporaryDirectory() as name:
            constructs = compile_all(pathlib.Path(name))
        for construct in constructs:
            self.assertEqual(construct["reason"] == "", construct["lowering"] == "range", construct)
            self.assertGreater(construct["line"], 0, construct)
        loops = [construct for construct in constructs if one_loop(construct)]
        lowered = [loop for loop in loops if loop["lowering"] != "none"]
        self.assertGreaterEqual(len(lowered), LEAST * len(loops))


def list_loops():
    with tempfile.TemporaryDirectory() as name:
        loops = [construct for construct in compile_all(pathlib.Path(name)) if one_loop(construct)]
    for loop in loops:
        if loop["lowering"] == "none":
            print(f"{pathlib.Path(loop['file']).name}:{loop['line']}: {loop['reason']}")
    print(dict(collections.Counter(loop["lowering"] for loop in loops)))


if __name__ == "__main__":
    if "--list" in sys.argv:
        list_loops()
    else:
        unittest.main()
