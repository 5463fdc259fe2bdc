# SPDX-License-Identifier: Apache-2.0
"""`weft report` finds the fault that was planted in a program, blames a line that is marked, and gives no advice where
there is no fault. The factors are those that a program measures by itself.

By default each kind of fault is looked at once. WEFT_REPORT_ALL=1 takes all programs, by all compilers and
the variants without their fault. Other processes may disturb a run, so it has a second try. What advice gains is
printed by gains.py.
"""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import tempfile
import unittest
from collections.abc import Callable, Iterator

import planted

DEFAULT = {
    ("small_chunks", "gcc"),
    ("short_loop", "clang"),
    ("uneven_static_fortran", "gfortran"),
    ("python_serial_part", "python"),
    ("nested_serial", "gcc"),
    ("small_tasks", "clang"),
    ("critical_fortran", "gfortran"),
    ("lock", "gcc"),
    ("python_few_threads", "python"),
    ("other_pool", "gcc"),
    ("single_region", "gcc"),
    ("clean_tasks", "gcc"),
    ("clean_nested_fortran", "gfortran"),
    ("clean_python", "python"),
}
# What `make test` takes: the recorder and the advice in each language. `make test-report` takes all.
FEW = {
    ("small_chunks", "gcc"),
    ("uneven_static_fortran", "gfortran"),
    ("python_serial_part", "python"),
    ("lock", "gcc"),
    ("clean_tasks", "gcc"),
}
ALL = os.environ.get("WEFT_REPORT_ALL") == "1"
CHOSEN = FEW if os.environ.get("WEFT_REPORT_FEW") == "1" else DEFAULT
TRIES = 2
# Where others had more than this part of the CPUs' time, a wrong report says nothing.
OF_OTHERS = 0.1
TRIES_BESIDE_OTHERS = 6
# Of the factors that a program measures by itself.
# Of CPUs x time. Beside the other tests, on small machines that others use too, snapshots are fewer and less even.
TOLERANCE = 0.02 if ALL else 0.05


class Disturbed(AssertionError):
    """What is wrong may be the fault of other processes."""


class WithFolder(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory(prefix="weft-report-")))
        cls.builder = planted.Builder(cls.folder)

    def in_some_try(self, attempt: Callable[[], None]) -> None:
        """Once more where it fails, since machines have noise; and again where other processes had the CPUs."""
        for left in range(TRIES_BESIDE_OTHERS - 1, -1, -1):
            try:
                return attempt()
            except Disturbed as disturbed:
                if left == 0:
                    self.skipTest(f"in each of {TRIES_BESIDE_OTHERS} tries {disturbed}")
            except AssertionError:
                if left <= TRIES_BESIDE_OTHERS - TRIES:
                    raise

    @contextlib.contextmanager
    def judging(self, ran: planted.Ran) -> Iterator[None]:
        try:
            yield
        except AssertionError as fault:
            run = ran.report["run"]
            part = run["others_cpu"] / (run["cpus"] * run["seconds"])
            if part > OF_OTHERS:
                raise Disturbed(f"other processes used {100 * part:.0f} % of the CPUs' time") from fault
            raise


class Faults(WithFolder):
    """One test for each program and compiler, made below."""

    def check(self, program: planted.Program, compiler: str) -> None:
        if reason := planted.missing(program, compiler):
            self.skipTest(reason)
        command = self.builder.command(program, compiler)
        self.in_some_try(lambda: self.look(program, command))
        if ALL and program.fault:
            fixed = self.builder.command(program, compiler, fixed=True)
            self.in_some_try(lambda: self.look_at_fixed(program, fixed))

    def look_at_fixed(self, program: planted.Program, command: list[str]) -> None:
        ran = planted.report_of(command, self.folder)
        given = [advice["kind"] for advice in ran.report["advice"]]
        self.assertNotIn(program.fault, given, "without the fault:\n" + planted.described(ran.report))

    def look(self, program: planted.Program, command: list[str]) -> None:
        ran = planted.report_of(command, self.folder, **program.environment)
        self.assertIn("checksum ", ran.output)
        with self.judging(ran):
            self.judge(program, ran)

    def judge(self, program: planted.Program, ran: planted.Ran) -> None:
        text = planted.described(ran.report)
        given = ran.report["advice"]
        if program.fault is None:
            self.assertEqual([advice["kind"] for advice in given], [], text)
            return
        # The planted fault is the worst one.
        self.assertEqual([advice["kind"] for advice in given][:1], [program.fault], text)
        place = ran.report["sites"][given[0]["site"]]["place"]
        self.assertTrue(program.is_marked(place), f"{place} is none of {program.marks()}\n{text}")


