# SPDX-License-Identifier: Apache-2.0
"""What messages cost while all ranks are in the same operation, by size: what algorithms are made of.

A cost that is alpha + beta m for all sizes is off by a factor where an MPI goes over to another protocol, or data
leaves a cache. So each cost is a curve through the sizes that were measured.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .faults import Fault


class Curve:
    """Straight between the points, level before the first one, and beyond the last one as steep as before it. No
    message takes longer than one of more bytes: what seems to was disturbed."""

    def __init__(self, points: Iterable[Sequence[float]]) -> None:
        ordered = sorted((float(size), float(time)) for size, time in points)
        if len(ordered) < 2 or not all(math.isfinite(x) and x >= 0 for point in ordered for x in point):
            raise ValueError("points")
        self._sizes = [size for size, _ in ordered]
        self._times = [time for _, time in ordered]
        for i in range(len(ordered) - 2, -1, -1):
            self._times[i] = min(self._times[i], self._times[i + 1])

    def __call__(self, size: float) -> float:
        if size <= self._sizes[0]:
            return self._times[0]
        right = min(bisect_right(self._sizes, size), len(self._sizes) - 1)
        (x0, x1), (y0, y1) = self._sizes[right - 1 : right + 1], self._times[right - 1 : right + 1]
        return y0 + (y1 - y0) * (size - x0) / (x1 - x0)


@dataclass(frozen=True)
class Messages:
    """In nanoseconds, by bytes. The waits for a CPU are in them where there are more ranks than CPUs."""

    ping: Curve  # from one rank to another, while the others wait
    round: Curve  # all ranks exchange with one partner
    flood: Curve  # one of the messages that all ranks exchange at once
    gap: Curve  # one more message, of a rank that sends several at once
    copy: Curve  # a rank's own
    add: Curve  # of two vectors


def is_pattern(line: Mapping[str, Any]) -> bool:
    return "pattern" in line


def messages_of(lines: Iterable[Mapping[str, Any]]) -> Messages:
    """Of what the measuring program writes."""
    found = {line["pattern"]: line for line in lines if is_pattern(line)}
    patterns = ("ping", "round", "flood", "copy", "add")
    if not found.keys() >= {*patterns, "fan"}:
        raise Fault(
            "no messages between ranks of a host were measured: this MPI says that each rank is alone on its host, as "
            "one without shared memory does, and weft tune chooses by what such messages cost"
        )
    curves = {name: Curve(found[name]["points"]) for name in patterns}
    fan = found["fan"]
    more = fan["sent"] - 1
    # A message that goes by itself takes no part of the others' time.
    gap = [(size, max(time - curves["ping"](size), time / (more + 1) / 2) / more) for size, time in fan["points"]]
    return Messages(gap=Curve(gap), **curves)
