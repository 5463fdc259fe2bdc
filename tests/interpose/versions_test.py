#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The copies of OpenBLAS that are here: what `weft info` says of them, and whether calls come to an end.
versions.py has all versions, and downloads them."""

import glob
import os
import pathlib
import platform
import subprocess
import tempfile
import unittest

import versions

COMMAND = os.environ["WEFT_COMMAND"]
PYTHON = os.environ["WEFT_TEST_PYTHON"]
GCC = os.environ["WEFT_TEST_GCC"]
SYSTEM = f"/usr/lib/{platform.machine()}-linux-gnu/openblas*/libopenblas*.so"

# What weft looks for in a copy, without the rest of it: versions that are left alone. tests/python/pools_test.py has more.
SOURCE = """
int blas_cpu_number = 2, blas_num_threads = 2, blas_server_avail;
const char* openblas_get_config(void) { return "OpenBLAS " VERSION " DYNAMIC_ARCH MAX_THREADS=64"; }
#ifndef HIDDEN
void (*openblas_threads_callback_)(void);
int exec_blas(void) { return 0; }
int blas_thread_init(void) { return 0; }
int blas_thread_shutdown_(void) { return 0; }
int exec_blas_async(void) { return 0; }
int exec_blas_async_wait(void) { return 0; }
#endif
#ifdef NEW
void dgemmtr_(void) {}
#endif
"""


class Here(unittest.TestCase):
    def test_calls_end_and_are_right(self):
        site = subprocess.run(
            [PYTHON, "-c", "import numpy, pathlib; print(pathlib.Path(numpy.__file__).parent.parent)"],
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        files = {os.path.realpath(file) for file in glob.glob(SYSTEM) + glob.glob(f"{site}/*.libs/*openblas*.so")}
        self.assertTrue(files)
        with tempfile.TemporaryDirectory(prefix="weft-test-") as folder:
            checker = versions.Checker(COMMAND, GCC, pathlib.Path(folder))
            for file in sorted(files):
                with self.subTest(file=file):
                    outcome = checker.openblas(pathlib.Path(file))
                    self.assertTrue(outcome.good(), outcome)


class LeftAlone(unittest.TestCase):
    def build(self, folder, version, *flags):
        library = pathlib.Path(folder, f"libopenblas-{version}.so")
        source = pathlib.Path(folder, "openblas.c")
        source.write_text(SOURCE)
        defined = [f'-DVERSION="{version}"', *flags]
        subprocess.run([GCC, "-shared", "-fPIC", *defined, source, "-o", library], check=True)
        return library

    def test_is_said_with_version_and_reason(self):
        with tempfile.TemporaryDirectory(prefix="weft-test-") as folder:
            checker = versions.Checker(COMMAND, GCC, pathlib.Path(folder))
            for version, flags, reason in (
                ("0.3.28", (), "older than 0.3.29"),
                ("0.3.34.106.0", ("-DHIDDEN", "-DNEW"), "its builders hide the names that weft needs"),
                ("0.3.35.dev", ("-DNEW",), "newer than weft knows"),
                ("1.0.0", ("-DNEW",), "newer than weft knows"),
            ):
                with self.subTest(version=version):
                    library = self.build(folder, version, *flags)
                    said = f"OpenBLAS {version} on pthreads: left alone ({reason})"
                    self.assertTrue(checker.says(library).startswith(said), checker.says(library))


if __name__ == "__main__":
    unittest.main()
