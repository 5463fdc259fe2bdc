# SPDX-License-Identifier: Apache-2.0
"""Flat constructs in many short runs, alone and beside programs that compute: how far the runs are from each other."""

import argparse
import contextlib
import dataclasses
import statistics
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager
from functools import partial
from typing import Any

from rich.console import Console

from ..frame import process, report
from ..frame.comparison import Comparison
from ..frame.options import BEFORE, RUNTIMES, Option, check, names
from ..frame.process import Failure
from ..frame.runtimes import Runtime
from ..frame.spread import short, summary
from ..frame.study import Turn
from ..frame.verdict import Verdict
from ..mpi import jobs

MEASURES = ("parallel", "for_static", "barrier")
PROGRAMS = (0, 1, 2, 4)
MPI_JOB = "MPI job"
BINDINGS = {"free": {}, "bound": {"OMP_PROC_BIND": "close"}}
P90_LIMIT, SPREAD_LIMIT = 1.0, 3
# A run has a few samples of some milliseconds, of which it counts the median.
SAMPLES, MILLISECONDS = 3, 5
# In which what runs beside gets to its work.
START_S = 1.5
# Larger than any measurement takes: the job is ended when it is wanted no more.
JOB = ("--rows", 2000, "--cols", 2000, "--steps", 1_000_000, "--version", "pure-mpi")


@dataclasses.dataclass(frozen=True)
class Load:
    name: str
    programs: int = 0
    mpi: str = ""  # whose job runs meanwhile


class Loads(Comparison):
    name = "loads"
    about = "Flat constructs in many short runs, alone and beside programs that compute: the 90th percentile counts."
    rounds = 100
    options = (RUNTIMES, BEFORE, Option("--only", f"some of {', '.join(MEASURES)}", names, ",".join(MEASURES)))

    def complete(self, parser: argparse.ArgumentParser) -> None:
        super().complete(parser)
        check(parser, "--only", self.arguments.only, MEASURES)
        mpis = jobs.found_mpis(self.arguments.build, "gauss_seidel")
        self.loads = [Load(f"{count} beside", count) for count in (PROGRAMS[:2] if self.smoke else PROGRAMS)]
        self.loads += [Load(f"{MPI_JOB} beside", mpi=mpi) for mpi in mpis[:1]]
        self.beside = contextlib.ExitStack()
        self.now: Load | None = None  # what runs beside

    def surroundings(self) -> AbstractContextManager[object]:
        return self.beside

    def turns(self) -> Iterator[Turn]:
        for load in self.loads:
            for binding in BINDINGS:
                for measure in self.arguments.only:
                    for runtime in self.runtimes:
                        what = f"{measure}, {load.name}, {binding}: {runtime.name}"
                        yield what, partial(self._measure, load, binding, measure, runtime)

    def _put_beside(self, load: Load) -> None:
        if load == self.now:
            return
        self.beside.close()
        self.now = load
        if load.mpi:
            job = self.beside.enter_context(jobs.running(self.arguments.build, load.mpi, "gauss_seidel", JOB))
            time.sleep(START_S)
            if job.poll() is not None:
                self.failures.append(Failure(load.mpi, "gauss_seidel", "the job beside has ended"))
        else:
            self.beside.enter_context(process.computing(load.programs))
            time.sleep(START_S if load.programs else 0)

    def _measure(self, load: Load, binding: str, measure: str, runtime: Runtime) -> None:
        self._put_beside(load)
        command = [self.program("micro_constructs"), "--repeat", SAMPLES, "--milliseconds", MILLISECONDS, measure]
        result = self.json_under(runtime, command, BINDINGS[binding])
        if result:
            found = result[measure]
            of_run = statistics.median(found["samples"])
            self.samples.add(f"{load.name}, {binding}", runtime.name, measure, [of_run], found["unit"])

    def show(self, console: Console) -> None:
        def cells(policy: str, measure: str, name: str) -> tuple[str, ...]:
            taken = self.samples.get((policy, name, measure))
            if not taken:
                return "", "", ""
            found = summary(taken)
            return short(found["median"]), short(found["p90"]), short(max(taken) / min(taken))

        columns = [f"{name}{what}" for name in self.names for what in ("", " p90", " most / least")]
        rows = (
            (measure, policy, *(cell for name in self.names for cell in cells(policy, measure, name)))
            for policy, measure in self.samples.rows()
        )
        title = (
            f"nanoseconds: of {self.arguments.rounds} runs the median, the 90th percentile, and the most over the least"
        )
        console.print(report.table(title, ("construct", "what runs beside", *columns), rows, left=2))

    def judge(self) -> list[Verdict]:
        verdicts = []
        for policy, measure in self.samples.rows():
            taken = {name: self.samples.get((policy, name, measure)) for name in self.names}
            p90 = {name: summary(values)["p90"] for name, values in taken.items() if values}
            own = p90.pop("weft", None)
            if own is not None and p90:
                verdicts.append(
                    Verdict("p90 / the best other p90", f"{measure}, {policy}", own / min(p90.values()), P90_LIMIT)
                )
            if (values := taken.get("weft")) and policy.startswith("1 beside"):
                spread = max(values) / min(values)
                verdicts.append(Verdict("most / least of all runs", f"{measure}, {policy}", spread, SPREAD_LIMIT))
        return verdicts

    def results(self) -> dict[str, Any]:
        return {"samples_of_a_run": SAMPLES, "milliseconds_of_a_sample": MILLISECONDS} | super().results()
