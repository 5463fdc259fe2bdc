# SPDX-License-Identifier: Apache-2.0
"""A pool of threads that all call a library which is parallel inside, with and without other programs at work. The gain
is large enough to be seen on any machine, however busy it is."""

import collections

from .machine import cpus
from .micro import computing
from .process import Session
from .targets import Key, Samples, ratio

COUNTS = (1, 8)
DEMO = (8,)


def _cases(counts: tuple[int, ...]) -> list[tuple[int, int]]:
    """Callers, and processes that compute beside them."""
    return [(callers, others) for others in (0, cpus() + 1) for callers in counts]


def count(session: Session, counts: tuple[int, ...]) -> int:
    return session.rounds * len(session.runtimes) * len(_cases(counts))


def measure(session: Session, counts: tuple[int, ...]) -> tuple[dict[Key, list[float]], dict[str, str]]:
    """All samples, and the unit of each measure."""
    samples: dict[Key, list[float]] = collections.defaultdict(list)
    units = {}
    repeat = session.repeat or (1 if session.smoke else 5)
    for _ in range(session.rounds):
        for callers, others in _cases(counts):
            name = f"{callers} callers{f', {others} programs beside' if others else ''}"
            units[name] = "ms"
            for runtime in session.runtimes:
                session.step(f"{name}: {runtime.name}")
                command = [session.program("callers"), "--repeat", repeat, f"callers_{callers}"]
                with computing(others):
                    result = session.run(runtime, command)
                if result:
                    samples["default", runtime.name, name] += result[f"callers_{callers}"]["samples"]
    return dict(samples), units


def gains(samples: Samples, runtimes: list[str]) -> dict[str, float]:
    """Each measure of weft over the best other runtime."""
    found = {}
    for _, _, name in samples:
        value = ratio(samples, runtimes, "default", name, "best")
        if value is not None:
            found[f"{name} / the best other runtime"] = value
    return found
