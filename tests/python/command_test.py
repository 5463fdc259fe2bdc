# SPDX-License-Identifier: Apache-2.0
"""The command `weft` of the package: as a wheel has it, and what a Python that it starts knows of weft."""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
import sys
import unittest

import weft
from support import ProgramTest

PACKAGE = pathlib.Path(weft.__file__).parent
COMMAND = PACKAGE / "bin/weft"


class CommandTest(ProgramTest):
    def command(self, *arguments: str, weft: pathlib.Path = COMMAND, **more: str) -> subprocess.CompletedProcess[str]:
        return self.run_program(str(weft), *arguments, **more)

    def python(self, code: str, *options: str, **more: str) -> str:
        done = self.command("run", *options, "--", sys.executable, self.write("app.py", code), **more)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.errors = done.stderr
        return done.stdout


class Wheel(CommandTest):
    def test_finds_the_package_of_its_prefix(self) -> None:
        of_pip = "lib/python3.11/site-packages", "lib64/python3.9/site-packages", "lib/python3.13/dist-packages"
        for place in (*of_pip, ""):
            with self.subTest(place=place):
                prefix = self.folder / f"prefix {place.replace('/', ' ')}"
                (prefix / "bin").mkdir(parents=True)
                shutil.copy(COMMAND, prefix / "bin/weft")
                package = prefix / place / "weft"
                shutil.copytree(PACKAGE, package, ignore=shutil.ignore_patterns("bin"))
                done = self.command(
                    "run", sys.executable, "-c", "import weft; print(weft.status()['how'])", weft=prefix / "bin/weft"
                )
                self.assertEqual((done.stdout, done.stderr), ("audit\n", ""))
                done = self.command("run", "/usr/bin/env", weft=prefix / "bin/weft")
                self.assertIn(f"WEFT_LIBRARY={package}/lib/weft/libgomp.so.1\n", done.stdout)

    def test_without_a_package(self) -> None:
        (self.folder / "bin").mkdir()
        alone = pathlib.Path(shutil.copy(COMMAND, self.folder / "bin/weft"))
        done = self.command("run", sys.executable, "-c", "", weft=alone)
        self.assertEqual(done.returncode, 1)
        self.assertIn("install weft again", done.stderr)


class Python(CommandTest):
    def test_is_as_by_the_module(self) -> None:
        code = """
            import os, sys, threadpoolctl
            print(threadpoolctl.OpenBLASController.get_num_threads.__module__, *sys.argv[1:])
            print(*(os.environ[name] for name in ("LD_AUDIT", "PYTHONPATH", "WEFT_LIBRARY")))
            print(*sys.path)
        """
        self.assertEqual(self.python(code), self.succeed(code))

    def test_is_named_once(self) -> None:
        code = "import os; print(os.environ['LD_AUDIT'], os.environ['PYTHONPATH'])"
        words = [str(COMMAND), "run", sys.executable, "-c", code]
        nested = f"import subprocess; subprocess.run({words!r}, check=True)"
        self.assertEqual(self.python(nested), self.python(code))

    def test_static(self) -> None:
        code = """
            import ctypes, os
            from multiprocessing.pool import ThreadPool
            runtime = ctypes.CDLL("libgomp.so.1")
            cpus = runtime.omp_get_num_procs()
            with ThreadPool(cpus) as pool:
                print(*pool.map(lambda _: runtime.omp_get_max_threads(), range(2), 1))
        """
        self.assertEqual(self.python(code, "--mode", "static"), "1 1\n")
        cpus = len(os.sched_getaffinity(0))
        self.assertEqual(self.python(code, "--mode", "static", "-f", "2"), f"{min(2, cpus)} {min(2, cpus)}\n")

    def test_factors_that_are_none(self) -> None:
        code = """
            from multiprocessing.pool import ThreadPool
            for _ in range(2):
                with ThreadPool(2) as pool:
                    print(sum(pool.map(abs, range(3))))
        """
        for factor in ("many", "-1", "0", "nan"):
            with self.subTest(factor=factor):
                self.assertEqual(self.python(code, "--mode", "static", WEFT_STATIC_FACTOR=factor), "3\n3\n")
                self.assertEqual(
                    self.errors, f"weft: WEFT_STATIC_FACTOR={factor}: a number above 0 is wanted; 1 is used\n"
                )

    def test_modes_that_are_none(self) -> None:
        code = "import ctypes; print(ctypes.CDLL('libgomp.so.1').omp_get_max_threads() > 0)"
        self.assertEqual(self.python(code, WEFT_MODE="frob"), "True\n")
        self.assertIn("WEFT_MODE=frob is not dynamic", self.errors)

    def test_mistakes(self) -> None:
        for options, words in (
            (("--mode", "frob"), "dynamic,static,exclusive,counting"),
            (("-f", "2"), "--mode static"),
            (("--mode", "static", "-f", "0"), "--factor"),
            (("--mode", "static", "-f", "-1"), "--factor"),
            (("--mode", "static", "-f", "many"), "--factor"),
        ):
            with self.subTest(options=options):
                done = self.command("run", *options, sys.executable, "-c", "")
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
                self.assertIn(words, done.stderr)


if __name__ == "__main__":
    unittest.main()
