# SPDX-License-Identifier: Apache-2.0
"""What an algorithm should cost by Hockney's model: a message of m bytes takes alpha + beta m.

Ranks have several levels of distance between them. An algorithm in rounds, in which all ranks take part, goes at the
pace of the slowest level that there is. The model only says what need not be measured.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_SMALL = 64
_LARGE = 32768
# The share of alpha that goes by while a rank can already post the next message.
_OVERLAP = 0.5
# A reduction reads and adds what has come.
_ADD = 0.5


@dataclass(frozen=True)
class Level:
    name: str
    pairs: int
    alpha: float  # nanoseconds
    beta: float  # nanoseconds for a byte
    flag: float  # tW: until another rank sees a flag; 0: ranks share no memory
    copy: float  # t: to copy a byte out of shared memory

    def fragment(self, memory: int) -> tuple[float, float]:
        """The bytes f of a buffer of a queue in that many bytes of memory, and how many there are: s."""
        size = math.sqrt(memory * self.flag / self.copy)
        return size, memory / size


def level_of(line: Mapping[str, Any]) -> Level:
    points = line["points"]
    alpha = statistics.median(time for count, time in points if count <= _SMALL)
    slopes = [(time - alpha) / count for count, time in points if count >= _LARGE]
    beta = max(statistics.median(slopes), 1e-4)
    if line["flag"] > 0 and line["copy"] <= 0:
        raise ValueError("copy")
    return Level(line["level"], line["pairs"], alpha, beta, line["flag"], line["copy"])


def _rounds(count: int) -> int:
    return max(1, math.ceil(math.log2(count)))


@dataclass(frozen=True)
class Cost:
    """Formulas take these."""

    ranks: int
    size: int
    segment: int
    alpha: float
    beta: float

    def message(self, size: float) -> float:
        return self.alpha + self.beta * size


Formula = Callable[[Cost], float]


def _linear(messages: Callable[[Cost], int]) -> Formula:
    def cost(c: Cost) -> float:
        count = messages(c)
        return c.alpha * (1 + _OVERLAP * (count - 1)) + c.beta * c.size * count

    return cost


def _pairwise(c: Cost) -> float:
    return (c.ranks - 1) * c.message(c.size)


def _bruck(radix: int) -> Formula:
    def cost(c: Cost) -> float:
        total = 0.0
        weight = 1
        while weight < c.ranks:
            for digit in range(1, radix):
                blocks = sum(1 for i in range(c.ranks) if i // weight % radix == digit)
                if blocks:
                    total += c.message(c.size * blocks) + c.beta * c.size * blocks
            weight *= radix
        return total

    return cost


def _tree(c: Cost) -> float:
    return _rounds(c.ranks) * c.message(c.size)


def _pipeline(depth: Callable[[int], int], children: int) -> Formula:
    def cost(c: Cost) -> float:
        segment = c.segment if 0 < c.segment < c.size else max(c.size, 1)
        parts = math.ceil(max(c.size, 1) / segment)
        return (depth(c.ranks) + parts - 1) * children * c.message(segment)

    return cost


def _ring_of_parts(rounds: Callable[[int], int], passes: int) -> Formula:
    """The vector in as many parts as there are ranks."""

    def cost(c: Cost) -> float:
        return rounds(c.ranks) * c.alpha + passes * c.beta * c.size * (c.ranks - 1) / c.ranks

    return cost


def _doubling_of_blocks(c: Cost) -> float:
    return _rounds(c.ranks) * c.alpha + (c.ranks - 1) * c.beta * c.size


def _others(c: Cost) -> int:
    return c.ranks - 1


_CHAIN = _pipeline(lambda ranks: ranks - 1, 1)
_BINARY = _pipeline(_rounds, 2)

_FORMULAS: dict[str, dict[str, Formula]] = {
    "alltoall": {
        "linear": _linear(_others),
        "scattered": _linear(_others),
        "linear_sync": _linear(_others),
        "pairwise": _pairwise,
        "modified_bruck": _bruck(2),
        "brucks": _bruck(2),
        "two_proc": _pairwise,
    },
    "bcast": {
        "basic_linear": _linear(_others),
        "pipeline": _CHAIN,
        "binary_tree": _BINARY,
        "split_binary_tree": _BINARY,
        "binomial": _tree,
        "scatter_allgather": _ring_of_parts(lambda ranks: 2 * _rounds(ranks), 2),
        "scatter_recursive_doubling_allgather": _ring_of_parts(lambda ranks: 2 * _rounds(ranks), 2),
        "scatter_allgather_ring": _ring_of_parts(lambda ranks: _rounds(ranks) + ranks - 1, 2),
        "scatter_ring_allgather": _ring_of_parts(lambda ranks: _rounds(ranks) + ranks - 1, 2),
    },
    "reduce": {
        "linear": _linear(_others),
        "pipeline": _CHAIN,
        "binary": _BINARY,
        "binomial": _tree,
        "rabenseifner": _ring_of_parts(lambda ranks: 2 * _rounds(ranks), 2),
        "reduce_scatter_gather": _ring_of_parts(lambda ranks: 2 * _rounds(ranks), 2),
    },
    "allreduce": {
        "nonoverlapping": lambda c: 2 * _tree(c),
        "recursive_doubling": _tree,
        "ring": _ring_of_parts(lambda ranks: 2 * (ranks - 1), 2),
        "segmented_ring": _ring_of_parts(lambda ranks: 2 * (ranks - 1), 2),
        "rabenseifner": _ring_of_parts(lambda ranks: 2 * _rounds(ranks), 2),
        "reduce_scatter_allgather": _ring_of_parts(lambda ranks: 2 * _rounds(ranks), 2),
    },
    "allgather": {
        "bruck": _doubling_of_blocks,
        "brucks": _doubling_of_blocks,
        "recursive_doubling": _doubling_of_blocks,
        "ring": _pairwise,
        "neighbor": lambda c: c.ranks / 2 * c.alpha + (c.ranks - 1) * c.beta * c.size,
        "two_proc": _pairwise,
    },
}


class Model:
    def __init__(self, levels: Sequence[Level], ranks: int, cpus: int) -> None:
        self.levels = list(levels)
        self._ranks = ranks
        # Ranks beyond the CPUs wait for their turn.
        self._crowd = max(1.0, ranks / cpus)
        self._alpha = max((level.alpha for level in levels), default=0.0)
        self._beta = max((level.beta for level in levels), default=0.0)

    def predict(self, operation: str, name: str, size: int, segment: int = 0) -> float | None:
        """None: there is no formula for it."""
        formula = _FORMULAS.get(operation, {}).get(name.split(",")[0])
        if formula is None and name.startswith("own ") and operation == "alltoall":
            formula = _own(name[4:])
        if formula is None or self._ranks < 2 or not self.levels:
            return None
        adds = operation in ("reduce", "allreduce")
        beta = self._beta * (1 + _ADD if adds else 1)
        return self._crowd * formula(Cost(self._ranks, size, segment, self._alpha, beta))


def _own(name: str) -> Formula | None:
    kind, _, parameter = name.partition(":")
    if kind == "bruck":
        return _bruck(int(parameter))
    return {"linear": _linear(_others), "scattered": _linear(_others), "pairwise": _pairwise}.get(kind)
