# SPDX-License-Identifier: Apache-2.0
"""Programs by weftcc compute the same on weft and on clang's own runtime. Its command line: driver; its pass: pass.

WEFT_DRIVER_DIR holds the drivers, WEFT_LIBRARIES the runtime and the pass, WEFT_STOCK_LIBRARIES clang's libomp. A program
that weftcc links asks for weft as libgomp.so.1, so programs for libomp are linked by clang of weftcc's objects."""

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
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def build(self, source, *options, driver="weftcc"):
        program = self.folder / "program"
        result = run(str(DRIVERS / driver), "-fopenmp", *options, str(source), "-o", str(program), "-latomic", "-lm")
        self.assertEqual(result.returncode, 0, result.stderr)
        return str(program), result.stderr

    def build_for_libomp(self, source, *options, driver="weftcc", linker="clang-19"):
        """Weftcc's object, linked by clang; it loads clang's runtime and not weft."""
        built, program = str(self.folder / "object.o"), str(self.folder / "stock")
        result = run(str(DRIVERS / driver), "-fopenmp", *options, "-c", str(source), "-o", built)
        self.assertEqual(result.returncode, 0, result.stderr)
        result = run(linker, "-fopenmp", built, "-o", program)
        self.assertEqual(result.returncode, 0, result.stderr)
        mapped = run("ldd", program, LD_LIBRARY_PATH=STOCK).stdout
        self.assertIn(f"{STOCK}/libomp.so.5", mapped)
        self.assertNotIn(WEFT, mapped)
        return program

    def test_lowered_programs_compute_the_same(self):
        plain = self.build_for_libomp(HERE / "loops.c", "-O2", "--weft-lower=none")
        counts = ("0", "1", "7", "1000", "99999")
        expected = run(plain, *counts, LD_LIBRARY_PATH=STOCK).stdout
        self.assertEqual(expected.count("\n"), len(counts))
        for level in LEVELS:
            for lowering in LOWERINGS:
                ours, _ = self.build(HERE / "loops.c", *level, f"--weft-lower={lowering}")
                stock = self.build_for_libomp(HERE / "loops.c", *level, f"--weft-lower={lowering}")
                for program, libraries in ((ours, WEFT), (stock, STOCK)):
                    for threads in ("1", "2", "8"):
                        got = run(program, *counts, LD_LIBRARY_PATH=libraries, OMP_NUM_THREADS=threads).stdout
                        self.assertEqual(got, expected, (level, lowering, libraries, threads))

    def test_first_call_of_the_runtime_is_a_loop(self):
        for level in LEVELS:
            ours, _ = self.build(HERE / "iterators.cpp", *level, driver="weftc++")
            stock = self.build_for_libomp(HERE / "iterators.cpp", *level, driver="weftc++", linker="clang++-19")
            for program, libraries in ((ours, WEFT), (stock, STOCK)):
                self.assertEqual(run(program, LD_LIBRARY_PATH=libraries).stdout, "2000\n", (level, libraries))

    def test_linked_with_weft_starts_on_libomp(self):
        program, _ = self.build(HERE / "loops.c", "-O2")
        expected = run(program, "1000", LD_LIBRARY_PATH=WEFT).stdout
        # Under the name by which the program asks for weft.
        stock = self.folder / "libraries"
        stock.mkdir()
        for name in ("libgomp.so.1", "libomp.so.5"):
            (stock / name).symlink_to(pathlib.Path(STOCK) / "libomp.so.5")
        self.assertNotIn(WEFT, run("ldd", program, LD_LIBRARY_PATH=str(stock)).stdout)
        self.assertEqual(run(program, "1000", LD_LIBRARY_PATH=str(stock)).stdout, expected)
        self.assertTrue(expected)

    def test_statistics_count_loops(self):
        program, _ = self.build(HERE / "loops.c", "-O2")
        self.assertIn("regions that are one loop", run(program, LD_LIBRARY_PATH=WEFT, WEFT_STATS="all").stderr)

    def test_constructs(self):
        for source in sorted(CONSTRUCTS.iterdir()):
            if source.suffix not in (".c", ".cpp"):
                continue
            with self.subTest(source.name):
                standard, driver = ("gnu11", "weftcc") if source.suffix == ".c" else ("c++20", "weftc++")
                program, _ = self.build(source, "-O2", "-g", "-pthread", f"-std={standard}", "-w", driver=driver)
                result = run(program, LD_LIBRARY_PATH=WEFT)
                self.assertEqual((result.returncode, result.stderr), (0, ""))


if __name__ == "__main__":
    unittest.main()
