# SPDX-License-Identifier: Apache-2.0
"""What came out, as tables of text."""

from __future__ import annotations

import pathlib
from collections.abc import Mapping, Sequence

from . import units
from .comparing import LEAST_TURNS
from .console import say, warn
from .record import Place, Record
from .stats import Estimate, Ratio, mean_of_paper
from .table import table
from .verifying import Verdict
from .ways import DEFAULT_NAME


def _estimates(record: Record, place: Place, paper: bool) -> dict[str, Estimate]:
    if not paper:
        return record.estimates(place)
    found = record.samples[place]
    return {name: mean_of_paper(samples.times) for name, samples in found.items() if samples.times}


def show_measured(record: Record, chosen: Mapping[Place, str] | None = None, paper: bool = False) -> None:
    """For each operation the default, the best of the others, and what was chosen."""
    for ranks, operation in sorted({place[:2] for place in record.samples}):
        say(f"\n{operation}, {ranks} ranks" + (" (the paper's method)" if paper else ""))
        rows = []
        for size in record.sizes(ranks, operation):
            place = (ranks, operation, size)
            estimates = _estimates(record, place, paper)
            default = estimates.get(DEFAULT_NAME)
            others = sorted((e.median, name) for name, e in estimates.items() if name != DEFAULT_NAME)
            best = others[0] if others else None
            rows.append(
                [
                    units.size(size),
                    units.time(default.median) if default else "-",
                    f"{units.time(default.low)} to {units.time(default.high)}" if default and not paper else "-",
                    f"{units.time(best[0])}  {best[1]}" if best else "-",
                    chosen.get(place, DEFAULT_NAME) if chosen is not None else "",
                ]
            )
        head = ["bytes", "default", "95 % interval", "best other", "chosen" if chosen is not None else ""]
        say(table(head, rows))


def show_verdicts(
    title: str,
    columns: tuple[str, str],
    found: Sequence[Verdict],
    wanted: Mapping[Place, str],
    kept: Mapping[Place, str],
) -> None:
    """`kept` are those that the file has in the end."""
    if not wanted:
        return
    say(f"\n{title}")
    rows = []
    for verdict in sorted(found, key=lambda verdict: (verdict.place[1], verdict.place[0], verdict.place[2])):
        ranks, operation, size = verdict.place
        compared = verdict.found
        rows.append(
            [
                operation,
                verdict.way,
                str(ranks),
                units.size(size),
                units.time(compared.before),
                units.time(compared.after),
                units.percent(-verdict.predicted),
                str(compared.ratio.count),
                change(compared.ratio),
                _words(verdict, verdict.place in kept),
            ]
        )
    head = ["operation", "way", "ranks", "bytes", *columns, "predicted", "turns", "real time (95 %)", "so"]
    say(table(head, rows, words=2))
    undecided = sum(verdict.found.undecided for verdict in found)
    if undecided:
        say(
            f"  {undecided} undecided: by the median there is a difference, but it is not certain. More turns may "
            "tell: a longer --budget, or a machine with nothing else to do"
        )
    unverified = [place for place in wanted if place not in {verdict.place for verdict in found}]
    if unverified:
        say(f"  {len(unverified)} more could not be run again in the time that was left: the default is kept for them")


def change(found: Ratio) -> str:
    """Of the time, and its interval."""
    median, low, high = (units.percent(value - 1) for value in (found.median, found.low, found.high))
    return f"{median} ({low} to {high})"


def _words(verdict: Verdict, kept: bool) -> str:
    if kept:
        return "taken" if verdict.found.faster else "taken: all sizes or none"
    if verdict.found.faster:
        return "default: faster, but not at all sizes"
    if verdict.found.failed:
        return "default: it failed"
    if verdict.found.ratio.count < LEAST_TURNS:
        return f"default: {verdict.found.ratio.count} turns are too few"
    return "default: undecided" if verdict.found.undecided else "default"


def show_rest(record: Record, lacking: list[str], budget: float) -> None:
    for (ranks, operation, size), name, fault in record.faults():
        warn(f"{operation}, {units.size(size)} bytes, {ranks} ranks, {name}: {fault}")
    outliers = sum(e.outliers for place in record.samples for e in record.estimates(place).values())
    total = sum(len(samples.times) for ways in record.samples.values() for samples in ways.values())
    say(f"\n{total} calls measured; {outliers} of them far outside the others, counted in all the same.")
    if lacking:
        say(f"Not measured in {units.seconds(budget)}, so that nothing is said of it (a longer --budget does):")
        for line in lacking[:8]:
            say(f"  {line}")
        if len(lacking) > 8:
            say(f"  and {len(lacking) - 8} more")


def show_pictures(record: Record, chosen: Mapping[Place, str], into: pathlib.Path, paper: bool = False) -> None:
    """All that goes wrong in it is no reason to fail."""
    try:
        from .plots import draw

        files = draw(record, chosen, into, paper)
    except ImportError as error:
        warn(f"no pictures: {error}; python3 -m pip install matplotlib")
        return
    except Exception as error:
        warn(f"no pictures: {error!r}")
        return
    if files:
        say(f"Pictures: {', '.join(str(file) for file in files)} (and .svg)")
