# SPDX-License-Identifier: Apache-2.0
"""`weft tune collectives`: measure, choose, write, verify, say."""

from __future__ import annotations

import argparse
import datetime
import os
import pathlib
import platform
from collections.abc import Mapping

from . import units
from .console import Progress, say, warn
from .decision import Table
from .deployment import Deployment, tables_of
from .family import NAMES, find_launcher
from .faults import Fault, usage
from .jobs import Jobs
from .measuring import Measuring, missing
from .mpich import Mpich
from .mpis import Mpi, examine
from .operations import SIZES, choose
from .outcome import show_measured, show_verdicts
from .record import Place, Record
from .selection import select, select_whole, thresholds
from .verifying import Verdict, verdicts, verify
from .ways import DEFAULT, DEFAULT_NAME, Way

# Of the budget: the rest is for starting and ending jobs.
_MEASURE = 0.6
_VERIFY = 0.35


def parse_ranks(text: str | None) -> list[int]:
    if text is None:
        raise usage("how many ranks? weft tune collectives -n RANKS, or mpirun -n RANKS weft tune collectives")
    try:
        counts = sorted({int(word) for word in text.split(",")})
    except ValueError:
        raise usage(f"-n {text}: a number of ranks is wanted, or several with commas between") from None
    if counts[0] < 2:
        raise usage(f"-n {text}: two ranks at least: one has nobody to exchange data with")
    return counts


class Choices:
    """By place the chosen way, of what has been measured."""

    def __init__(self, record: Record, mpi: Mpi) -> None:
        self._record = record
        self._mpi = mpi
        self.chosen: dict[Place, str] = {}
        self._whole: set[tuple[int, str]] = set()
        for ranks, operation in sorted({place[:2] for place in record.samples}):
            self._choose(ranks, operation)

    def _choose(self, ranks: int, operation: str) -> None:
        by_size = {}
        for size in self._record.sizes(ranks, operation):
            place = (ranks, operation, size)
            estimates = self._record.estimates(place)
            by_size[size] = {n: e for n, e in estimates.items() if self._record.ways[place][n].deployable}
        if isinstance(self._mpi, Mpich) and self._mpi.has_device(operation):
            self._whole.add((ranks, operation))
            found = select_whole(by_size)
        else:
            found = select(by_size)
        for size, name in found.items():
            self.chosen[(ranks, operation, size)] = name

    def changed(self) -> dict[Place, str]:
        return {place: name for place, name in self.chosen.items() if name != DEFAULT_NAME}

    def tables(self) -> list[Table]:
        rules: dict[tuple[int, str], list[tuple[int, Way]]] = {}
        for ranks, operation in {place[:2] for place in self.chosen}:
            sizes = {place[2]: name for place, name in self.chosen.items() if place[:2] == (ranks, operation)}
            rules[(ranks, operation)] = [
                (start, self._way(ranks, operation, sizes, start, name)) for start, name in thresholds(sizes)
            ]
        return tables_of(rules)

    def _way(self, ranks: int, operation: str, sizes: Mapping[int, str], start: int, name: str) -> Way:
        if name == DEFAULT_NAME:
            return DEFAULT
        at = next(size for size in sorted(sizes) if size >= start and sizes[size] == name)
        return self._record.ways[(ranks, operation, at)][name]

    def keep_confirmed(self, found: list[Verdict]) -> None:
        """What did not gain in the second run stays with the default."""
        confirmed = {verdict.place for verdict in found if verdict.confirmed}
        slower = {verdict.place[:2] for verdict in found if verdict.before.below(verdict.after)}
        for place in list(self.chosen):
            if place[:2] in self._whole:
                some = any(other[:2] == place[:2] for other in confirmed)
                if not some or place[:2] in slower:
                    del self.chosen[place]
            elif place not in confirmed:
                self.chosen[place] = DEFAULT_NAME


