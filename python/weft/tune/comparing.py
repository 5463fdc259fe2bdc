# SPDX-License-Identifier: Apache-2.0
"""Of turns: whether one way to start a job is faster than another one, and when there have been enough of them.

Who looks again and again until something is there finds what is not. So there are few looks, after fixed numbers of
turns, and the 5 % of error are divided among them. A run that ends between two looks, because its time is over, counts
as the next one: times say nothing of that.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from .record import Place, Turn
from .selection import MARGIN
from .stats import Ratio, ratio

# Turns, and the chance of error. The first has most of it: nearly all is decided there.
LOOKS = ((9, 0.04), (18, 0.01 / 3), (36, 0.01 / 3), (60, 0.01 / 3))
MOST_TURNS = LOOKS[-1][0]
# Fewer turns confirm nothing: by chance they could all be faster.
LEAST_TURNS = 6


@dataclass(frozen=True)
class Comparison:
    """Of two arms at one place. Those of one turn are a pair: what else went on at the time was the same for both."""

    before: float
    after: float
    ratio: Ratio
    failed: bool  # with the second one, in any turn

    @property
    def faster(self) -> bool:
        return not self.failed and self.ratio.count >= LEAST_TURNS and self.ratio.high < 1 - MARGIN

    @property
    def slower(self) -> bool:
        return self.failed or (self.ratio.count >= LEAST_TURNS and self.ratio.low > 1 + MARGIN)

    @property
    def undecided(self) -> bool:
        """More turns may tell: it looks like a difference that matters, and is not certain."""
        return abs(self.ratio.median - 1) > MARGIN and not self.faster and not self.slower


def compare(turns: Sequence[Turn], base: str, arm: str) -> Comparison | None:
    """By the first look that decides, else by the last one. None: no turn has both."""
    pairs = [
        (statistics.median(turn[base]), statistics.median(turn[arm]))
        for turn in turns
        if turn.get(base) and turn.get(arm)
    ]
    if not pairs:
        return None
    failed = any(turn.get(arm) == [] for turn in turns)
    for count, error in LOOKS:
        seen = pairs[:count]
        before, after = (statistics.median(times) for times in zip(*seen))
        found = Comparison(before, after, ratio(seen, error), failed)
        if found.faster or found.slower or len(pairs) <= count:
            break
    return found


@dataclass(frozen=True)
class Question:
    """Is the arm faster than the other one, at this place?"""

    place: Place
    base: str
    arm: str

    def is_open(self, turns: Sequence[Turn]) -> bool:
        if any(turn.get(name) == [] for turn in turns for name in (self.base, self.arm)):
            return False
        found = compare(turns, self.base, self.arm)
        return found is None or found.undecided
