# SPDX-License-Identifier: Apache-2.0
"""Reader-writer locks between processes, by several algorithms."""

import argparse
import collections
import pathlib
from collections.abc import Iterator
from functools import partial
from typing import Any

from rich.console import Console

from ..frame import machine, options, report
from ..frame.options import LISTED, Option, names, numbers
from ..frame.report import short
from ..frame.study import Turn
from ..frame.verdict import Verdict
from .measures import ALONE, LOCK_TABLES, NO_WRITER, NORM, PACED, PACES, READERS, key
from .study import SharedMemoryStudy

OWN = ("weft", "weft-portable", "weft-phase-fair")
PAPER = ("2n-mutex", "n-mutex-signal", "n-mcs")
OTHERS = ("pthread-rwlock", "pthread-rwlock-writer", "n-robust-mutex", "seqlock")
# It copies nothing and its readers keep no writer away: for scale.
NO_LOCK = "seqlock"
# The figures of the paper.
FIGURES = {"writer_mean": "figure_6", "reads": "figure_7"}
READ_LIMITS_NS = {"weft": 1.0, "weft-portable": 4.0}
RATE_LIMIT, WRITER_LIMIT = 3.0, 1.0
KNOWN = (*OWN, *PAPER, *OTHERS)


class Rwlock(SharedMemoryStudy):
    name = "rwlock"
    about = "Measures reader-writer locks between processes; see docs/how-to/benchmark-shared-memory.md."

    options = (
        *SharedMemoryStudy.options,
        Option("--algorithm", f"names, {LISTED}; there are {', '.join(KNOWN)} (default: all)", names, ",".join(KNOWN)),
        Option("--readers", f"{LISTED} (default {','.join(map(str, READERS))})", numbers),
        Option("--free", "bind no process to a CPU"),
    )

    def complete(self, parser: argparse.ArgumentParser) -> None:
        super().complete(parser)
        self.algorithms = self.arguments.algorithm
        options.check(parser, "--algorithm", self.algorithms, (*KNOWN, "none"))
        self.readers = self.arguments.readers or (ALONE if self.smoke else READERS)

    def turns(self) -> Iterator[Turn]:
        cases = [(NO_WRITER, readers, ["--measure", "read"]) for readers in ALONE]
        for pace, writes in PACES.items():
            words = ["--measure", "writer", "--writes-per-second", writes]
            cases += [(pace, readers, words) for readers in self.readers]
        for pace, readers, words in cases:
            for name in self.algorithms:
                yield f"{key(pace, readers)}: {name}", partial(self._measure, name, pace, readers, words)

    def _measure(self, name: str, pace: str, readers: int, words: list[object]) -> None:
        free = ["--free"] if self.arguments.free else []
        command = [self.program("rwlock"), "--algorithm", name, "--readers", readers, *words, *free]
        result = self.json_of(name, [*command, "--milliseconds", self.milliseconds])
        self.samples.take(pace, name, {key(measure, readers): value for measure, value in result.items()})

    def median(self, pace: str, name: str, measure: str, readers: int) -> float | None:
        return self.samples.median(pace, name, key(measure, readers))

    def judge(self) -> list[Verdict]:
        verdicts = []
        for name, limit in READ_LIMITS_NS.items():
            value = self.median(NO_WRITER, name, "read", 2)
            if value is not None:
                verdicts.append(Verdict(f"read lock and unlock, {name}", "2 readers", value, limit, "ns"))
        for count in self.readers:
            own = self.median(PACED, "weft", "reads", count)
            rates = [rate for name in PAPER if (rate := self.median(PACED, name, "reads", count))]
            if own and rates:
                what = f"reads, {PACED}: best of the paper / weft"
                verdicts.append(Verdict(what, key("", count)[2:], max(rates) / own, 1 / RATE_LIMIT))
        for pace in PACES:
            for count in self.readers:
                own, other = (self.median(pace, name, "writer_mean", count) for name in ("weft", "n-mcs"))
                if own and other:
                    what = f"writer's time, {pace}: weft / N-MCS"
                    verdicts.append(Verdict(what, key("", count)[2:], own / other, WRITER_LIMIT))
        return verdicts

    def show(self, console: Console) -> None:
        measures = {"ns": "read", "CPU ns": "read_cpu", "wake-ups per million": "read_waits"}
        rows = (
            (name, *(short(self.median(NO_WRITER, name, what, n)) for n in ALONE for what in measures.values()))
            for name in self.algorithms
        )
        title = "one read lock and unlock, no writer: 1 and 2 readers, medians"
        columns = ("algorithm", *(f"{what}, {count}" for count in ALONE for what in measures))
        console.print(report.table(title, columns, rows))
        for measure, about in LOCK_TABLES:
            for pace in PACES:
                self._show_figure(console, pace, measure, f"{about}, {pace}: by readers, medians")
        if max(self.readers) + 1 > machine.cpus():
            crowded = f"With more processes than CPUs ({machine.cpus()})"
            console.print(f"{crowded}, the system's scheduler is measured as well.")

    def _show_figure(self, console: Console, pace: str, measure: str, title: str) -> None:
        """A figure of the paper as a table: what was measured, and that over 2N-mutex."""
        rows = []
        for name in self.algorithms:
            cells = []
            for count in self.readers:
                value, norm = (self.median(pace, one, measure, count) for one in (name, NORM))
                cells += [short(value), f"{value / norm:.3g}" if value and norm else ""]
            rows.append((name, *cells))
        columns = ("algorithm", *(column for count in self.readers for column in (f"{count}", f"/ {NORM}")))
        console.print(report.table(title, columns, rows))

    def results(self) -> dict[str, Any]:
        return {"bound": not self.arguments.free, "milliseconds": self.milliseconds} | super().results()

    def draw(self, folder: pathlib.Path) -> None:
        from ..frame import plots  # slow to load

        for measure, title in LOCK_TABLES:
            for pace in PACES if measure in FIGURES else ():
                values: dict[str, dict[int, list[float]]] = collections.defaultdict(dict)
                for name in self.algorithms:
                    for count in self.readers:
                        norm = self.median(pace, NORM, measure, count)
                        taken = self.samples.get((pace, name, key(measure, count)))
                        if norm and taken:
                            values[name][count] = [value / norm for value in taken]
                stem = folder / f"rwlock_{FIGURES[measure]}_{pace.replace(' ', '_')}"
                about = f"{title.split(',')[0]} / {NORM}\n{pace}"
                plots.lines(stem, about, "readers", f"/ {NORM}", values, logarithmic=True)
