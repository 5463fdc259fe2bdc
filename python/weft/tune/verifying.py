# SPDX-License-Identifier: Apache-2.0
"""Runs with the decision file and without it, in turns, each in jobs of their own as a user's would be."""

from __future__ import annotations

import random
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from . import units
from .console import Progress, warn
from .jobs import Entry, Jobs
from .record import Place, Record, Turn
from .selection import MARGIN
from .stats import Ratio, ratio
from .ways import DEFAULT_NAME

_CALLS = 40
_TURNS = 9
# Fewer turns confirm nothing: by chance they could all be faster.
LEAST_TURNS = 6
_LEAST_SECONDS = 0.3
TUNED = "tuned"


@dataclass(frozen=True)
class Arm:
    """One way to start a job. The first one of a comparison is the default."""

    name: str
    words: str
    environment: Mapping[str, str]
    prefix: tuple[str, ...] = ()


DEFAULT_ARM = Arm(DEFAULT_NAME, "without the file", {})


def tuned_arm(environment: Mapping[str, str]) -> Arm:
    return Arm(TUNED, "with the file", environment)


@dataclass(frozen=True)
class Comparison:
    """Of two arms at one place. Those of one turn are a pair: what else went on at the time was the same for both."""

    before: float
    after: float
    ratio: Ratio
    failed: bool  # with the second one, in any turn

    @property
    def faster(self) -> bool:
        return not self.failed and self.ratio.count >= LEAST_TURNS and self.ratio.high < 1 - MARGIN

    @property
    def slower(self) -> bool:
        return self.failed or (self.ratio.count >= LEAST_TURNS and self.ratio.low > 1 + MARGIN)


def compare(turns: Sequence[Turn], base: str, arm: str) -> Comparison | None:
    """None: no turn has both."""
    pairs = [
        (statistics.median(turn[base]), statistics.median(turn[arm]))
        for turn in turns
        if turn.get(base) and turn.get(arm)
    ]
    if not pairs:
        return None
    before, after = (statistics.median(times) for times in zip(*pairs))
    return Comparison(before, after, ratio(pairs), any(turn.get(arm) == [] for turn in turns))


@dataclass(frozen=True)
class Verdict:
    place: Place
    way: str
    predicted: float  # share of the time that is saved
    found: Comparison


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
    for number in range(_TURNS):
        left = end - progress.elapsed()
        if number >= LEAST_TURNS and left <= 0:
            return
        share = max(left / (_TURNS - number) / len(arms), _LEAST_SECONDS)
        turn: dict[Place, Turn] = {}
        for arm in order.sample(arms, len(arms)):
            progress.stage(f"{ranks} ranks: turn {number + 1} {arm.words}")
            shuffled = order.sample(places, len(places))
            plan = [Entry(name, size, _CALLS, "- mpi") for _, name, size in shuffled]
            found = jobs.measure(ranks, plan, arm.environment, share, share / len(plan), prefix=arm.prefix)
            for index, measured in found.items():
                place = shuffled[index]
                turn.setdefault(place, {})[arm.name] = [] if measured.fault else measured.times
                if measured.fault:
                    _, operation, size = place
                    warn(f"{operation}, {units.size(size)} bytes, {ranks} ranks, {arm.words}: {measured.fault}")
        for place, times in turn.items():
            record.verified.setdefault(place, []).append(times)


def verdicts(
    record: Record, chosen: Mapping[Place, str], arm: str = TUNED, in_file: Mapping[Place, str] | None = None
) -> list[Verdict]:
    """Without those places that there was no time for. Weft stands against the MPI with its file, if there is one:
    `in_file` has the ways in it."""
    found = []
    for place, way in chosen.items():
        turns = record.verified.get(place, [])
        tuned = arm != TUNED and any(turn.get(TUNED) for turn in turns)
        compared = compare(turns, TUNED if tuned else DEFAULT_NAME, arm)
        if compared is None:
            continue
        estimates = record.estimates(place)
        before = (in_file or {}).get(place, DEFAULT_NAME)
        predicted = 1 - estimates[way].median / estimates[before].median
        found.append(Verdict(place, way, predicted, compared))
    return found
