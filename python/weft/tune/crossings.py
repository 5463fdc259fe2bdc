# SPDX-License-Identifier: Apache-2.0
"""The sizes at which the best algorithm changes: by the model, by what was measured, and whether they agree.

Algorithms whose times differ by less than the noise are as good as each other: where one takes over from the other says
nothing then.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

# Of a time, at least.
LEAST_NOISE = 0.1
# A doubling of the size is that many steps.
_STEPS = 4

Times = Mapping[str, Mapping[int, float]]  # by algorithm and size


@dataclass(frozen=True)
class Change:
    before: str
    after: str
    size: float


@dataclass(frozen=True)
class Verdict:
    change: Change
    by_model: bool  # else it was measured
    # Where the other side has it; None: nowhere.
    other: float | None
    # How much more time the later algorithm takes, by the other side: the least that it is within a doubling.
    apart: float
    right: bool


def at(times: Mapping[int, float], size: float) -> float:
    """Between two sizes the logarithms are straight."""
    sizes = sorted(times)
    right = next((i for i, one in enumerate(sizes) if one >= size), len(sizes) - 1)
    if right == 0 or len(sizes) == 1:
        return times[sizes[right]]
    low, high = sizes[right - 1], sizes[right]
    share = min(math.log(size / low) / math.log(high / low), 1.0)
    return math.exp((1 - share) * math.log(times[low]) + share * math.log(times[high]))


def common_sizes(times: Times) -> list[int]:
    """At which all algorithms have a time: between others nobody can say which one is the best."""
    return sorted(set.intersection(*(set(of) for of in times.values()))) if times else []


def steps(sizes: Sequence[int]) -> list[float]:
    """From the smallest to the largest size, several in each doubling."""
    low, high = max(min(sizes), 1), max(sizes)
    count = max(1, round(math.log2(high / low) * _STEPS))
    return [low * (high / low) ** (i / count) for i in range(count + 1)]


def changes(times: Times, noise: float = LEAST_NOISE) -> list[Change]:
    """The best algorithm stays until another one is faster by more than the noise. That one took over where it began to
    be faster."""
    sizes = common_sizes(times)
    if len(sizes) < 2:
        return []
    found: list[Change] = []
    best = ""
    crossed: dict[str, float] = {}  # since when an algorithm has been faster than the best
    for size in steps(sizes):
        now = {name: at(of, size) for name, of in times.items()}
        if not best:
            best = min(now, key=lambda name: now[name])
        crossed = {name: crossed.get(name, size) for name, time in now.items() if time < now[best]}
        fastest = min(now, key=lambda name: now[name])
        if now[fastest] < now[best] * (1 - noise):
            found.append(Change(best, fastest, crossed[fastest]))
            best, crossed = fastest, {}
    return found


def judge(change: Change, by_model: bool, other: Times, noise: float = LEAST_NOISE) -> Verdict:
    """The change of one side, by the times of the other one."""
    before, after = other[change.before], other[change.after]
    ratios = [(size, at(after, size) / at(before, size)) for size in steps(list(before))]
    place = _crossing(ratios, change.size)
    near = [ratio for size, ratio in ratios if abs(math.log2(size / change.size)) <= 1.001]
    apart = min((ratio - 1 for ratio in near), key=abs, default=math.inf)
    within = place is not None and abs(math.log2(place / change.size)) <= 1.001
    return Verdict(change, by_model, place, apart, within or abs(apart) < noise)


def _crossing(ratios: Sequence[tuple[float, float]], wanted: float) -> float | None:
    """Of several the one nearest to the wanted size."""
    found = [size for (_, one), (size, next_) in zip(ratios, ratios[1:]) if (one >= 1) != (next_ >= 1)]
    return min(found, key=lambda size: abs(math.log(size / wanted)), default=None)


def verdicts(model: Times, measured: Times, noise: float = LEAST_NOISE) -> list[Verdict]:
    """Of the changes of both sides. One that both have counts once, as the model's."""
    names = [name for name in model if model[name].keys() & measured.get(name, {}).keys()]
    sizes = common_sizes({name: measured[name] for name in names})
    model, measured = ({name: {s: of[name][s] for s in sizes} for name in names} for of in (model, measured))
    own = changes(model, noise)
    found = [judge(change, True, measured, noise) for change in own]
    known = {(change.before, change.after) for change in own}
    found += [
        judge(one, False, model, noise) for one in changes(measured, noise) if (one.before, one.after) not in known
    ]
    return sorted(found, key=lambda one: one.change.size)
