# SPDX-License-Identifier: Apache-2.0
"""What each algorithm costs, by the messages that it is made of."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from .messages import Messages


@dataclass(frozen=True)
class Call:
    ranks: int
    size: int  # as the operation counts it
    segment: int  # 0: the whole
    by: Messages

    @property
    def others(self) -> int:
        return self.ranks - 1

    @property
    def levels(self) -> int:
        return max(1, math.ceil(math.log2(self.ranks)))


# Of Open MPI's chains (openmpi.py).
_FANOUT = 4

Formula = Callable[[Call], float]


def _halves(c: Call) -> list[float]:
    """The parts of a vector that is halved again and again."""
    return [c.size / 2 ** (i + 1) for i in range(c.levels)]


# ---- alltoall ----


def _all_at_once(c: Call) -> float:
    return c.others * c.by.flood(c.size) + c.by.copy(c.size)


def _pairwise(c: Call) -> float:
    return c.others * c.by.round(c.size) + c.by.copy(c.size)


def bruck(radix: int) -> Formula:
    """Blocks are packed and unpacked in each round, and all of them turned before and behind."""

    def cost(c: Call) -> float:
        total = 2 * c.by.copy(c.ranks * c.size)
        weight = 1
        while weight < c.ranks:
            for digit in range(1, radix):
                blocks = sum(1 for i in range(c.ranks) if i // weight % radix == digit)
                if blocks:
                    total += c.by.round(c.size * blocks) + 2 * c.by.copy(c.size * blocks)
            weight *= radix
        return total

    return cost


# ---- from one to all, and back ----


def _one_by_one(c: Call) -> float:
    return c.by.ping(c.size) + (c.others - 1) * c.by.gap(c.size)


def _tree(c: Call) -> float:
    return c.levels * c.by.ping(c.size)


def _pipeline(depth: Callable[[Call], int], children: int, adds: bool = False) -> Formula:
    """The first segment goes down all the way. Then each rank gets one while it gives another one away."""

    def cost(c: Call) -> float:
        segment = c.segment if 0 < c.segment < c.size else max(c.size, 1)
        parts = math.ceil(max(c.size, 1) / segment)
        own = c.by.add(segment) if adds else 0.0
        gives = min(children, c.others) - 1
        first = c.by.ping(segment) + gives * c.by.gap(segment) + own
        relay = c.by.gap(segment) if c.ranks == 2 else c.by.round(segment)
        return depth(c) * first + (parts - 1) * (relay + gives * c.by.gap(segment) + own)

    return cost


def _depth_of_binary(c: Call) -> int:
    return max(1, math.ceil(math.log2(c.ranks + 1)) - 1)


def _chains(c: Call) -> float:
    """Several of them, from the root on."""
    count = min(_FANOUT, c.others)
    segment = c.segment if 0 < c.segment < c.size else max(c.size, 1)
    parts = math.ceil(max(c.size, 1) / segment)
    fill = math.ceil(c.others / count) * c.by.ping(segment) + (count - 1) * c.by.gap(segment)
    relay = c.by.gap(segment) if c.others == count else c.by.round(segment)
    return fill + (parts - 1) * max(relay, count * c.by.gap(segment))


_CHAIN = _pipeline(lambda c: c.others, 1)
_BINARY = _pipeline(_depth_of_binary, 2)
_SUMS_UP = _pipeline(_depth_of_binary, 2, adds=True)


def _split_binary(c: Call) -> float:
    half = max(c.size // 2, 1)
    return _BINARY(Call(c.ranks, half, c.segment, c.by)) + c.by.round(half)


def _scatter(c: Call) -> float:
    return sum(c.by.ping(part) for part in _halves(c))


def _scatter_doubling(c: Call) -> float:
    return _scatter(c) + sum(c.by.round(part) for part in _halves(c))


def _scatter_ring(c: Call) -> float:
    return _scatter(c) + c.others * c.by.round(c.size / c.ranks)


# ---- reductions ----


def _gather_and_add(c: Call) -> float:
    return _one_by_one(c) + c.others * c.by.add(c.size)


def _tree_of_sums(c: Call) -> float:
    return c.levels * (c.by.ping(c.size) + c.by.add(c.size))


def _sums_of_parts(c: Call) -> float:
    return c.by.copy(c.size) + sum(c.by.round(part) + c.by.add(part) for part in _halves(c))


def _in_order(c: Call) -> float:
    """Up a tree whose root is the last rank, which sends the result to the one that wants it."""
    return _SUMS_UP(c) + c.by.ping(c.size) * c.others / c.ranks + c.by.copy(c.size)


def _parts_to_all(c: Call) -> float:
    return _sums_of_parts(c) + sum(c.by.round(part) for part in _halves(c))


def _parts_to_one(c: Call) -> float:
    return _sums_of_parts(c) + _scatter(c)


def _doubling_of_sums(c: Call) -> float:
    """In a buffer of their own, so that they are copied into it and out of it."""
    odd = 0.0 if c.ranks & c.others == 0 else 2 * c.by.ping(c.size)
    return odd + 2 * c.by.copy(c.size) + math.floor(math.log2(c.ranks)) * (c.by.round(c.size) + c.by.add(c.size))


def _ring_of_sums(c: Call) -> float:
    part = c.size / c.ranks
    return c.others * (2 * c.by.round(part) + c.by.add(part))


# ---- allgather ----


def _doubling_of_blocks(c: Call) -> float:
    return sum(c.by.round(c.size * min(2**i, c.ranks - 2**i)) for i in range(c.levels)) + c.by.copy(c.size)


def _bruck_of_blocks(c: Call) -> float:
    return _doubling_of_blocks(c) + c.by.copy(c.size * c.ranks)


def _neighbors(c: Call) -> float:
    return c.by.round(c.size) + (c.ranks / 2 - 1) * c.by.round(2 * c.size) + c.by.copy(c.size)


def _gather_and_bcast(c: Call) -> float:
    return _one_by_one(c) + _tree(Call(c.ranks, c.size * c.ranks, 0, c.by))


FORMULAS: dict[str, dict[str, Formula]] = {
    "alltoall": {
        "linear": _all_at_once,
        "scattered": _all_at_once,
        "linear_sync": _all_at_once,
        "pairwise": _pairwise,
        "modified_bruck": bruck(2),
        "brucks": bruck(2),
        "two_proc": _pairwise,
    },
    "bcast": {
        "basic_linear": _one_by_one,
        "chain": _chains,
        "pipeline": _CHAIN,
        "binary_tree": _BINARY,
        "split_binary_tree": _split_binary,
        "binomial": _tree,
        "scatter_allgather": _scatter_doubling,
        "scatter_recursive_doubling_allgather": _scatter_doubling,
        "scatter_allgather_ring": _scatter_ring,
        "scatter_ring_allgather": _scatter_ring,
    },
    "reduce": {
        "linear": _gather_and_add,
        "in-order_binary": _in_order,
        "binomial": _tree_of_sums,
        "rabenseifner": _parts_to_one,
        "reduce_scatter_gather": _parts_to_one,
    },
    "allreduce": {
        "basic_linear": lambda c: _gather_and_add(c) + _one_by_one(c),
        "recursive_doubling": _doubling_of_sums,
        "ring": _ring_of_sums,
        "segmented_ring": _ring_of_sums,
        "rabenseifner": _parts_to_all,
        "reduce_scatter_allgather": _parts_to_all,
    },
    "allgather": {
        "linear": _gather_and_bcast,
        "bruck": _bruck_of_blocks,
        "brucks": _bruck_of_blocks,
        "recursive_doubling": _doubling_of_blocks,
        "ring": _pairwise,
        "neighbor": _neighbors,
        "two_proc": _pairwise,
    },
}


def formula_of(operation: str, way: str) -> Formula | None:
    """Of the MPI's algorithm, whatever its segments, or of an exchange of the measuring program."""
    name = way.split(",")[0]
    if operation == "alltoall" and name.startswith("own "):
        kind, _, parameter = name[4:].partition(":")
        if kind == "bruck":
            return bruck(int(parameter))
        return {"linear": _all_at_once, "scattered": _all_at_once, "pairwise": _pairwise}.get(kind)
    return FORMULAS.get(operation, {}).get(name)
