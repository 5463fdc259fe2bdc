# SPDX-License-Identifier: Apache-2.0
"""Nested BLAS: problems, and how many threads outside and inside, tuned by hand under the peers, untuned under weft."""

import argparse
import dataclasses
import statistics
from collections.abc import Mapping
from typing import Any

from ..frame import options

Split = tuple[int, int]  # threads outside x inside

UNTUNED: Split = (0, 0)  # nothing is said
TOO_MANY: Split = (16, 16)
REPEATS = 24


@dataclasses.dataclass(frozen=True)
class Problem:
    routine: str
    type: str
    first: int
    last: int
    step: int
    tail: bool  # few large iterations, the largest last: the outer loop leaves CPUs idle at its end
    schedule: str = "dynamic"

    @property
    def name(self) -> str:
        return f"{self.type}{self.routine}"

    @property
    def label(self) -> str:
        return f"{self.name} {self.first}..{self.last} by {self.step}"

    def arguments(self, split: Split, repeat: int) -> list[object]:
        return [
            *("--routine", self.routine, "--type", self.type, "--schedule", self.schedule, "--check"),
            *("--from", self.first, "--to", self.last, "--step", self.step),
            *("--out", split[0], "--in", split[1], "--repeat", repeat),
        ]


DEMO = [Problem("gemm", "d", 200, 800, 150, tail=True), Problem("symm", "d", 160, 480, 20, tail=False)]
SMOKE = [Problem("gemm", "d", 100, 200, 50, tail=True), Problem("hemm", "z", 60, 100, 20, tail=False)]


def every_kind() -> list[Problem]:
    kinds = [(routine, type_) for routine in ("gemm", "symm", "trsm", "syrk") for type_ in "sdcz"]
    kinds += [("hemm", type_) for type_ in "cz"]
    return [
        problem
        for routine, type_ in kinds
        for problem in (
            Problem(routine, type_, 200, 700, 125, tail=True),
            Problem(routine, type_, 160, 480, 40, tail=False),
        )
    ]


def chosen(parser: argparse.ArgumentParser, only: list[str], among: list[Problem]) -> list[Problem]:
    """Of these problems those that --only names, or all."""
    options.check(parser, "--only", only, dict.fromkeys(problem.name for problem in every_kind()))
    return [problem for problem in among if not only or problem.name in only]


def halves(result: Mapping[str, Any]) -> tuple[list[float], list[float]]:
    """The first runs of a process find cold caches, and weft still tries how calls go best: the others count."""
    samples = result["time"]["samples"]
    return samples[: len(samples) // 2], samples[len(samples) // 2 :]


def hand_tuned(count: int) -> list[Split]:
    """As the source paper did it: 1 x 1, all outside x inside whose product is the CPUs, and all of both."""
    products = [(out, count // out) for out in range(1, count + 1) if count % out == 0]
    return list(dict.fromkeys([(1, 1), *products, (count, count)]))


@dataclasses.dataclass(frozen=True)
class Best:
    time: float
    runtime: str
    split: Split


@dataclasses.dataclass
class Result:
    problem: Problem
    times: dict[tuple[str, Split], list[float]] = dataclasses.field(default_factory=dict)
    # The first half of each process's repeats, which does not count.
    early: dict[tuple[str, Split], list[float]] = dataclasses.field(default_factory=dict)
    operations: float = 0.0
    peak_threads: dict[tuple[str, Split], int] = dataclasses.field(default_factory=dict)

    def take(self, runtime: str, split: Split, result: Mapping[str, Any]) -> None:
        key = (runtime, split)
        early, late = halves(result)
        self.early.setdefault(key, []).extend(early)
        self.times.setdefault(key, []).extend(late)
        self.peak_threads[key] = max(self.peak_threads.get(key, 0), int(result["peak_threads"]))
        self.operations = result["operations"]

    def median(self, runtime: str, split: Split) -> float | None:
        samples = self.times.get((runtime, split))
        return statistics.median(samples) if samples else None

    def serial(self) -> float | None:
        """The best 1 x 1 of any runtime: what speed-ups are relative to."""
        return min((statistics.median(t) for (_, split), t in self.times.items() if split == (1, 1)), default=None)

    def best(self, runtime: str | None, without: set[Split]) -> Best | None:
        """Of this runtime, or of any."""
        found = [
            Best(statistics.median(samples), name, split)
            for (name, split), samples in self.times.items()
            if samples and runtime in (None, name) and split not in without
        ]
        return min(found, key=lambda best: best.time, default=None)

    def best_tuned(self) -> Best | None:
        """The best that tuning by hand finds, under any runtime."""
        return self.best(None, {UNTUNED, TOO_MANY})

    def best_of(self, runtime: str) -> Best | None:
        return self.best(runtime, {TOO_MANY})


def describe(split: Split) -> str:
    return "untuned" if split == UNTUNED else f"{split[0]} x {split[1]}"
