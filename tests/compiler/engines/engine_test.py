# SPDX-License-Identifier: Apache-2.0
"""Programs by weftcc compute the same on an engine: `engine_test.py NAME`. Exit status 77 where it has not been built.

WEFT_DRIVER_DIR holds the drivers, WEFT_LIBRARIES the runtime and the engines."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
COMPILER = HERE.parent
DRIVERS = pathlib.Path(os.environ["WEFT_DRIVER_DIR"])
LIBRARIES = pathlib.Path(os.environ["WEFT_LIBRARIES"])
FLANG = os.environ.get("WEFT_TEST_FLANG", "")
ENGINE = sys.argv.pop() if len(sys.argv) > 1 else ""
WITH_SLOTS = ("serial", "task", "taskloop", "tbb")
THREADS = ("1", "2", "3", "8")
COUNTS = ("0", "1", "7", "1000", "99999")


def run(*command, **variables):
    environment = {**os.environ, "LD_LIBRARY_PATH": str(LIBRARIES), **variables}
    return subprocess.run(
        [str(word) for word in command], env=environment, capture_output=True, text=True, timeout=300, check=False
    )


def loops_of_engine(statistics):
    found = re.search(r"regions that the engine has run: (\d+)", statistics)
    return int(found[1]) if found else None


class EngineTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def build(self, source, *options):
        driver = {".c": "weftcc", ".cpp": "weftc++", ".f90": "weftfort"}[source.suffix]
        program = self.folder / source.stem
        result = run(DRIVERS / driver, "-fopenmp", *options, source, "-o", program)
        self.assertEqual(result.returncode, 0, result.stderr)
        return program

    def check_silent(self, source, *options):
        """The program says nothing, ends well, and its loops have been the engine's where teams have several members."""
        program = self.build(source, *options)
        for threads in THREADS:
            with self.subTest(source=source.name, threads=threads):
                result = run(program, WEFT_ENGINE=ENGINE, OMP_NUM_THREADS=threads, WEFT_STATS="all")
                self.assertEqual((result.returncode, result.stdout), (0, ""), result.stderr)
                self.assertTrue(result.stderr.startswith("weft statistics"), result.stderr)
                if threads != "1":
                    self.assertGreater(loops_of_engine(result.stderr), 0, result.stderr)

    def test_same_results(self):
        program = self.build(COMPILER / "loops.c", "-O2")
        expected = [run(program, n).stdout for n in COUNTS]
        self.assertTrue(all(expected))
        for threads in THREADS:
            got = [run(program, n, WEFT_ENGINE=ENGINE, OMP_NUM_THREADS=threads) for n in COUNTS]
            self.assertEqual(
                [(result.stdout, result.stderr) for result in got], [(text, "") for text in expected], threads
            )

    def test_iterators(self):
        program = self.build(COMPILER / "iterators.cpp", "-O2")
        result = run(program, WEFT_ENGINE=ENGINE, OMP_NUM_THREADS="2")
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "2000\n", ""))

    def test_programs(self):
        for name in ("c_loops.c", "cxx_loops.cpp"):
            self.check_silent(COMPILER / "pass/programs" / name, "-O2")

    @unittest.skipUnless(FLANG, "flang 19 is not there")
    def test_fortran(self):
        self.check_silent(COMPILER / "pass/programs/fortran_loops.f90", "-O2")

    def test_members(self):
        for level in ("-O0", "-O2"):
            self.check_silent(HERE / "members.c", level, "-pthread")

    @unittest.skipUnless(ENGINE in WITH_SLOTS, "its members have numbers of their own")
    def test_slots(self):
        """With two threads nobody finds an outer iteration while it waits: more of them than this machine may have."""
        program = self.build(HERE / "members.c", "-O2", "-pthread")
        result = run(program, WEFT_ENGINE=ENGINE, OMP_NUM_THREADS="4", WEFT_NUM_CPUS="4")
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "", ""))

    def test_where_weft_runs_loops(self):
        """What an engine cannot promise keeps loops on weft."""
        program = self.build(HERE / "members.c", "-O2", "-pthread")
        for name, value, words in (("OMP_THREAD_LIMIT", "100", ""), ("OMP_PROC_BIND", "close", "bound")):
            with self.subTest(name):
                result = run(program, WEFT_ENGINE=ENGINE, OMP_NUM_THREADS="2", WEFT_STATS="all", **{name: value})
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertEqual(loops_of_engine(result.stderr), 0, result.stderr)
                self.assertIn(words, result.stderr)


if __name__ == "__main__":
    if not (LIBRARIES / f"libweft-engine-{ENGINE}.so").exists():
        print(f"skipped: there is no engine {ENGINE!r} in {LIBRARIES}")
        sys.exit(77)
    unittest.main()
