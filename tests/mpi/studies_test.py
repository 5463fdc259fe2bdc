#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every version of the MPI programs in bench/mpi gives the bits of its reference: for any number of ranks and threads,
any size of blocks and any share of the rows.

    WEFT_BUILD_DIR=build/release tests/mpi/studies_test.py [--all]
"""

import argparse
import dataclasses
import itertools
import os
import pathlib
import sys
from collections.abc import Iterator

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))
from runner.mpi import jobs  # noqa: E402
from runner.mpi.jobs import Place, Way  # noqa: E402

SKIPPED = 77
TIMEOUT_S = 60
# So many threads that all tasks of these problems that wait for a message can do so at once: by libgomp too.
THREADS_FOR_ALL = 32
MPI_ONLY, TASKS = ("pure-mpi", "n-buffer"), ("fork-join", "sentinel")
BLOCKING, EVENTS = "interop-blk", "interop-nonblk"
# Neither divides the other: the last blocks and the last rank's rows are smaller, and some are larger than all.
ROWS, COLS, STEPS = 203, 157, 5
POINTS, LATITUDES, LEVELS = 45, 17, 7


@dataclasses.dataclass(frozen=True)
class Case:
    program: str
    place: Place
    way: Way
    words: tuple[object, ...]

    def __str__(self) -> str:
        return f"{self.program}, {self.place.label}, {self.way.name}: {' '.join(map(str, self.words))}"


def versions(program: str, way: Way, place: Place) -> Iterator[str]:
    """Those that come to an end there."""
    tasks = TASKS if program == "gauss_seidel" else TASKS[:1]
    if place.threads == 1:
        yield from MPI_ONLY if program == "gauss_seidel" else MPI_ONLY[:1]
    if place.threads < THREADS_FOR_ALL:
        yield from tasks
    if way.preloaded:
        yield from (BLOCKING, EVENTS)
    elif place.ranks == 1 or place.threads == THREADS_FOR_ALL:
        yield BLOCKING


def cases(mpi: str, ways: list[Way], everything: bool) -> Iterator[Case]:
    ranks, threads = (1, 2, 4), (1, 2, 4) if everything else (1, 2)
    for way, count, team in itertools.product(ways, ranks, (*threads, THREADS_FOR_ALL)):
        place = Place(mpi, count, team)
        for version in versions("gauss_seidel", way, place):
            size = ("--rows", ROWS, "--cols", COLS, "--steps", STEPS, "--version", version, "--verify")
            shares = [(), ("--shares", ",".join("3121"[:count]))] if count > 1 else [()]
            for block, share in itertools.product((20, 64, 300) if everything else (40,), shares):
                yield Case("gauss_seidel", place, way, (*size, "--block", block, *share))
        for version in versions("ifsker", way, place):
            size = ("--points", POINTS, "--rows", LATITUDES, "--levels", LEVELS, "--steps", STEPS)
            for block in (7, 64, 1000) if everything else (32,):
                yield Case("ifsker", place, way, (*size, "--version", version, "--verify", "--block", block))


def failure(build: pathlib.Path, case: Case) -> str:
    """Why it is none of what is wanted; empty: it is."""
    outcome = jobs.run(build, case.place, case.way, case.program, case.words, TIMEOUT_S)
    if outcome.result is None:
        return outcome.reason
    wanted = {"ranks": case.place.ranks, "team": case.place.threads, "verified": "equal"}
    found = {name: outcome.result.get(name) for name in wanted}
    return "" if found == wanted else f"{found}"


def main() -> int:
    parser = argparse.ArgumentParser(description="The results of the MPI programs, in all versions.")
    parser.add_argument("--all", action="store_true", help="more threads and sizes of blocks: some minutes")
    everything = parser.parse_args().all
    build = pathlib.Path(os.environ.get("WEFT_BUILD_DIR", ROOT / "build/release")).absolute()
    mpis = [mpi for mpi in jobs.found_mpis(build, "gauss_seidel") if mpi in jobs.found_mpis(build, "ifsker")]
    if not mpis:
        print("skipped: no MPI that is installed, or libfftw3-dev is not")
        return SKIPPED
    ways = jobs.find_ways(ROOT, build, jobs.there_by_default(build))
    chosen = [case for mpi in mpis for case in cases(mpi, ways, everything)]
    failed = 0
    for case in chosen:
        reason = failure(build, case)
        if reason:
            failed += 1
            print(f"FAILED {case}: {reason}", flush=True)
    print(f"{len(chosen) - failed} of {len(chosen)} runs have the bits of the reference ({', '.join(mpis)})")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
