#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs whose results show whether each iteration ran once, compiled in all ways and run by all sorts of members.

Each is linked with LLVM's own runtime alone, where the weak references are null, and with a runtime that hands out
ranges at random (support/test_runtime.c).
"""

import pathlib
import tempfile
import unittest

import tools

HERE = pathlib.Path(__file__).resolve().parent
# What is handed out in ranges is new code at each level; the other lowerings add a word to calls that are there.
OPTIMIZATIONS = {
    "range": (["-O0"], ["-O1"], ["-O2"], ["-O3"], ["-O2", "-g"]),
    "hint": (["-O0"], ["-O2", "-g"]),
    "none": (["-O2"],),
}
MEMBERS = ("sequential", "threads", "static", "single", "refuse")


class ProgramsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.path = pathlib.Path(cls.folder.name)
        cls.runtime = cls.path / "test_runtime.o"
        source = HERE / "support/test_runtime.c"
        tools.run(*tools.compiler(source), "-Wall", "-Wextra", "-O1", "-g", "-fopenmp", "-c", source, "-o", cls.runtime)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def counts(self, program, members, seed, **settings):
        """Regions, pieces, hints and refusals of a run."""
        file = self.path / "counts"
        file.unlink(missing_ok=True)
        settings |= {"WEFT_TEST_MEMBERS": members, "WEFT_TEST_SEED": seed, "WEFT_TEST_COUNTS": file}
        tools.run(program, OMP_NUM_THREADS=4, **settings)
        return [int(word) for word in file.read_text().split()]

    def check(self, source, flags, lowering):
        built, alone, program = (self.path / name for name in ("program.o", "alone", "program"))
        kept = self.path / "kept"
        tools.compile(source, built, *flags, WEFTCC_LOWER=lowering, WEFTCC_KEEP=kept)
        verified = tools.run(tools.OPT, "-passes=verify", "-disable-output", f"{kept}.after.ll")
        self.assertEqual(verified.stderr, "")
        tools.link(source, alone, built)
        tools.run(alone, OMP_NUM_THREADS=4)
        tools.link(source, program, built, self.runtime)
        if lowering != "range":
            regions, _, hints, _ = self.counts(program, "sequential", 1)
            self.assertEqual(regions, 0)
            self.assertEqual(hints > 0, lowering == "hint")
            return
        for members in MEMBERS:
            for seed in (1, 2, 3) if members in ("sequential", "threads") else (1,):
                settings = {"WEFT_TEST_LAST": 1} if members != "refuse" else {}
                regions, pieces, _, refused = self.counts(program, members, seed, **settings)
                self.assertGreater(regions, 0)
                self.assertGreater(pieces, 0)
                self.assertEqual(refused > 0, members == "refuse")

    def check_all(self, name):
        for lowering, optimizations in OPTIMIZATIONS.items():
            for flags in optimizations:
                with self.subTest(flags=flags, lowering=lowering):
                    self.check(HERE / "programs" / name, flags, lowering)

    def test_c(self):
        self.check_all("c_loops.c")

    def test_cxx(self):
        self.check_all("cxx_loops.cpp")

    @unittest.skipUnless(tools.FLANG, "flang 19 is not there")
    def test_fortran(self):
        self.check_all("fortran_loops.f90")


if __name__ == "__main__":
    unittest.main()
