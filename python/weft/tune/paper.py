# SPDX-License-Identifier: Apache-2.0
"""The paper's question for alltoall: from which size on is which of three kinds of algorithm the fastest?"""

from __future__ import annotations

from collections.abc import Mapping

from . import units
from .console import say
from .record import Record
from .stats import Estimate, mean_of_paper
from .table import table

KINDS = ("Bruck", "blocks", "pairwise")
# By MVAPICH's rules, and by what the paper measured on 16 nodes: below so many bytes.
_RULES = ((256, "Bruck"), (32768, "blocks"))
_FOUND = ((1024, "Bruck"), (65536, "blocks"))


def kind_of(name: str) -> str | None:
    plain = name.removeprefix("own ")
    if "bruck" in plain:
        return "Bruck"
    if plain.startswith(("linear", "scattered")):
        return "blocks"
    return "pairwise" if plain == "pairwise" else None


def by_rules(size: int, rules: tuple[tuple[int, str], ...]) -> str:
    return next((kind for below, kind in rules if size < below), "pairwise")


def best_of_kinds(estimates: Mapping[str, Estimate]) -> dict[str, float]:
    found: dict[str, float] = {}
    for name, one in estimates.items():
        kind = kind_of(name)
        if kind is not None:
            found[kind] = min(one.median, found.get(kind, one.median))
    return found


def show_thresholds(record: Record) -> None:
    for ranks in sorted({place[0] for place in record.samples if place[1] == "alltoall"}):
        rows = []
        for size in record.sizes(ranks, "alltoall"):
            samples = record.samples[(ranks, "alltoall", size)]
            found = best_of_kinds({n: mean_of_paper(s.times) for n, s in samples.items() if s.times and not s.fault})
            if not found:
                continue
            times = [units.time(found[kind]) if kind in found else "-" for kind in KINDS]
            fastest = min(found, key=lambda kind: found[kind])
            rows.append([units.size(size), *times, fastest, by_rules(size, _FOUND), by_rules(size, _RULES)])
        if rows:
            say(f"\nalltoall, {ranks} ranks: the best of each kind")
            say(table(["bytes", *KINDS, "fastest", "in the paper", "MVAPICH's rule"], rows))
