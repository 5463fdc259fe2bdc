# SPDX-License-Identifier: Apache-2.0
"""bench/run openblas: nested BLAS with the builds of scripts/build-openblas, in turn. It is the source paper's last
table, one level of parallelism against two, for each library."""

import argparse
import collections
import pathlib
import statistics
from collections.abc import Iterator
from functools import partial
from typing import Any

from rich.console import Console

from ..frame import machine, options, report, runtimes
from ..frame.comparison import Comparison
from ..frame.options import LISTED, RUNTIMES, Option, names, only, positive
from ..frame.runtimes import Runtime
from ..frame.spread import with_extremes
from ..frame.study import Turn, in_turn
from . import nested
from .nested import Problem, Split

DEBIAN = "Debian"
LIBRARIES = (DEBIAN, "gcc", "clang", "weftcc")
RATIOS = (("weftcc", "clang"), ("weftcc", "gcc"), ("weftcc", DEBIAN), ("clang", DEBIAN))


# What counts of each process's samples.
Times = dict[tuple[str, str, Split], list[list[float]]]


def best(processes: list[list[float]]) -> float:
    """The median of the fastest process. On a virtual machine a whole process is slow at times, and
    with as few rounds as these the median of all would often be of such a one."""
    return min(statistics.median(samples) for samples in processes)


def _splits(runtime: Runtime) -> list[Split]:
    """One level, outside or inside, and two: under weft with nothing tuned."""
    count = machine.cpus()
    return [(count, 1), (1, count), nested.UNTUNED if runtime.name == "weft" else (count, count)]


class OpenBlas(Comparison):
    name = "openblas"
    about = __doc__
    rounds = 3

    options = (
        RUNTIMES,
        Option("--libraries", f"of {', '.join(LIBRARIES)}, {LISTED} (default: all)", names, ",".join(LIBRARIES)),
        Option("--repeat", "samples of each process", positive, nested.REPEATS),
        only("these problems only, such as dsymm,ztrsm"),
    )

    def complete(self, parser: argparse.ArgumentParser) -> None:
        super().complete(parser)
        options.check(parser, "--libraries", self.arguments.libraries, LIBRARIES)
        self.folders = {name: self._library(parser, name) for name in self.arguments.libraries}
        # Those of the paper.
        among = [problem for problem in nested.every_kind() if problem.routine in ("symm", "hemm", "trsm")]
        chosen = nested.chosen(parser, self.arguments.only, among)
        self.times: dict[Problem, Times] = {
            problem: collections.defaultdict(list) for problem in (chosen[:1] if self.smoke else chosen)
        }

    def _library(self, parser: argparse.ArgumentParser, name: str) -> pathlib.Path | None:
        """A folder with it; None: the system's."""
        if name == DEBIAN:
            return None
        file = self.root / "build/openblas" / name / "libopenblas.so.0"
        if not file.exists():
            parser.error(f"{file} is not there: run scripts/build-openblas {name}")
        folder = self.arguments.build / "bench/openblas-builds" / name
        return runtimes.links(folder, ("libopenblas.so.0",), file.resolve())

    def plan(self) -> list[Turn]:
        rounds = self.arguments.rounds
        return [turn for problem in self.times for turn in in_turn(rounds, self._turns_of(problem))]

    def _turns_of(self, problem: Problem) -> Iterator[Turn]:
        """Every library on weft; the first one, which is Debian's, under the peers too."""
        first = self.arguments.libraries[0]
        for runtime in self.runtimes:
            for split in _splits(runtime):
                for library in self.arguments.libraries:
                    if runtime.name == "weft" or library == first:
                        what = f"{problem.label}: {runtime.name}, {library}"
                        yield what, partial(self._measure, problem, runtime, library, split)

    def _measure(self, problem: Problem, runtime: Runtime, library: str, split: Split) -> None:
        self.blas = self.folders[library]
        repeat = 4 if self.smoke else self.arguments.repeat
        if result := self.json_under(runtime, [self.program("nested_blas"), *problem.arguments(split, repeat)]):
            self.times[problem][runtime.name, library, split].append(nested.halves(result)[1])

    def ratios(self, over: str, under: str) -> dict[str, list[float]]:
        """Time with the library `over` to that with `under`, both on weft, of each problem, by the way it was run."""
        found: dict[str, list[float]] = collections.defaultdict(list)
        for times in self.times.values():
            for (runtime, library, split), own in times.items():
                other = times.get((runtime, under, split))
                if runtime == "weft" and library == over and other:
                    found[nested.describe(split)].append(best(own) / best(other))
        return found

    def show(self, console: Console) -> None:
        rows = [
            (f"{over} / {under}", way, with_extremes(values))
            for over, under in RATIOS
            for way, values in self.ratios(over, under).items()
        ]
        title = "ratios of time on weft: median (least .. most) of the problems"
        console.print(report.table(title, ("libraries", "how", ""), rows))

    def results(self) -> dict[str, Any]:
        return super().results() | {
            "results": [
                {
                    "problem": problem.label,
                    "runtime": runtime,
                    "library": library,
                    "split": nested.describe(split),
                    "best": best(processes),
                    "counted": processes,
                }
                for problem, times in self.times.items()
                for (runtime, library, split), processes in times.items()
            ]
        }
