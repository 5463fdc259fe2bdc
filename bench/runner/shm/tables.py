# SPDX-License-Identifier: Apache-2.0
"""The tables of locks and stores between processes for docs/reference/performance.md, from the JSON of a run."""

import statistics
from typing import Any

from ..frame import markdown
from ..frame.spread import short
from . import measures

STORE_ROWS = ("get", "miss", "put", *(f"beside: {name}" for name in ("get_p50", "get_p99", "get_p999", "puts")))

Medians = dict[tuple[str, str, str], float]


def _table(head: list[str], rows: list[list[str]]) -> str:
    return "\n".join(markdown.table(head, rows)) + "\n"


def _medians(results: dict[str, Any]) -> Medians:
    return {(entry["policy"], entry["runtime"], entry["measure"]): entry["median"] for entry in results["results"]}


def _names(medians: Medians) -> list[str]:
    return list(dict.fromkeys(name for _, name, _ in medians))


def locks(results: dict[str, Any]) -> str:
    medians = _medians(results)
    names = _names(medians)

    def value(pace: str, name: str, measure: str, readers: int) -> float | None:
        return medians.get((pace, name, measures.key(measure, readers)))

    parts = ["One read lock and unlock without a writer, ns:\n"]
    reads = [[name, *(short(value(measures.NO_WRITER, name, "read", n)) for n in measures.ALONE)] for name in names]
    parts.append(_table(["algorithm", "1 reader", "2 readers"], reads))
    counts = [n for n in measures.READERS if any(measure.endswith(measures.key("", n)) for _, _, measure in medians)]
    for measure, title in measures.LOCK_TABLES:
        for pace in measures.PACES:
            rows = []
            for name in names:
                cells = []
                for n in counts:
                    own, norm = (value(pace, one, measure, n) for one in (name, measures.NORM))
                    cells.append(f"{short(own)} ({own / norm:.3g})" if own and norm else short(own))
                rows.append([name, *cells])
            parts.append(f"{title[0].upper()}{title[1:]}, {pace}, by readers; in brackets over {measures.NORM}:\n")
            parts.append(_table(["algorithm", *map(str, counts)], rows))
    return "\n".join(parts)


def stores(results: dict[str, Any]) -> str:
    medians = _medians(results)
    names = _names(medians)
    parts = []
    if medians:
        keys = list(dict.fromkeys((measure, policy) for policy, _, measure in medians))
        rows = [
            [*key, *(short(medians.get((key[1], name, key[0]))) for name in names)]
            for measure in STORE_ROWS
            for key in keys
            if key[0] == measure
        ]
        parts += ["ns of one call; `puts`: reached per second:\n", _table(["what", "case", *names], rows)]
    if results["python"]:
        calls = list(dict.fromkeys(call for found in results["python"].values() for call in found))
        rows = [
            [name, *(short(statistics.median(found[call])) if call in found else "" for call in calls)]
            for name, found in results["python"].items()
        ]
        parts += ["From Python, ns of one call:\n", _table(["store", *calls], rows)]
    for unit, statistic in measures.PHASE_TABLES if results["phases"] else ():
        at = measures.STATISTICS.index(statistic)
        rows = [
            [name, *(short(found[phase][unit][at]) if phase in found else "-" for phase in measures.PHASES)]
            for name, found in results["phases"].items()
        ]
        parts += [f"One get by phases, {unit}, {statistic}:\n", _table(["whose", *measures.PHASES], rows)]
    return "\n".join(parts)
