# SPDX-License-Identifier: Apache-2.0
"""Nested BLAS: how many threads outside and inside, tuned by hand under the peers, untuned under weft."""
import collections
import dataclasses
import pathlib
import statistics
from typing import Any

from . import process
from .runtimes import Runtime


@dataclasses.dataclass(frozen=True)
class Problem:
    routine: str
    type: str
    start: int
    end: int
    step: int
    schedule: str = "dynamic"

    @property
    def label(self) -> str:
        return f"{self.type}{self.routine} {self.start}..{self.end} by {self.step}, {self.schedule}"

    def command(self, program: pathlib.Path, split: tuple[int, int], repeat: int) -> list[Any]:
        return [program, "--routine", self.routine, "--type", self.type, "--from", self.start, "--to", self.end,
                "--step", self.step, "--schedule", self.schedule, "--out", split[0], "--in", split[1],
                "--repeat", repeat, "--check"]


# Few, large, unequal iterations: the outer loop has a tail. And many: it has none to speak of.
DEMO = [Problem("gemm", "d", 200, 800, 150), Problem("symm", "d", 160, 480, 20)]
UNTUNED = (0, 0)
TOO_MANY = (16, 16)


def every_kind() -> list[Problem]:
    kinds = [(r, t) for r in ("gemm", "symm", "trsm", "syrk") for t in "sdcz"] + [("hemm", t) for t in "cz"]
    return [Problem(r, t, *sizes) for r, t in kinds for sizes in ((200, 700, 125), (160, 480, 40))]


def splits(cpus: int) -> list[tuple[int, int]]:
    """Hand tuning as the source paper did it: all outside x inside whose product is the CPUs, and all of both."""
    products = [(out, cpus // out) for out in range(1, cpus + 1) if cpus % out == 0]
    return [(1, 1), *products, (cpus, cpus)]


@dataclasses.dataclass
class Result:
    problem: Problem
    serial: float
    times: dict[tuple[str, tuple[int, int]], list[float]]

    def median(self, runtime: str, split: tuple[int, int]) -> float | None:
        samples = self.times.get((runtime, split))
        return statistics.median(samples) if samples else None

    def best_tuned(self) -> tuple[float, str, tuple[int, int]]:
        tuned = [(statistics.median(t), name, split) for (name, split), t in self.times.items()
                 if split not in (UNTUNED, TOO_MANY)]
        return min(tuned)


def measure(problem: Problem, program: pathlib.Path, runtimes: list[Runtime], cpus: int, rounds: int, repeat: int,
            step: Any) -> Result:
    """`step(text)` is called before each process."""
    plan = [(runtime, split) for split in splits(cpus) for runtime in runtimes]
    plan += [(runtime, split) for runtime in runtimes if runtime.name == "weft" for split in (UNTUNED, TOO_MANY)]
    times: dict[tuple[str, tuple[int, int]], list[float]] = collections.defaultdict(list)
    for _ in range(rounds):
        for runtime, split in plan:
            step(f"{problem.label}: {runtime.name} {split[0]}x{split[1]}")
            result = process.run(runtime, problem.command(program, split, repeat))
            # The first runs of a process find cold caches, and weft still tries how calls go best.
            samples = result["time"]["samples"]
            times[runtime.name, split] += samples[len(samples) // 2:]
    serial = min(statistics.median(t) for (_, split), t in times.items() if split == (1, 1))
    return Result(problem, serial, dict(times))


def processes(problems: int, runtimes: int, cpus: int, rounds: int, weft: bool) -> int:
    return problems * rounds * (len(splits(cpus)) * runtimes + (2 if weft else 0))
