# SPDX-License-Identifier: Apache-2.0
"""Medians with a confidence interval that assumes nothing of the distribution (order statistics)."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

# Samples further from the quartiles than this many times their distance are reported as outliers. They are counted in.
_FENCE = 3.0
_Z = 1.96
_ERROR = 0.05


@dataclass(frozen=True)
class Estimate:
    median: float
    low: float
    high: float
    count: int
    outliers: int = 0


def interval(ordered: Sequence[float]) -> tuple[float, float]:
    """Of the median, at 95 %: between two of the samples. With few samples, all of them."""
    count = len(ordered)
    half = _Z * math.sqrt(count) / 2
    low = math.floor(count / 2 - half)
    high = math.ceil(count / 2 + half)
    return ordered[max(low, 0)], ordered[min(high, count - 1)]


def count_outliers(ordered: Sequence[float]) -> int:
    if len(ordered) < 8:
        return 0
    first, _, third = statistics.quantiles(ordered, n=4)
    reach = _FENCE * (third - first)
    return sum(1 for value in ordered if value < first - reach or value > third + reach)


def estimate(samples: Sequence[float]) -> Estimate:
    ordered = sorted(samples)
    low, high = interval(ordered)
    return Estimate(statistics.median(ordered), low, high, len(ordered), count_outliers(ordered))


def mean_of_paper(samples: Sequence[float]) -> Estimate:
    """The paper's: the mean, without the first call. No interval: it gives none."""
    mean = statistics.fmean(samples[1:] or samples)
    return Estimate(mean, mean, mean, len(samples))


@dataclass(frozen=True)
class Ratio:
    """Of two times that belong together, over several turns."""

    median: float
    low: float
    high: float
    count: int


def _signs(count: int, error: float) -> int:
    """How many of the ordered values on each side lie outside of the interval of the sign test."""
    outside, chance = 0, 0.5**count
    while 2 * chance <= error:
        outside += 1
        chance += math.comb(count, outside) * 0.5**count
    return max(outside - 1, 0)


def ratio(pairs: Sequence[tuple[float, float]], error: float = _ERROR) -> Ratio:
    """What the second ones are of the first ones. `error`: the chance that the interval is wrong. With few turns
    it is all of them, and wrong more often: six are the least for 95 %."""
    ordered = sorted(after / before for before, after in pairs)
    outside = _signs(len(ordered), error)
    return Ratio(statistics.median(ordered), ordered[outside], ordered[-1 - outside], len(ordered))
