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
        return self.after.below(self.before) and self.real[0] > MARGIN / 2


def verify(
    jobs: Jobs,
    record: Record,
    progress: Progress,
    places: Sequence[Place],
    environment: Mapping[str, str],
    seconds: float,
) -> None:
    ranks = places[0][0]
    end = progress.elapsed() + seconds
    order = random.Random(1)
    for turn in range(_TURNS):
        left = end - progress.elapsed()
        if turn >= _LEAST_TURNS and left <= 0:
            return
        share = max(left / (_TURNS - turn) / 2, 1.0)
        arms = [("default", {}), ("tuned", environment)]
        order.shuffle(arms)
        for arm, variables in arms:
            progress.stage(f"{ranks} ranks: turn {turn + 1} {'with' if arm == 'tuned' else 'without'} the file")
            shuffled = list(places)
            order.shuffle(shuffled)
            plan = [Entry(name, size, _CALLS, "- mpi") for _, name, size in shuffled]
            found = jobs.measure(ranks, plan, variables, share, share / len(plan))
            for number, measured in found.items():
                both = record.verified.setdefault(shuffled[number], {"default": [], "tuned": []})
                both[arm] += measured.times


def verdicts(record: Record, chosen: Mapping[Place, str]) -> list[Verdict]:
    """Without those places that there was no time for."""
    found = []
    for place, way in chosen.items():
        both = record.verified.get(place, {"default": [], "tuned": []})
        if not both["default"] or not both["tuned"]:
            continue
        estimates = record.estimates(place)
        predicted = 1 - estimates[way].median / estimates["default"].median
        found.append(Verdict(place, way, predicted, estimate(both["default"]), estimate(both["tuned"])))
    return found
