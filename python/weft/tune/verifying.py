# SPDX-License-Identifier: Apache-2.0
"""Runs with the decision file and without it, in turns, each in jobs of their own as a user's would be."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from . import units
from .comparing import LEAST_TURNS, LOOKS, MOST_TURNS, Comparison, Question, compare
from .console import Progress, warn
from .jobs import Entry, Jobs
from .record import Place, Record, Turn
from .ways import DEFAULT_NAME

_CALLS = 40
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
class Verdict:
    place: Place
    way: str
    predicted: float  # share of the time that is saved
    found: Comparison


def verify(
    jobs: Jobs,
    record: Record,
    progress: Progress,
    questions: Sequence[Question],
    arms: Sequence[Arm],
    seconds: float,
) -> None:
    """Turns until all questions are answered, or the time is over. Those that a look has answered take part no more."""
    end = progress.elapsed() + seconds
    order = random.Random(1)
    looks = [count for count, _ in LOOKS]
    for number in range(MOST_TURNS):
        left = end - progress.elapsed()
        if number >= LEAST_TURNS and left <= 0:
            return
        if number in looks:
            questions = [one for one in questions if one.is_open(record.verified.get(one.place, []))]
            if not questions:
                return
        names = {name for one in questions for name in (one.base, one.arm)}
        taken = [arm for arm in arms if arm.name in names]
        places = list(dict.fromkeys(one.place for one in questions))
        turns = next(count for count in looks if count > number) - number
        share = max(left / turns / len(taken), _LEAST_SECONDS)
        title = f"turn {number + 1}" + (f", {len(places)} undecided" if number >= looks[0] else "")
        plans = [(arm, order.sample(places, len(places))) for arm in order.sample(taken, len(taken))]
        _turn(jobs, record, progress, title, plans, share)


def _turn(
    jobs: Jobs,
    record: Record,
    progress: Progress,
    title: str,
    plans: Sequence[tuple[Arm, Sequence[Place]]],
    seconds: float,
) -> None:
    turn: dict[Place, Turn] = {}
    for arm, places in plans:
        ranks = places[0][0]
        progress.stage(f"{ranks} ranks: {title} {arm.words}")
        plan = [Entry(name, size, _CALLS, "- mpi") for _, name, size in places]
        found = jobs.measure(ranks, plan, arm.environment, seconds, seconds / len(plan), prefix=arm.prefix)
        for index, measured in found.items():
            place = places[index]
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
