# SPDX-License-Identifier: Apache-2.0
"""The command line of bench/run ifsker: a mock-up of a spectral weather model by MPI and tasks."""

import argparse
import pathlib
from collections.abc import Iterator

from . import mpi_jobs, mpi_study
from .mpi_jobs import Place
from .mpi_study import Trial
from .terminal import positive

PROGRAM = "ifsker"
PURE, BLOCKING, EVENTS = "pure-mpi", "interop-blk", "interop-nonblk"
HYBRID = ("fork-join", BLOCKING, EVENTS)
# What the ranks have of the grid and the levels.
SHARE = "even"


def parse(root: pathlib.Path, words: list[str]) -> argparse.Namespace:
    made = mpi_study.parser(
        "ifsker", "Compares the versions of a mock-up of a weather model; see docs/how-to/benchmark-mpi.md.", root
    )
    made.add_argument("--points", type=positive, default=320, help="of a row of the grid (default 320)")
    made.add_argument("--rows", type=positive, default=160, help="of the grid (default 160)")
    made.add_argument("--levels", type=positive, default=10, help="above each point (default 10)")
    made.add_argument("--fields", type=positive, default=4, help="at each level of each point (default 4)")
    made.add_argument("--steps", type=positive, default=20, help="of time (default 20)")
    arguments = mpi_study.complete(made, words, PROGRAM, root)
    if arguments.smoke:
        arguments.points, arguments.rows, arguments.steps = 100, 37, 4
    return arguments


def trials(arguments: argparse.Namespace) -> Iterator[Trial]:
    """The first one is Pure MPI on one rank, which exchanges nothing."""
    alone = mpi_jobs.without_library(arguments.ways)
    names = ("points", "rows", "levels", "fields", "steps")
    size = [word for name in names for word in (f"--{name}", getattr(arguments, name))]
    for mpi in arguments.mpi:
        for ranks in mpi_jobs.rank_counts():
            yield Trial(PROGRAM, Place(mpi, ranks, 1), SHARE, PURE, "", alone, ("--version", PURE, *size))
        for place in mpi_jobs.places(mpi):
            for version in HYBRID:
                for way in arguments.ways:
                    if way.preloaded or version != EVENTS:
                        yield Trial(PROGRAM, place, SHARE, version, "", way, ("--version", version, *size))


def main(root: pathlib.Path, words: list[str]) -> int:
    arguments = parse(root, words)
    points = arguments.points * arguments.rows
    title = f"IFSKer mock-up, {points} points, {arguments.levels} levels, {arguments.fields} fields"
    chosen = [trial for trial in trials(arguments) if not (arguments.smoke and mpi_study.may_hang(trial, BLOCKING))]
    # No target is set for it.
    return mpi_study.main(arguments, root, title, PROGRAM, chosen, (PURE, *HYBRID), lambda _: [])
