# SPDX-License-Identifier: Apache-2.0
"""The command line of bench/run gauss-seidel: the heat equation by MPI and tasks, in the source paper's versions."""

import argparse
import dataclasses
import pathlib
import statistics
from collections.abc import Iterator

from . import machine, mpi_jobs, mpi_study
from .mpi_jobs import Place, Way
from .mpi_study import Results, Trial
from .targets import Verdict
from .terminal import positive

PROGRAM = "gauss_seidel"
# By a rank alone; of these only N-Buffer has blocks.
MPI_ONLY = ("pure-mpi", "n-buffer")
SEQUENTIAL = "sequential"
BLOCKING, EVENTS = "interop-blk", "interop-nonblk"
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


def parse(root: pathlib.Path, words: list[str]) -> argparse.Namespace:
    made = mpi_study.parser(
        "gauss-seidel", "Compares the versions of the Gauss-Seidel method; see docs/how-to/benchmark-mpi.md.", root
    )
    made.add_argument("--rows", type=positive, default=4096, help="of the matrix (default 4096)")
    made.add_argument("--cols", type=positive, default=4096, help="of the matrix (default 4096)")
    made.add_argument("--steps", type=positive, default=20, help="sweeps over the matrix (default 20)")
    made.add_argument("--blocks", type=mpi_study.numbers, default=[256, 512, 1024], help="sizes (default 256,512,1024)")
    made.add_argument("--weak", action="store_true", help="weak scaling: --rows for each rank")
    made.add_argument("--only", default="", help="these versions only, with commas between")
    arguments = mpi_study.complete(made, words, PROGRAM, root)
    unknown = set(filter(None, arguments.only.split(","))) - {*MPI_ONLY, *HYBRID}
    if unknown:
        made.error(f"--only {', '.join(sorted(unknown))}: there are {', '.join((*MPI_ONLY, *HYBRID))}")
    if arguments.smoke:
        arguments.rows, arguments.cols, arguments.steps, arguments.blocks = 300, 260, 4, [64]
    return arguments


def _trial(plan: Plan, place: Place, share: str, version: str, block: int | None, way: Way) -> Trial:
    rows = plan.rows * (place.ranks if plan.weak else 1)
    words = ["--version", version, "--rows", rows, "--cols", plan.cols, "--steps", plan.steps]
    words += ["--block", block] if block else []
    # Every other rank has three times as many rows.
    words += ["--shares", ",".join("31"[rank % 2] for rank in range(place.ranks))] if share == UNEVEN else []
    return Trial(f"{rows} x {plan.cols}", place, share, version, str(block or ""), way, tuple(words))


def trials(plan: Plan, mpis: list[str], ways: list[Way]) -> Iterator[Trial]:
    """The first one of each problem is the sequential sweep."""
    alone = mpi_jobs.without_library(ways)
    for mpi in mpis:
        for ranks in mpi_jobs.rank_counts() if plan.weak else (1,):
            one = dataclasses.replace(plan, rows=plan.rows * ranks, weak=False)
            yield _trial(one, Place(mpi, 1, 1), EVEN, SEQUENTIAL, None, alone)
        for place in mpi_jobs.places(mpi):
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


def judge(results: Results) -> list[Verdict]:
    """Ratios of times, each the inverse of that of the rates."""
    verdicts = []
    for trial, rates in results.rates.items():
        if trial.way.preloaded is None or trial.version != BLOCKING:
            continue
        own = statistics.median(rates)
        what = f"{trial.place.label}, rows {trial.share}, block {trial.size}"
        oversubscribed = trial.place.ranks > machine.cpus()
        pure, events = results.rate(trial, "pure-mpi"), results.rate(trial, EVENTS, trial.place.threads)
        if pure and (oversubscribed or trial.share != EVEN):
            verdicts.append(Verdict("Interop(blk) / Pure MPI", what, pure / own, 1.0, ""))
        if events and trial.size == SMALLEST_BLOCK:
            verdicts.append(Verdict("Interop(blk) / Interop(non-blk)", what, events / own, 1.05, ""))
    return verdicts


def main(root: pathlib.Path, words: list[str]) -> int:
    arguments = parse(root, words)
    plan = Plan(arguments.rows, arguments.cols, arguments.steps, arguments.blocks, arguments.weak)
    wanted = set(filter(None, arguments.only.split(","))) or {*MPI_ONLY, *HYBRID}
    chosen = [
        trial
        for trial in trials(plan, arguments.mpi, arguments.ways)
        if trial.version in {*wanted, SEQUENTIAL} and not (arguments.smoke and mpi_study.may_hang(trial, BLOCKING))
    ]
    title = f"Gauss-Seidel, {plan.rows} x {plan.cols}{' for each rank' if plan.weak else ''}, {plan.steps} sweeps"
    return mpi_study.main(arguments, root, title, PROGRAM, chosen, (SEQUENTIAL, *MPI_ONLY, *HYBRID), judge)