def run(options: argparse.Namespace, folder: str) -> int:
    operations = choose(options.only)
    counts = parse_ranks(options.ranks)
    sizes = [units.parse_size(word) for word in options.sizes.split(",")] if options.sizes else SIZES
    budget = units.parse_seconds(options.budget)
    launcher = find_launcher(options.mpi, options.launcher, max(counts))
    into = pathlib.Path(options.output)
    try:
        into.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise usage(f"-o {into}: {error.strerror}") from None
    jobs = Jobs(launcher, folder)
    record = Record()
    lacking: list[str] = []
    with Progress(budget) as progress:
        jobs.tick = progress.tick
        progress.stage("the MPI's algorithms")
        mpi = examine(jobs, operations)
        for operation in operations:
            if not mpi.algorithms(operation):
                warn(f"{operation.name}: this {NAMES[mpi.family]} lets nobody choose its algorithm")
        deployment = Deployment(mpi, into, options.format)
        record.about = {
            "mpi": {"family": mpi.family, "version": mpi.version},
            "host": platform.node(),
            "cpus": len(os.sched_getaffinity(0)),
            "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
            "launcher": list(launcher.command),
            "method": "paper" if options.paper else "median of the longest rank",
        }
        measuring = Measuring(jobs, mpi, record, progress, options.own, options.paper)
        for index, ranks in enumerate(counts):
            share = progress.left() / (len(counts) - index)
            model = measuring.levels(ranks)
            wanted = measuring.all_ways(operations, sizes, ranks, None if options.all else model)
            measuring.measure(wanted, ranks, max(share * (1.0 if options.paper else _MEASURE), 0.5))
            lacking += missing(record, wanted)
        if not any(record.samples.values()):
            raise Fault(f"nothing could be measured in {units.seconds(budget)}; give it more: --budget 5m")
        if options.paper:
            record.write(deployment.record)
            show_measured(record, paper=True)
            _draw(record, {}, into, paper=True)
            say(f"\nMeasurements: {deployment.record}")
            return 0
        choices = Choices(record, mpi)
        first = choices.changed()
        found: list[Verdict] = []
        if first:
            tables = choices.tables()
            deployment.write(tables, deployment.title(counts))
            for index, ranks in enumerate(counts):
                places = [place for place in first if place[0] == ranks]
                if places:
                    seconds = max(progress.left(), budget * _VERIFY / 2) / (len(counts) - index)
                    verify(jobs, record, progress, places, deployment.variables(tables), seconds)
            found = verdicts(record, first)
            choices.keep_confirmed(found)
    record.about["missing"] = lacking
    record.write(deployment.record)
    show_measured(record, choices.chosen)
    show_verdicts(found, first, choices.changed())
    _say_rest(record, lacking, budget)
    code = _write(choices, deployment, counts, launcher.command)
    _draw(record, choices.chosen, into)
    say(f"Measurements: {deployment.record}")
    return code


def _write(choices: Choices, deployment: Deployment, counts: list[int], launcher: tuple[str, ...]) -> int:
    tables = choices.tables()
    say("")
    if not tables:
        deployment.file.unlink(missing_ok=True)
        say(f"Keep the defaults of {NAMES[deployment.mpi.family]}: nothing is certainly faster by more than 5 %.")
        return 0
    deployment.write(tables, deployment.title(counts))
    say(f"Decision file: {deployment.file}")
    say("Use it:")
    say(f"  {deployment.command(tables, launcher, counts[-1])}")
    say("or, for all programs:")
    for name, value in deployment.variables(tables).items():
        say(f"  export {name}={value}")
    say(
        f"It holds for communicators of {', '.join(map(str, counts))} ranks, however many nodes they are on; it was "
        "measured with the ranks as they were placed here."
    )
    return 0


def _say_rest(record: Record, lacking: list[str], budget: float) -> None:
    for (ranks, operation, size), name, fault in record.faults():
        warn(f"{operation}, {units.size(size)} bytes, {ranks} ranks, {name}: {fault}")
    outliers = sum(e.outliers for place in record.samples for e in record.estimates(place).values())
    total = sum(len(samples.times) for ways in record.samples.values() for samples in ways.values())
    say(f"\n{total} calls measured; {outliers} of them far outside the others, counted in all the same.")
    if lacking:
        say(f"Not measured in {units.seconds(budget)}, so that nothing is said of it (a longer --budget does):")
        for line in lacking[:8]:
            say(f"  {line}")
        if len(lacking) > 8:
            say(f"  and {len(lacking) - 8} more")


def _draw(record: Record, chosen: Mapping[Place, str], into: pathlib.Path, paper: bool = False) -> None:
    try:
        from .plots import draw
    except ImportError as error:
        warn(f"no pictures: {error}; python3 -m pip install matplotlib")
        return
    files = draw(record, chosen, into, paper)
    if files:
        say(f"Pictures: {', '.join(str(file) for file in files)} (and .svg)")
