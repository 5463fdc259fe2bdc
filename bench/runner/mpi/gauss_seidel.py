# SPDX-License-Identifier: Apache-2.0
"""The heat equation by MPI and tasks, in the source paper's versions."""

import argparse
import dataclasses
import statistics
from collections.abc import Iterator

from ..frame import machine, options
from ..frame.options import LISTED, Option, numbers, only, positive
from ..frame.verdict import Verdict
from . import jobs
from .jobs import Place, Way
from .study import RuntimesStudy
from .trials import Trial
from .versions import BLOCKING, EVENTS, VersionsStudy

# By a rank alone; of these only N-Buffer has blocks.
MPI_ONLY = ("pure-mpi", "n-buffer")
SEQUENTIAL = "sequential"
HYBRID = ("fork-join", "sentinel", BLOCKING, EVENTS)
EVEN, UNEVEN = "even", "3:1"
SMALLEST_BLOCK = "256"  # of the target: there the paper's blocking mode is behind


@dataclasses.dataclass(frozen=True)
class Plan:
    """What is computed, and where."""

    rows: int
    cols: int
    steps: int
    blocks: list[int]
    weak: bool  # so many rows for each rank, instead of all


def _trial(plan: Plan, place: Place, share: str, version: str, block: int | None, way: Way) -> Trial:
    rows = plan.rows * (place.ranks if plan.weak else 1)
    words = ["--version", version, "--rows", rows, "--cols", plan.cols, "--steps", plan.steps]
    words += ["--block", block] if block else []
    # Every other rank has three times as many rows.
    words += ["--shares", ",".join("31"[rank % 2] for rank in range(place.ranks))] if share == UNEVEN else []
    return Trial(f"{rows} x {plan.cols}", place, share, version, str(block or ""), way, tuple(words))


def trials(plan: Plan, mpis: list[str], ways: list[Way]) -> Iterator[Trial]:
    """The first one of each problem is the sequential sweep."""
    alone = jobs.without_library(ways)
    for mpi in mpis:
        for ranks in jobs.rank_counts() if plan.weak else (1,):
            one = dataclasses.replace(plan, rows=plan.rows * ranks, weak=False)
            yield _trial(one, Place(mpi, 1, 1), EVEN, SEQUENTIAL, None, alone)
        for place in jobs.places(mpi):
            for share in (EVEN, UNEVEN) if place.ranks > 1 else (EVEN,):
                if place.threads == 1:
                    yield _trial(plan, place, share, "pure-mpi", None, alone)
                for block in plan.blocks:
                    if place.threads == 1:
                        yield _trial(plan, place, share, "n-buffer", block, alone)
                    yield from _hybrid(plan, place, share, block, ways)


def _hybrid(plan: Plan, place: Place, share: str, block: int, ways: list[Way]) -> Iterator[Trial]:
    for version in HYBRID:
        for way in ways:
            if way.preloaded or version != EVENTS:
                yield _trial(plan, place, share, version, block, way)


class GaussSeidel(VersionsStudy):
    name = "gauss-seidel"
    about = "Compares the versions of the Gauss-Seidel method; see docs/how-to/benchmark-mpi.md."
    program_name = "gauss_seidel"
    versions = (SEQUENTIAL, *MPI_ONLY, *HYBRID)

    options = (
        *RuntimesStudy.options,
        Option("--rows", "of the matrix", positive, 4096),
        Option("--cols", "of the matrix", positive, 4096),
        Option("--steps", "sweeps over the matrix", positive, 20),
        Option("--blocks", "sizes", numbers, "256,512,1024"),
        Option("--weak", "weak scaling: --rows for each rank"),
        only(f"these versions only, {LISTED}"),
    )

    def complete(self, parser: argparse.ArgumentParser) -> None:
        super().complete(parser)
        given = self.arguments
        options.check(parser, "--only", given.only, (*MPI_ONLY, *HYBRID))
        self.computed = Plan(given.rows, given.cols, given.steps, given.blocks, given.weak)
        if self.smoke:
            self.computed = Plan(300, 260, 4, [64], given.weak)

    def title(self) -> str:
        plan = self.computed
        return f"Gauss-Seidel, {plan.rows} x {plan.cols}{' for each rank' if plan.weak else ''}, {plan.steps} sweeps"

    def trials(self) -> Iterator[Trial]:
        for trial in trials(self.computed, self.mpis, self.ways):
            if not self.arguments.only or trial.version in (*self.arguments.only, SEQUENTIAL):
                yield trial

    def judge(self) -> list[Verdict]:
        """Ratios of times, each the inverse of that of the rates."""
        verdicts = []
        for trial, rates in self.found.rates.items():
            if trial.way.preloaded is None or trial.version != BLOCKING:
                continue
            own = statistics.median(rates)
            what = f"{trial.place.label}, rows {trial.share}, block {trial.size}"
            oversubscribed = trial.place.ranks > machine.cpus()
            pure = self.found.rate(trial, "pure-mpi")
            events = self.found.rate(trial, EVENTS, trial.place.threads)
            if pure and (oversubscribed or trial.share != EVEN):
                verdicts.append(Verdict("Interop(blk) / Pure MPI", what, pure / own, 1.0))
            if events and trial.size == SMALLEST_BLOCK:
                verdicts.append(Verdict("Interop(blk) / Interop(non-blk)", what, events / own, 1.05))
        return verdicts
