# SPDX-License-Identifier: Apache-2.0
"""weftcc: what it makes of programs runs right on weft and on the compiler's own runtime; what it passes on is unchanged.

WEFT_DRIVER_DIR holds the drivers, WEFT_LIBRARIES the runtime and the pass, WEFT_STOCK_LIBRARIES clang's libomp."""

import os
import pathlib
import subprocess
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
CONSTRUCTS = HERE.parent / "openmp" / "constructs"
DRIVERS = pathlib.Path(os.environ["WEFT_DRIVER_DIR"])
WEFT = os.environ["WEFT_LIBRARIES"]
STOCK = os.environ["WEFT_STOCK_LIBRARIES"]
LEVELS = (["-O0"], ["-O1"], ["-O2"], ["-O3"], ["-O2", "-g"])
LOWERINGS = ("none", "hint", "range")


def run(*command, **variables):
    environment = {**os.environ, **variables}
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)


class WeftccTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def build(self, source, *options, driver="weftcc"):
        program = self.folder / "program"
        result = run(str(DRIVERS / driver), "-fopenmp", *options, str(source), "-o", str(program), "-latomic", "-lm")
        self.assertEqual(result.returncode, 0, result.stderr)
        return str(program), result.stderr

    def test_lowered_programs_compute_the_same(self):
        plain, _ = self.build(HERE / "loops.c", "-O2", "--weft-lower=none")
        counts = ("0", "1", "7", "1000", "99999")
        expected = [run(plain, n, LD_LIBRARY_PATH=STOCK).stdout for n in counts]
        self.assertTrue(all(expected))
        for level in LEVELS:
            for lowering in LOWERINGS:
                program, _ = self.build(HERE / "loops.c", *level, f"--weft-lower={lowering}")
                for libraries in (WEFT, STOCK):
                    for threads in ("1", "2", "8"):
                        got = [run(program, n, LD_LIBRARY_PATH=libraries, OMP_NUM_THREADS=threads).stdout for n in counts]
                        self.assertEqual(got, expected, (level, lowering, libraries, threads))

    def test_first_call_of_the_runtime_is_a_loop(self):
        for level in LEVELS:
            program, _ = self.build(HERE / "iterators.cpp", *level, driver="weftc++")
            for libraries in (WEFT, STOCK):
                self.assertEqual(run(program, LD_LIBRARY_PATH=libraries).stdout, "2000\n", (level, libraries))

    def test_report_says_what_became_of_each_construct(self):
        _, report = self.build(HERE / "loops.c", "-O2", "--weft-report")
        self.assertIn("7 constructs: 5 range, 2 hint", report)
        self.assertIn("an atomic update", report)

    def test_statistics_count_loops(self):
        program, _ = self.build(HERE / "loops.c", "-O2")
        self.assertIn("regions that are one loop", run(program, LD_LIBRARY_PATH=WEFT, WEFT_STATS="true").stderr)

    def test_constructs(self):
        for source in sorted(CONSTRUCTS.iterdir()):
            if source.suffix not in (".c", ".cpp"):
                continue
            with self.subTest(source.name):
                standard, driver = ("gnu11", "weftcc") if source.suffix == ".c" else ("c++20", "weftc++")
                program, _ = self.build(source, "-O2", "-g", "-pthread", f"-std={standard}", "-w", driver=driver)
                result = run(program, LD_LIBRARY_PATH=WEFT)
                self.assertEqual((result.returncode, result.stderr), (0, ""))

    def test_other_command_lines_pass_unchanged(self):
        fake = self.folder / "compiler"
        fake.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\necho to stderr >&2\nexit 7\n')
        fake.chmod(0o755)
        arguments = ["-c", "a file.c", "-DX=1 2", "-o", "x.o"]
        result = run(str(DRIVERS / "weftcc"), *arguments, WEFT_CC=str(fake))
        self.assertEqual((result.returncode, result.stdout.splitlines(), result.stderr), (7, arguments, "to stderr\n"))

    def test_compilers_own_messages_and_exit_status(self):
        source = self.folder / "wrong.c"
        source.write_text("int main(void) { return x; }\n")
        ours = run(str(DRIVERS / "weftcc"), "-fopenmp", "-c", str(source), "-o", str(self.folder / "o"))
        self.assertEqual(ours.returncode, 1)
        self.assertIn("use of undeclared identifier 'x'", ours.stderr)

    def test_compiler_that_is_not_there(self):
        result = run(str(DRIVERS / "weftcc"), "-fopenmp", "x.c", WEFT_CC="/nowhere/cc")
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("/nowhere/cc", result.stderr)

    def test_unknown_option(self):
        result = run(str(DRIVERS / "weftcc"), "--weft-bogus", "x.c")
        self.assertEqual(result.returncode, 2)
        self.assertIn("--weft-bogus", result.stderr)


if __name__ == "__main__":
    unittest.main()
