# SPDX-License-Identifier: Apache-2.0
"""Programs under sanitizers, memcheck and profilers: silent when they are right, told when they are wrong, samples when
they are profiled. A tool that this machine lacks is skipped by name."""

import pathlib
import re
import shutil
import subprocess
import unittest

from finished import finished
from support import CLANG, GCC, RUNTIME, ProcessTest

NEST = (pathlib.Path(__file__).parent.parent / "support" / "nest.c").read_text()
PROFILER = next(pathlib.Path("/usr/lib").glob("*/libprofiler.so.0"), None)


class Tools(ProcessTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.nest = cls.build("nest", NEST)

    def need(self, tool):
        if shutil.which(tool) is None:
            self.skipTest(f"{tool} is not installed")

    def sanitized(self, kind):
        for compiler in (GCC, CLANG):
            with self.subTest(compiler=compiler):
                yield self.build(f"nest_{compiler}_{kind}", NEST, f"-fsanitize={kind}", compiler=compiler)

    def expect_silence(self, done):
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))

    def test_address_sanitizer(self):
        for program in self.sanitized("address"):
            self.expect_silence(self.run_on_weft(program, "10", ASAN_OPTIONS="detect_leaks=1"))
            wrong = self.run_on_weft(program, "1", "overflow")
            self.assertIn("heap-buffer-overflow", wrong.stderr)
            self.assertNotEqual(wrong.returncode, 0)

    def test_thread_sanitizer(self):
        for program in self.sanitized("thread"):
            self.expect_silence(self.run_on_weft(program, "10", LD_LIBRARY_PATH=str(RUNTIME / "tsan")))
            wrong = self.run_on_weft(program, "300", "race", LD_LIBRARY_PATH=str(RUNTIME / "tsan"))
            self.assertRegex(wrong.stderr, r"data race(.|\n)*unguarded")
            self.assertNotEqual(wrong.returncode, 0)

    def test_memcheck(self):
        self.need("valgrind")
        memcheck = (
            "valgrind",
            "--quiet",
            "--error-exitcode=9",
            "--errors-for-leak-kinds=definite",
            "--leak-check=full",
            "--show-leak-kinds=definite",
        )
        self.expect_silence(self.run_on_weft(*memcheck, self.nest, "2"))
        wrong = self.run_on_weft(*memcheck, self.nest, "1", "overflow")
        self.assertIn("Invalid write of size 8", wrong.stderr)
        self.assertEqual(wrong.returncode, 9)

    def test_perf(self):
        self.need("perf")
        data = self.folder / "perf.data"
        done = self.run_on_weft(
            "perf", "record", "--quiet", "--call-graph", "fp", "-e", "cpu-clock:u", "-o", data, self.nest, "1500"
        )
        if "perf_event_paranoid" in done.stderr or "not permitted" in done.stderr:
            self.skipTest("perf may not be used here")
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)
        report = finished(["perf", "report", "-i", data, "--stdio", "--no-children", "-g", "none"], check=True).stdout
        self.assertIn("hot_function", report)

    def test_gprof(self):
        self.need("gprof")
        program = self.build("nest_pg", NEST, "-pg")
        done = self.run_on_weft("env", "-C", self.folder, program, "4000")
        self.expect_silence(done)
        flat = subprocess.run(
            ["gprof", "-b", "-p", program, self.folder / "gmon.out"], capture_output=True, text=True, check=True
        ).stdout
        self.assertRegex(flat, r"\d\s+hot_function")
        seconds = sum(float(line.split()[2]) for line in flat.splitlines() if re.match(r"\s*\d", line))
        self.assertGreater(seconds, 0)

    def test_gperftools(self):
        if PROFILER is None:
            self.skipTest("gperftools' libprofiler.so.0 is not installed")
        profile = self.folder / "cpu.profile"
        done = self.run_on_weft(
            self.nest, "6000", LD_PRELOAD=str(PROFILER), CPUPROFILE=str(profile), CPUPROFILE_FREQUENCY="1000"
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        samples = int(re.search(r"interrupts/evictions/bytes = (\d+)", done.stderr).group(1))
        self.assertGreater(samples, 10)


if __name__ == "__main__":
    unittest.main()
