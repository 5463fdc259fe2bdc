#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The same call of NumPy's OpenBLAS gives the same bits: each time, in each process, whatever else runs, and those that
the library gives by itself with as many threads."""

import os
import platform
import subprocess
import sys
import tempfile
import unittest

COMMAND = os.environ["WEFT_COMMAND"]
RUNTIME = os.environ["WEFT_TEST_RUNTIME"]
PYTHON = os.environ["WEFT_TEST_PYTHON"]
WHEEL_WAITS_ARE_SEEN = platform.machine() == "x86_64"
CPUS = len(os.sched_getaffinity(0))

CALLS = """
import hashlib, sys
import numpy as np

def calls():
    rng = np.random.default_rng(1)
    a = rng.standard_normal((300, 300)); b = rng.standard_normal((700, 300)); x = rng.standard_normal(300)
    s = a + a.T
    return [lambda: a @ a, lambda: np.linalg.svd(a), lambda: np.linalg.eigvals(a), lambda: b.T @ b,
            lambda: np.linalg.solve(a, x), lambda: np.linalg.eigh(s), lambda: a @ x]

def bits(result):
    parts = result if isinstance(result, tuple) else (result,)
    return hashlib.sha256(b"".join(np.ascontiguousarray(part).tobytes() for part in parts)).hexdigest()[:12]

def seven(_=None):
    return tuple(bits(call()) for call in calls())

"""
SIX_TIMES = "print(*sorted({seven() for _ in range(6)}))"
FROM_THREADS = """
from multiprocessing.pool import ThreadPool
with ThreadPool(5) as pool:
    print(*sorted(set(pool.map(seven, range(15), chunksize=1))))
"""
FROM_CHILDREN = """
import multiprocessing
first = seven()
with multiprocessing.get_context("fork").Pool(3) as pool:
    print(*sorted({first, *pool.map(seven, range(9), chunksize=1)}))
"""


class Load:
    """A busy loop for each CPU."""

    def __enter__(self):
        self.loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(CPUS)]

    def __exit__(self, *_):
        for loop in self.loops:
            loop.kill()
            loop.wait()


def run(text, *command, **settings):
    """What a program prints."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("WEFT_", "OMP_", "OPENBLAS_"))}
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "program.py")
        with open(path, "w") as file:
            file.write(CALLS + text)
        done = subprocess.run(
            [*command, PYTHON, path], env=kept | settings, capture_output=True, text=True, timeout=240
        )
    if done.returncode != 0:
        raise AssertionError(f"exit code {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done.stdout


class Bits(unittest.TestCase):
    maxDiff = None

    def of(self, text, *options, times=1, threads=4, **settings):
        """All that such programs print, each once."""
        settings = {"WEFT_NUM_CPUS": str(threads), "OPENBLAS_NUM_THREADS": str(threads)} | settings
        return {run(text, COMMAND, "run", *options, "--", **settings) for _ in range(times)}

    def stock(self, threads=4):
        return {run("print(seven())", OPENBLAS_NUM_THREADS=str(threads))}

    @unittest.skipUnless(WHEEL_WAITS_ARE_SEEN, "where waits of jobs are not seen, the option is needed")
    def test_are_the_librarys_own(self):
        for threads in 2, 4:
            with self.subTest(threads=threads):
                self.assertEqual(self.of(SIX_TIMES, times=3, threads=threads), self.stock(threads))

    @unittest.skipUnless(WHEEL_WAITS_ARE_SEEN, "where waits of jobs are not seen, the option is needed")
    def test_beside_load(self):
        with Load():
            found = self.of(SIX_TIMES, times=3, threads=CPUS)
        self.assertEqual(found, self.stock(CPUS))

    @unittest.skipUnless(WHEEL_WAITS_ARE_SEEN, "where waits of jobs are not seen, the option is needed")
    def test_from_threads_and_children(self):
        for text in FROM_THREADS, FROM_CHILDREN:
            with self.subTest(text=text):
                self.assertEqual(self.of(text), self.stock())

    def test_by_the_option_also_where_waits_are_not_seen(self):
        # Without the audit library nothing in the copy is replaced.
        adopt = f"import ctypes; ctypes.CDLL({RUNTIME + '/libgomp.so.1'!r}).weft_adopt_libraries()\n"
        settings = {"WEFT_NUM_CPUS": "4", "OPENBLAS_NUM_THREADS": "4", "WEFT_REPRODUCIBLE": "true"}
        with Load():
            for text in SIX_TIMES, FROM_THREADS:
                with self.subTest(text=text):
                    self.assertEqual({run(adopt + text, **settings)}, self.stock())
                    self.assertEqual(self.of(text, "--reproducible"), self.stock())


if __name__ == "__main__":
    unittest.main()
