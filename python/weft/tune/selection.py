# SPDX-License-Identifier: Apache-2.0
"""Which way is taken for which size. The default stays where another way is not certainly and clearly faster."""

from __future__ import annotations

import math
from collections.abc import Mapping

from .stats import Estimate
from .ways import DEFAULT_NAME

# By how much another way must be faster than the default.
MARGIN = 0.05

# Where sizes this small were measured, the same holds for all that are smaller.
_SMALL = 8

BySize = Mapping[int, Mapping[str, Estimate]]


def clearly_faster(way: Estimate, than: Estimate, margin: float = MARGIN) -> bool:
    """Certainly: by more than the margin from one interval to the other."""
    return way.high < than.low * (1 - margin)


def best_of(ways: Mapping[str, Estimate], margin: float = MARGIN) -> str:
    default = ways[DEFAULT_NAME]
    better = [name for name, way in ways.items() if name != DEFAULT_NAME and clearly_faster(way, default, margin)]
    return min(better, key=lambda name: ways[name].median, default=DEFAULT_NAME)


def _as_good(name: str, best: str, ways: Mapping[str, Estimate], margin: float) -> bool:
    """It may stand in for the best: clearly faster than the default as well, and not clearly slower than the best."""
    if name not in ways or name == DEFAULT_NAME or not clearly_faster(ways[name], ways[DEFAULT_NAME], margin):
        return False
    return not clearly_faster(ways[best], ways[name], margin)


def select(measured: BySize, margin: float = MARGIN) -> dict[int, str]:
    """By size the name of the way. Where several are as good, the one of the next smaller size: fewer rules."""
    sizes = sorted(size for size in measured if DEFAULT_NAME in measured[size])
    chosen = {size: best_of(measured[size], margin) for size in sizes}
    for before, size in zip(sizes, sizes[1:]):
        name = chosen[size]
        if name != DEFAULT_NAME and _as_good(chosen[before], name, measured[size], margin):
            chosen[size] = chosen[before]
    return chosen


def select_whole(measured: BySize, margin: float = MARGIN) -> dict[int, str]:
    """For an operation that can be tuned for all sizes only or not at all: the best of the other ways at each size, if
    none is clearly slower than the default and some are clearly faster. Empty: keep the default."""
    chosen: dict[int, str] = {}
    gains = False
    for size, ways in sorted(measured.items()):
        others = {name: way for name, way in ways.items() if name != DEFAULT_NAME}
        if DEFAULT_NAME not in ways or not others:
            return {}
        best = min(others, key=lambda name: others[name].median)
        if clearly_faster(ways[DEFAULT_NAME], others[best], margin):
            return {}
        gains = gains or clearly_faster(others[best], ways[DEFAULT_NAME], margin)
        chosen[size] = best
    if not gains:
        return {}
    sizes = sorted(chosen)
    for before, size in zip(sizes, sizes[1:]):
        neighbour, ways = chosen[before], measured[size]
        # An interval of the best that is wide hides a neighbour that certainly loses against the default.
        ahead = (ways[name] for name in (chosen[size], DEFAULT_NAME))
        if neighbour in ways and not any(clearly_faster(way, ways[neighbour], margin) for way in ahead):
            chosen[size] = neighbour
    return chosen


def thresholds(chosen: Mapping[int, str]) -> list[tuple[int, str]]:
    """From how many bytes on each way holds: half way to the measured sizes on both sides. Below the smallest and
    beyond the largest the default does."""
    sizes = sorted(chosen)
    found: list[tuple[int, str]] = [(0, DEFAULT_NAME)] if sizes and sizes[0] > _SMALL else []
    for i, size in enumerate(sizes):
        name = chosen[size]
        start = math.isqrt(sizes[i - 1] * size) + 1 if i > 0 else size if found else 0
        if not found or found[-1][1] != name:
            found.append((start, name))
    if found and found[-1][1] != DEFAULT_NAME and sizes[-1] > 0:
        found.append((sizes[-1] + 1, DEFAULT_NAME))
    return found
