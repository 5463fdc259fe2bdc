# SPDX-License-Identifier: Apache-2.0
"""Nested BLAS: how many threads outside and inside, tuned by hand under the peers, untuned under weft."""

import collections
import dataclasses
import statistics

from .machine import cpus
from .process import Session
from .runtimes import Runtime

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
    times: dict[tuple[str, Split], list[float]]
    early: dict[tuple[str, Split], list[float]]  # the first half of each process's repeats, which does not count
    operations: float
    peak_threads: dict[tuple[str, Split], int]

    def median(self, runtime: str, split: Split) -> float | None:
        samples = self.times.get((runtime, split))
        return statistics.median(samples) if samples else None

    def serial(self) -> float | None:
        """The best 1 x 1 of any runtime: what speed-ups are relative to."""
        return min((statistics.median(t) for (_, split), t in self.times.items() if split == (1, 1)), default=None)

    def best(self, runtimes: set[str] | None, splits: set[Split] | None, without: set[Split]) -> Best | None:
        found = [
            Best(statistics.median(samples), name, split)
            for (name, split), samples in self.times.items()
            if samples
            and (runtimes is None or name in runtimes)
            and (splits is None or split in splits)
            and split not in without
        ]
        return min(found, key=lambda best: best.time, default=None)

    def best_tuned(self) -> Best | None:
        """The best that tuning by hand finds, under any runtime."""
        return self.best(None, None, {UNTUNED, TOO_MANY})

    def best_of(self, runtime: str) -> Best | None:
        return self.best({runtime}, None, {TOO_MANY})


def _plan(session: Session) -> list[tuple[Runtime, Split]]:
    plan = [(runtime, split) for split in hand_tuned(cpus()) for runtime in session.runtimes]
    plan += [(r, split) for r in session.runtimes if r.name == "weft" for split in (UNTUNED, TOO_MANY)]
    return plan


def count(session: Session, problems: list[Problem]) -> int:
    return len(problems) * session.rounds * len(_plan(session))


def measure(session: Session, problem: Problem) -> Result:
    repeat = session.repeat or (4 if session.smoke else REPEATS)
    times: dict[tuple[str, Split], list[float]] = collections.defaultdict(list)
    early: dict[tuple[str, Split], list[float]] = collections.defaultdict(list)
    peak_threads: dict[tuple[str, Split], int] = collections.defaultdict(int)
    operations = 0.0
    for _ in range(session.rounds):
        for runtime, split in _plan(session):
            session.step(f"{problem.label}: {runtime.name} {describe(split)}")
            command = [session.program("nested_blas"), *problem.arguments(split, repeat)]
            result = session.run(runtime, command)
            if not result:
                continue
            # The first runs of a process find cold caches, and weft still tries how calls go best.
            samples = result["time"]["samples"]
            key = (runtime.name, split)
            early[key] += samples[: len(samples) // 2]
            times[key] += samples[len(samples) // 2 :]
            peak_threads[key] = max(peak_threads[key], int(result["peak_threads"]))
            operations = result["operations"]
    return Result(problem, dict(times), dict(early), operations, dict(peak_threads))


def describe(split: Split) -> str:
    return "untuned" if split == UNTUNED else f"{split[0]} x {split[1]}"


def gains(results: list[Result]) -> dict[str, float]:
    """Each problem under weft with nothing tuned, over the best split that was tuned by hand."""
    found = {}
    for result in results:
        tuned, untuned = result.best_tuned(), result.median("weft", UNTUNED)
        if tuned and untuned is not None:
            found[f"{result.problem.label}, untuned / the best tuned by hand"] = untuned / tuned.time
    return found
