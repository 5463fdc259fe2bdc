# SPDX-License-Identifier: Apache-2.0
"""Median and spread of samples, and numbers as people read them."""

import statistics
from collections.abc import Iterable


def summary(samples: Iterable[float]) -> dict[str, float]:
    """Median, and the values that nine in ten samples are above and below."""
    ordered = sorted(samples)
    last = len(ordered) - 1
    return {
        "median": statistics.median(ordered),
        "p10": ordered[round(0.1 * last)],
        "p90": ordered[round(0.9 * last)],
        "samples": len(ordered),
    }


def short(value: float | None) -> str:
    """Three digits, and all before the point. None: there is no value."""
    if value is None:
        return ""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def with_range(samples: Iterable[float], form: str) -> str:
    """The median, and between which values eight in ten samples are."""
    values = summary(samples)
    return f"{values['median']:{form}} ({values['p10']:{form}} .. {values['p90']:{form}})"


def with_extremes(samples: list[float], form: str = ".3f") -> str:
    """The median, and the least and the most: of a few ratios."""
    return f"{statistics.median(samples):{form}} ({min(samples):{form}} .. {max(samples):{form}})"