def add_tests() -> None:
    for program in planted.programs():
        for compiler in program.compilers:
            if not ALL and (program.name, compiler) not in CHOSEN:
                continue

            def test(self: Faults, program: planted.Program = program, compiler: str = compiler) -> None:
                self.check(program, compiler)

            setattr(Faults, f"test_{program.name}_{compiler}", test)


class Factors(WithFolder):
    """What the report says, and what the program says, of the same run."""

    def compare(self, compiler: str, *parts: float) -> None:
        program = self.folder / f"planted_factors_{compiler}"
        if not program.exists():
            planted.compile_c(planted.FOLDER / "planted_factors.c", compiler, program)
        self.in_some_try(lambda: self.look([str(program), *map(str, parts)]))

    def look(self, command: list[str]) -> None:
        ran = planted.report_of(command, self.folder)
        own = json.loads(ran.output.splitlines()[-1])
        text = f"the program: {own}\nthe report: {planted.described(ran.report)}"
        self.assertEqual(ran.report["run"]["cpus"], own["cpus"], text)
        with self.judging(ran):
            self.agree(ran, own, text)

    def agree(self, ran: planted.Ran, own: dict, text: str) -> None:
        # Where interrupts take long, snapshots come behind one: they see who waits for the thread that it stopped.
        delta = TOLERANCE + 3 * own["interrupted"]
        for name, value in own["factors"].items():
            self.assertAlmostEqual(ran.report["factors"][name], value, delta=delta, msg=f"{name}\n{text}")

    def test_all_together(self) -> None:
        self.compare("gcc", 0.25, 0.2, 0.2, 0.15)

    @unittest.skipIf(CHOSEN is FEW, "make test-report takes it")
    def test_chunks(self) -> None:
        self.compare("clang", 0, 0, 0, 0.5)

    @unittest.skipUnless(ALL, "WEFT_REPORT_ALL=1 takes it")
    def test_each_alone(self) -> None:
        for compiler in ("gcc", "clang"):
            for which in range(4):
                parts = [0.0] * 4
                parts[which] = 0.6
                with self.subTest(compiler=compiler, parts=parts):
                    self.compare(compiler, *parts)

    @unittest.skipUnless(ALL, "WEFT_REPORT_ALL=1 takes it")
    def test_nothing_planted(self) -> None:
        for compiler in ("gcc", "clang"):
            with self.subTest(compiler=compiler):
                self.compare(compiler, 0, 0, 0, 0)


class Programs(unittest.TestCase):
    """What this test takes for granted."""

    def test_every_program_with_a_fault_has_a_mark(self) -> None:
        for program in planted.programs():
            with self.subTest(program.name):
                places, libraries = program.marks()
                self.assertEqual(bool(places or libraries), program.fault is not None)

    def test_the_default_takes_each_kind_once(self) -> None:
        programs = {program.name: program for program in planted.programs()}
        for name, compiler in DEFAULT:
            self.assertIn(compiler, programs[name].compilers)
        faults = [programs[name].fault for name, _ in DEFAULT if programs[name].fault]
        # guest_test.py has a machine for the others.
        kinds = {program.fault for program in programs.values() if program.fault and program.nodes == 1}
        self.assertEqual(sorted(faults), sorted(kinds))


add_tests()

if __name__ == "__main__":
    unittest.main(verbosity=2)
