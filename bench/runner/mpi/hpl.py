# SPDX-License-Identifier: Apache-2.0
"""High Performance Linpack by ranks and threads, with several BLAS and runtimes: tables as the source paper's."""

import argparse
import collections
import dataclasses
import pathlib
import shutil
import statistics
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from rich.console import Console

from ..frame import machine, options, report
from ..frame.options import LISTED, Option, names, positive, timeout
from ..frame.process import Failure
from ..frame.spread import with_range
from ..frame.study import Study, Turn
from ..frame.verdict import Verdict
from . import hpl_job, hpl_ways, jobs
from .hpl_job import Problem
from .hpl_ways import BINDINGS, NODE, OURS, PEER, Place, Trial

DEFAULT = 0  # threads: what the runtime takes by itself
EXCEEDING, ELSEWHERE, WITH_NODE = 1.0, 1.02, 1.0


def _numbers(text: str) -> tuple[int, ...]:
    numbers = tuple(int(word) for word in text.split(","))
    if min(numbers) < 0:
        raise argparse.ArgumentTypeError("numbers from 0 are wanted")
    return numbers


class Hpl(Study):
    name = "hpl"
    about = "High Performance Linpack (Debian's hpcc, Open MPI) by ranks and threads; see docs/how-to/benchmark-mpi.md."

    options = (
        Option("--order", "of the system of equations", positive, 4000),
        Option("--block", "of its distribution", positive, 128),
        Option("--ranks", LISTED, _numbers, "1,2,4"),
        Option("--threads", f"{LISTED}; 0: the default (default: 1, the CPUs, and 0)", _numbers),
        Option("--bind", "of none (the default), and core, which is what mpirun does by itself", names, "none"),
        Option("--ways", f"parts of their names, {LISTED} (default: all)", names, ""),
        timeout(120),
    )

    def complete(self, parser: argparse.ArgumentParser) -> None:
        options.check(parser, "--bind", self.arguments.bind, BINDINGS)
        for program, package in ((hpl_job.PROGRAM, "hpcc"), (jobs.LAUNCHERS["openmpi"][0], "openmpi-bin")):
            if not shutil.which(program):
                parser.error(f"{program} is not there: run scripts/setup-hpl (Debian's package {package})")
        given = self.arguments
        self.problem = Problem(300 if self.smoke else given.order, given.block)
        ranks, threads = given.ranks, given.threads or tuple(dict.fromkeys((1, machine.cpus(), DEFAULT)))
        if self.smoke:
            ranks, threads = (2,), (DEFAULT,)
        ways, self.skipped = hpl_ways.find(self.root, given.build, given.ways)
        # The ways in the innermost loop: a slow moment of the machine meets all of them.
        self.trials = [
            Trial(Place(count, number, binding), way)
            for binding in given.bind
            for count in ranks
            for number in threads
            for way in ways
        ]
        self.seconds: dict[Trial, list[float]] = collections.defaultdict(list)
        self.residuals: dict[Trial, list[float]] = collections.defaultdict(list)
        self.unsolved: set[Trial] = set()

    def turns(self) -> Iterator[Turn]:
        for trial in self.trials:
            yield f"{trial.place.label}: {trial.way.name}", partial(self._measure, trial)

    def _measure(self, trial: Trial) -> None:
        if trial in self.unsolved:
            return
        place, way = trial.place, trial.way
        solved = hpl_job.run(
            [*jobs.LAUNCHERS["openmpi"], *BINDINGS[place.binding]],
            place.ranks,
            way.variables | ({"OMP_NUM_THREADS": str(place.threads)} if place.threads else {}),
            way.words,
            self.problem,
            way.libraries,
            self.arguments.timeout,
        )
        if solved.reason:
            self.unsolved.add(trial)
            self.failures.append(Failure(way.name, f"hpcc, {place.label}", solved.reason))
            return
        self.seconds[trial].append(solved.seconds)
        self.residuals[trial].append(solved.residual)
        self.samples.add(place.label, way.name, f"order {self.problem.order}", [solved.seconds], "s")

    def show(self, console: Console) -> None:
        """One table for each way and binding; rows are ranks, columns threads."""
        for name, reason in self.skipped.items():
            console.print(f"Skipped: {name}: {reason}", style="yellow")
        console.print(f"HPL, order {self.problem.order}, blocks of {self.problem.block}", style="bold")
        for way, binding in dict.fromkeys((trial.way, trial.place.binding) for trial in self.trials):
            here = {trial.place: trial for trial in self.trials if (trial.way, trial.place.binding) == (way, binding)}
            threads = list(dict.fromkeys(place.threads for place in here))
            rows = []
            for ranks in dict.fromkeys(place.ranks for place in here):
                cells = (here.get(Place(ranks, number, binding)) for number in threads)
                rows.append((str(ranks), *(self._cell(trial) if trial else "" for trial in cells)))
            bound = "" if binding == "none" else f", ranks bound to a {binding}"
            title = f"{way.name}{bound}: seconds, median (p10 .. p90)"
            columns = ("ranks", *(f"{number or 'default'} threads" for number in threads))
            console.print(report.table(title, columns, rows))
        residuals = [value for values in self.residuals.values() for value in values]
        if residuals:
            most = max(residuals)
            console.print(f"{len(residuals)} residual checks passed; the largest is {most:.3g} of 16 allowed.")

    def _cell(self, trial: Trial) -> str:
        return with_range(self.seconds[trial], ".3f") if trial in self.seconds else "failed"

    def medians(self, way: str, where: Callable[[Place], bool]) -> dict[Place, float]:
        return {
            trial.place: statistics.median(seconds)
            for trial, seconds in self.seconds.items()
            if trial.way.name == way and where(trial.place)
        }

    def judge(self) -> list[Verdict]:
        """weft with nothing set against libgomp with the best number of threads; and with --node against without."""
        found = []
        for binding in dict.fromkeys(trial.place.binding for trial in self.seconds):
            everywhere = self.medians(PEER, lambda place, binding=binding: place.binding == binding)
            untuned = self.medians(OURS, lambda place, binding=binding: place.binding == binding and not place.threads)
            for place, seconds in untuned.items():
                limit = EXCEEDING if place.exceeds else ELSEWHERE
                same = [value for other, value in everywhere.items() if other.ranks == place.ranks]
                if same:
                    what = "HPL, weft untuned / best threads of libgomp, same ranks"
                    found.append(Verdict(what, place.label, seconds / min(same), limit))
            if untuned and everywhere:
                place = min(untuned, key=lambda place: untuned[place])
                ratio = untuned[place] / min(everywhere.values())
                what = "HPL, best ranks of weft untuned / best (ranks x threads) of libgomp"
                found.append(Verdict(what, place.label, ratio, EXCEEDING if place.exceeds else ELSEWHERE))
        without = self.medians(OURS, lambda place: place.ranks > 1)
        for place, seconds in self.medians(NODE, lambda place: place in without).items():
            found.append(Verdict("HPL, with --node / without", place.label, seconds / without[place], WITH_NODE))
        return found

    def results(self) -> dict[str, Any]:
        libraries = {
            trial.way.name: {name: str(file.resolve()) for name, file in trial.way.libraries.items()}
            for trial in self.trials
        }
        residuals = [
            {"place": trial.place.label, "way": trial.way.name, "residuals": values}
            for trial, values in self.residuals.items()
        ]
        return {
            "problem": dataclasses.asdict(self.problem),
            "cpus": machine.cpus(),
            "libraries": libraries,
            "residuals": residuals,
            "skipped": self.skipped,
        } | super().results()

    def draw(self, folder: pathlib.Path) -> None:
        from ..frame import plots  # slow to load

        for binding in dict.fromkeys(trial.place.binding for trial in self.trials):
            rates: dict[str, dict[str, list[float]]] = collections.defaultdict(dict)
            untuned: dict[str, dict[int, list[float]]] = collections.defaultdict(dict)
            for trial, seconds in self.seconds.items():
                if trial.place.binding != binding:
                    continue
                taken = [1e-9 * self.problem.operations / value for value in seconds]
                rates[trial.way.name][f"{trial.place.ranks} x {trial.place.threads or 'default'}"] = taken
                if not trial.place.threads:
                    untuned[trial.way.name][trial.place.ranks] = taken
            title = f"HPL, order {self.problem.order}, binding {binding}"
            stem = f"hpl_bind_{binding}"
            plots.bars(folder / stem, title, "ranks x threads", "GFLOP/s", rates)
            plots.lines(folder / f"{stem}_ranks", f"{title}, default threads", "ranks", "GFLOP/s", untuned)
