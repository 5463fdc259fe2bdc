# SPDX-License-Identifier: Apache-2.0
"""Measures within a budget: all ways a little, then those that may be the best again and again.

Each round is a job of its own with all its entries in random order, so that neither drift of the machine nor the luck
of one job's memory decides.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from . import units
from .component import Component
from .console import Progress
from .jobs import Entry, Jobs
from .model import Model, model_of
from .mpis import Mpi
from .operations import Operation, sizes_of
from .record import Place, Record
from .selection import MARGIN
from .stats import Estimate
from .ways import DEFAULT, DEFAULT_NAME, WEFT, Way, own_ways

# What the model says to be slower than the best by more than this is not measured.
_PRUNE = 4.0
_FIRST_CALLS = 10
_CALLS = 20
_ROUNDS = 6
# An interval this narrow needs no further round.
_NARROW = 0.02
_LEAST_ENTRY_SECONDS = 0.05


class Measuring:
    def __init__(
        self,
        jobs: Jobs,
        mpi: Mpi,
        record: Record,
        progress: Progress,
        own: bool = False,
        paper: bool = False,
        component: Component | None = None,
    ) -> None:
        self._jobs = jobs
        self._mpi = mpi
        self._record = record
        self._progress = progress
        self._own = own
        self._paper = paper
        self._component = component
        self.after_round: Callable[[], None] = lambda: None
        self._random = random.Random(len(record.samples))

    def levels(self, ranks: int) -> Model:
        self._progress.stage(f"{ranks} ranks: messages")
        lines = self._jobs.levels(ranks)
        self._record.levels += [{**line, "ranks": ranks} for line in lines]
        return model_of(lines, ranks)

    def _ways(self, operation: Operation, size: int, ranks: int, model: Model | None) -> list[Way]:
        ways = self._mpi.ways(operation, size, ranks)
        if self._own and operation.name == "alltoall":
            ways += own_ways(ranks)
        if self._component is not None and self._component.takes(operation):
            ways.append(WEFT)
        if model is not None:
            predicted = {way.name: model.predict(operation.name, way.name, size, way.segment) for way in ways}
            best = min((cost for cost in predicted.values() if cost is not None), default=0.0)
            slow = [name for name, cost in predicted.items() if cost is not None and cost > _PRUNE * best]
            if slow:
                self._record.pruned[(ranks, operation.name, size)] = slow
            ways = [way for way in ways if way.name not in slow]
        return [DEFAULT, *ways]

    def all_ways(
        self, operations: Sequence[Operation], sizes: Sequence[int], ranks: int, model: Model | None
    ) -> dict[Place, list[Way]]:
        return {
            (ranks, operation.name, size): self._ways(operation, size, ranks, model)
            for operation in operations
            for size in sizes_of(operation, sizes, ranks)
        }

    def measure_all(self, wanted: dict[Place, list[Way]], ranks: int, seconds: float) -> None:
        """All ways alike, in this time, also those that cannot be the best."""
        end = self._progress.elapsed() + seconds
        for number in range(_ROUNDS):
            left = end - self._progress.elapsed()
            if left <= 0:
                return
            self._progress.stage(f"{ranks} ranks: round {number + 1}")
            aim = max(left / (_ROUNDS - number), min(left, 1.0))
            self._round(wanted, ranks, _FIRST_CALLS, left if number == 0 else aim, aim)

    def measure(self, wanted: dict[Place, list[Way]], ranks: int, seconds: float) -> None:
        """In this time; what has not been measured then is missing in the record."""
        end = self._progress.elapsed() + seconds
        if self._paper:
            self._progress.stage(f"{ranks} ranks: the paper's method")
            self._round(wanted, ranks, 51, seconds)
            return
        for number in range(_ROUNDS):
            left = end - self._progress.elapsed()
            chosen = wanted if number == 0 else self._open(wanted)
            if left <= 0 or not chosen:
                return
            count = sum(len(ways) for ways in chosen.values())
            self._progress.stage(f"{ranks} ranks: round {number + 1}, {count} measurements")
            # The first round must leave time for the others, but all entries must have a chance.
            share = 0.5 if number == 0 else 1.0 / (_ROUNDS - number)
            # Few ways are left in later rounds: more calls of each.
            calls = _FIRST_CALLS if number == 0 else _CALLS << (number - 1)
            aim = max(left * share, min(left, 1.0))
            self._round(chosen, ranks, calls, left if number == 0 else aim, aim)

    def _round(
        self, wanted: dict[Place, list[Way]], ranks: int, calls: int, seconds: float, aim: float | None = None
    ) -> None:
        """Weft's collectives are in jobs of their own: an MPI loads them as a whole or not at all."""
        entries = [(place, way) for place, ways in wanted.items() for way in ways]
        self._random.shuffle(entries)
        entry_seconds = max((aim or seconds) / max(len(entries), 1), _LEAST_ENTRY_SECONDS)
        parts = [[entry for entry in entries if entry[1].component is component] for component in (False, True)]
        self._random.shuffle(parts)
        for part in parts:
            if part:
                self._job(part, ranks, calls, seconds * len(part) / len(entries), entry_seconds)
        self.after_round()

    def _job(
        self, entries: Sequence[tuple[Place, Way]], ranks: int, calls: int, seconds: float, entry_seconds: float
    ) -> None:
        plan = [Entry(place[1], place[2], calls, way.plan()) for place, way in entries]
        environment, prefix = self._mpi.measuring, ()
        if self._component is not None and entries[0][1].component:
            environment, prefix = self._component.measuring(), self._component.prefix
        found = self._jobs.measure(ranks, plan, environment, seconds, entry_seconds, self._paper, prefix)
        for number, measured in found.items():
            place, way = entries[number]
            self._record.add(place, way, measured.times, measured.skew, measured.fault)

    def _open(self, wanted: dict[Place, list[Way]]) -> dict[Place, list[Way]]:
        """What another round may decide: the default, and the ways that may be the best."""
        found: dict[Place, list[Way]] = {}
        for place, ways in wanted.items():
            estimates = self._record.estimates(place)
            if DEFAULT_NAME not in estimates:
                found[place] = ways
                continue
            default = estimates[DEFAULT_NAME]
            # The MPI's own ways compete with each other only: its file is also for those who go without weft.
            keep = [way for way in ways if way.deployable and way.name in estimates]
            rivals = [estimates[way.name] for way in keep if way.name != DEFAULT_NAME]
            keep = [way for way in keep if way.name == DEFAULT_NAME or _may_win(estimates[way.name], rivals, default)]
            keep += [way for way in ways if way.component and way.name in estimates]
            if any(way.name != DEFAULT_NAME for way in keep) and not all(_narrow(estimates[way.name]) for way in keep):
                found[place] = keep
        return found


def _narrow(estimate: Estimate) -> bool:
    return estimate.high - estimate.low < 2 * _NARROW * estimate.median


def _may_win(own: Estimate, rivals: Sequence[Estimate], default: Estimate) -> bool:
    best = min(rivals, key=lambda estimate: estimate.median)
    return own.low <= best.high and own.low < default.median * (1 - MARGIN)


def missing(record: Record, wanted: dict[Place, list[Way]]) -> list[str]:
    """In words: for what there was no time."""
    lines = []
    for place, ways in wanted.items():
        ranks, operation, size = place
        have = record.samples.get(place, {})
        none = [way.name for way in ways if way.name not in have]
        if none:
            what = "everything" if len(none) == len(ways) else ", ".join(none)
            lines.append(f"{operation}, {units.size(size)} bytes, {ranks} ranks: {what}")
    return lines
