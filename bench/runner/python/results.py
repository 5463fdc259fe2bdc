# SPDX-License-Identifier: Apache-2.0
"""Results as plain data, which is what the JSON holds and what tables and figures are made of."""

from collections.abc import Iterable
from typing import Any

from ..frame.spread import summary
from . import modes
from .session import Cell, Session
from .workloads import NODE

Data = dict[str, Any]
Entry = dict[str, Any]  # of one workload under one mode


def collect(session: Session) -> Data:
    entries = []
    for workload in session.workloads:
        for mode in session.modes:
            cell = session.cells.get((workload.name, mode.name))
            if cell:
                entries.append({"workload": workload.name, "mode": mode.name} | _entry(cell))
    return {
        "modes": [{"name": mode.name, "title": mode.title} for mode in session.modes],
        "workloads": [
            {"name": workload.name, "title": workload.title, "study": workload.study, "x": workload.x}
            for workload in session.workloads
        ],
        "results": entries,
    }


def _entry(cell: Cell) -> Entry:
    reasons = {"cut_seconds": cell.cut_seconds, "missing": cell.missing, "failed": cell.failed}
    found = {name: value for name, value in reasons.items() if value}
    # A mode that failed once is not measured, whatever its other rounds were.
    if cell.samples and not found:
        found |= summary(cell.samples)
    return found | {"counted": cell.samples, "details": cell.details}


def table_of(data: Data) -> dict[tuple[str, str], Entry]:
    return {(entry["workload"], entry["mode"]): entry for entry in data["results"]}


def median(entry: Entry | None) -> float | None:
    return entry.get("median") if entry else None


def names(rows: Iterable[Data]) -> list[str]:
    return [row["name"] for row in rows]


def ratios(data: Data, workload: str) -> tuple[float | None, float | None]:
    """weft's default mode over the best other mode, and over the untouched default; less is better."""
    found = table_of(data)
    own = median(found.get((workload, modes.OWN)))
    untouched = median(found.get((workload, modes.DEFAULT)))
    others = [median(found.get((workload, name))) for name in names(data["modes"]) if name != modes.OWN]
    measured = [value for value in others if value is not None]
    if own is None:
        return None, None
    return own / min(measured) if measured else None, own / untouched if untouched else None


def node_ideal(data: Data, mode: str) -> dict[int, float]:
    """By the number of processes: what they take one after the other, each alone, in the same mode."""
    found = table_of(data)
    points = {row["x"]: row["name"] for row in data["workloads"] if row["study"] == NODE}
    alone = median(found.get((points.get(1, ""), mode)))
    return {count: count * alone for count in sorted(points)} if alone else {}


def studies(data: Data) -> dict[str, list[Data]]:
    """The workloads of each study, by x."""
    found: dict[str, list[Data]] = {}
    for row in sorted(data["workloads"], key=lambda row: row["x"]):
        if row["study"]:
            found.setdefault(row["study"], []).append(row)
    return found
