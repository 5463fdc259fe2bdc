# SPDX-License-Identifier: Apache-2.0
"""Real programs (tests/programs/cases.py), each under its own runtime, weft and, where it can be, libiomp5."""

import argparse
import dataclasses
import importlib
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import types
from collections.abc import Callable
from functools import partial
from typing import Any, Protocol

from rich.console import Console

from ..frame import process, report
from ..frame.machine import cpus
from ..frame.process import Failure
from ..frame.spread import summary, with_extremes
from ..frame.study import Turn
from .study import OpenMpStudy

NAMES = OWN, WEFT, PEER = "own", "weft", "libiomp5"
# A measurement is as many runs, one after the other, as last this long under the program's own runtime.
LEAST_S = 1.0
MOST_RUNS = 20
TIMEOUT_S = 600


class Case(Protocol):
    """What is used here of those in tests/programs/cases.py, which is no module of the benchmarks."""

    name: str
    prepare: Callable[[pathlib.Path, object], list[object]]
    environment: dict[str, str]
    replaceable: bool
    regions: bool
    threads: int | None


class Wrong(Exception):
    """The run is no result; says why."""


@dataclasses.dataclass
class Times:
    """Seconds of one program, by runtime; a round's samples have the same index."""

    program: str
    runs: int  # in one measurement
    seconds: dict[str, list[float]]

    def ratio(self, runtime: str) -> list[float]:
        return [ours / own for ours, own in zip(self.seconds[runtime], self.seconds[OWN], strict=True)]

    def median(self, runtime: str) -> str:
        return f"{statistics.median(self.seconds[runtime]):.2f}" if runtime in self.seconds else ""

    def ratios(self, runtime: str) -> str:
        return with_extremes(self.ratio(runtime)) if runtime in self.seconds else ""


def cases(root: pathlib.Path) -> types.ModuleType:
    sys.path.insert(0, str(root / "tests/programs"))
    return importlib.import_module("cases")


def size(module: types.ModuleType, smoke: bool) -> object:
    """So much that most of the programs run for a second or more; the others are run again and again."""
    if smoke:
        return module.Size(threads=cpus())
    return module.Size(
        threads=cpus(),
        picture="1400x1000",
        edge=400,
        steps=1500,
        grid=4,
        rows="3e6",
        samples=60000,
        rounds=4,
        mesh=150,
        sequences=150,
    )


class Programs(OpenMpStudy):
    name = "programs"
    in_all = False

    def complete(self, parser: argparse.ArgumentParser) -> None:
        super().complete(parser)
        self.module, self.found = cases(self.root), list[Times]()
        only = self.arguments.only
        self.chosen = [case for case in self.module.CASES if not only or any(name in case.name for name in only)]
        if not self.chosen:
            parser.error("--only: the programs are " + ", ".join(case.name for case in self.module.CASES))

    def plan(self) -> list[Turn]:
        return [(case.name, partial(self._measure, case)) for case in self.chosen]

    def _measure(self, case: Case) -> None:
        """All rounds of one program, which has to be prepared first."""
        with tempfile.TemporaryDirectory(prefix="weft-bench-") as work:
            try:
                self.found.append(self._times(case, pathlib.Path(work)))
            except (self.module.Missing, RuntimeError, Wrong) as wrong:
                self.failures.append(Failure("", case.name, str(wrong)))

    def _times(self, case: Case, work: pathlib.Path) -> Times:
        (work / OWN).mkdir()
        command = [str(word) for word in case.prepare(work / OWN, size(self.module, self.smoke))]
        names = [OWN, WEFT] + ([PEER] if PEER in self.names and case.replaceable else [])
        for name in names[1:]:
            shutil.copytree(work / OWN, work / name, symlinks=True)
        # Not measured: files get into memory, and it shows that the runtime that is meant is there.
        first: dict[str, float] = {}
        for name in list(names):
            try:
                first[name] = self._seconds(case, command, work / name, name, proof=True)
            except Wrong:
                if name != PEER:
                    raise
                names.remove(PEER)  # it only stands beside the two
        runs = 1 if self.smoke else min(MOST_RUNS, max(1, round(LEAST_S / first[OWN] + 0.5)))
        times = Times(case.name, runs, {name: [] for name in names})
        for _ in range(self.arguments.rounds):
            for name in names:
                taken = [self._seconds(case, command, work / name, name) for _ in range(runs)]
                times.seconds[name].append(sum(taken))
        return times

    def _seconds(self, case: Case, command: list[str], folder: pathlib.Path, name: str, proof: bool = False) -> float:
        variables = process.environment() | {"OMP_NUM_THREADS": str(case.threads or cpus())} | case.environment
        words = command
        if name == WEFT:
            words = [str(self.arguments.build / "bin/weft"), "run", *command]
            variables |= {"WEFT_STATS": "all"} if proof else {}
        elif name == PEER:
            peer = next(runtime for runtime in self.runtimes if runtime.name == PEER)
            variables |= peer.variables() | ({"KMP_VERSION": "1"} if proof else {})
        begin = time.monotonic()
        try:
            done = process.run(words, variables, TIMEOUT_S, folder)
        except subprocess.TimeoutExpired:
            raise Wrong(f"no end after {TIMEOUT_S} s under {name}") from None
        seconds = time.monotonic() - begin
        if done.returncode != 0:
            raise Wrong(f"exit status {done.returncode} under {name}: {done.stderr.strip()[-300:]}")
        if not case.result(folder, done.stdout):
            raise Wrong(f"no result under {name}")
        shown = {WEFT: r"regions by level: [1-9]", PEER: r"OMP version"}.get(name)
        if proof and case.regions and shown and not re.search(shown, done.stderr):
            raise Wrong(f"{name} was meant and did not show: {done.stderr.strip()[-300:]}")
        return seconds

    def show(self, console: Console) -> None:
        rows = (
            (times.program, str(times.runs), *map(times.median, NAMES), *map(times.ratios, NAMES[1:]))
            for times in self.found
        )
        columns = ("program", "runs", *NAMES, "weft / own", f"{PEER} / own")
        title = "Programs: seconds, median; ratio to the program's own runtime, round by round"
        console.print(report.table(title, columns, rows))

    def results(self) -> dict[str, Any]:
        return super().results() | {
            "results": [
                {
                    "program": times.program,
                    "runs": times.runs,
                    "seconds": times.seconds,
                    "ratio": {name: summary(times.ratio(name)) for name in times.seconds if name != OWN},
                }
                for times in self.found
            ]
        }
