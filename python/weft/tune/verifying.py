# SPDX-License-Identifier: Apache-2.0
"""Runs with the decision file and without it, in turns, each in jobs of their own as a user's would be."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .console import Progress
from .jobs import Entry, Jobs
from .record import Place, Record
from .selection import MARGIN
from .stats import Estimate, estimate, gain

_CALLS = 40
_TURNS = 8
_LEAST_TURNS = 2
# Fewer calls on either side confirm nothing.
_LEAST_CALLS = 20


@dataclass(frozen=True)
class Arm:
    """One way to start a job. The first one of a comparison is the default."""

    name: str
    words: str
    environment: Mapping[str, str]
    prefix: tuple[str, ...] = ()


DEFAULT_ARM = Arm("default", "without the file", {})


def tuned_arm(environment: Mapping[str, str]) -> Arm:
    return Arm("tuned", "with the file", environment)


@dataclass(frozen=True)
class Verdict:
    place: Place
    way: str
    predicted: float  # share of the time that is saved
    before: Estimate
    after: Estimate

    @property
    def real(self) -> tuple[float, float, float]:
        return gain(self.before, self.after)

    @property
    def confirmed(self) -> bool:
        enough = min(self.before.count, self.after.count) >= _LEAST_CALLS
        return enough and self.after.below(self.before) and self.real[0] > MARGIN / 2


def verify(
    jobs: Jobs,
    record: Record,
    progress: Progress,
    places: Sequence[Place],
    arms: Sequence[Arm],
    seconds: float,
) -> None:
    ranks = places[0][0]
    end = progress.elapsed() + seconds
    order = random.Random(1)
    for turn in range(_TURNS):
        left = end - progress.elapsed()
        if turn >= _LEAST_TURNS and left <= 0:
            return
        share = max(left / (_TURNS - turn) / len(arms), 1.0)
        for arm in order.sample(arms, len(arms)):
            progress.stage(f"{ranks} ranks: turn {turn + 1} {arm.words}")
            shuffled = order.sample(places, len(places))
            plan = [Entry(name, size, _CALLS, "- mpi") for _, name, size in shuffled]
            found = jobs.measure(ranks, plan, arm.environment, share, share / len(plan), prefix=arm.prefix)
            for number, measured in found.items():
                record.verified.setdefault(shuffled[number], {}).setdefault(arm.name, []).extend(measured.times)


def verdicts(record: Record, chosen: Mapping[Place, str], arm: str = "tuned") -> list[Verdict]:
    """Without those places that there was no time for."""
    found = []
    for place, way in chosen.items():
        arms = record.verified.get(place, {})
        if not arms.get("default") or not arms.get(arm):
            continue
        estimates = record.estimates(place)
        predicted = 1 - estimates[way].median / estimates["default"].median
        found.append(Verdict(place, way, predicted, estimate(arms["default"]), estimate(arms[arm])))
    return found
