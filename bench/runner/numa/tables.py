# SPDX-License-Identifier: Apache-2.0
"""The tables of `bench/run numa`, in the form of the source paper's."""

import dataclasses
import statistics
from collections.abc import Iterable
from typing import Any

from rich.console import Console

from ..frame import report
from .cases import Case, Samples

MEGABYTE = 1 << 20


def median_of(results: list[dict[str, Any]], what: str) -> float:
    return statistics.median(result[what] for result in results)


def speedups(console: Console, samples: Samples, names: list[str]) -> None:
    """T without threads, then T and S by threads. S is over the best T without threads of this size."""
    threads = sorted({case.threads for _, case in samples})
    columns = [column for count in threads for column in (f"T{count}", f"S{count}")]
    for name in names:
        table = []
        for rows, first_touch, ways in _rows(samples, name):
            alone = [
                median_of(results, "alone_s")
                for (of, case), results in samples.items()
                if of == name and case.rows == rows and case.first_touch == "serial"
            ]
            serial = min(alone, default=0.0)
            cells = [_seconds(serial)]
            for count in threads:
                found = _find(samples, name, (rows, first_touch, ways), count)
                time = median_of(found, "together_s") if found else 0.0
                cells += [_seconds(time), f"{serial / time:.2f}"] if time > 0 else ["", ""]
            table.append((f"{rows} ({_size(rows)})", first_touch, ways, *cells))
        title = f"{name}: seconds of a product, and speed-up"
        console.print(report.table(title, (*_ROW, "T", *columns), table, left=3))


def accesses(console: Console, samples: Samples, names: list[str]) -> None:
    """What all threads together access in one product, with the most threads."""
    most = max((case.threads for _, case in samples), default=0)
    table = []
    for row in dict.fromkeys(row for name in names for row in _rows(samples, name)):
        for name in names:
            found = _find(samples, name, row, most)
            if not found:
                continue
            remote, local = (median_of(found, f"{what}_bytes") for what in ("remote", "local"))
            cells = [name, f"{row[0]} ({_size(row[0])})", *row[1:]]
            cells += [f"{remote / MEGABYTE:.1f}", f"{local / MEGABYTE:.1f}", f"{remote / local:.2f}" if local else ""]
            cells += [f"{100 * median_of(found, what):.1f} %" for what in ("remote_before", "remote")]
            cells += [f"{median_of(found, 'migrated'):.0f}", _seconds(median_of(found, "together_s"))]
            table.append([*cells, f"{median_of(found, 'gflops'):.2f}"])
    title = f"{most} threads: memory accessed on other nodes (RMA) and on the own (LMA), MB in a product"
    accessed = ("RMA", "LMA", "RMA/LMA", "remote at first", "remote", "pages moved", "seconds", "GFLOP/s")
    console.print(report.table(title, ("runtime", *_ROW, *accessed), table, left=4))


def as_json(samples: Samples) -> list[dict[str, Any]]:
    return [
        {"runtime": name, **dataclasses.asdict(case), "results": results} for (name, case), results in samples.items()
    ]


_ROW = ("matrix", "first touch", "threads are")
_Row = tuple[int, str, str]


def _rows(samples: Samples, name: str) -> Iterable[_Row]:
    return dict.fromkeys(_row(case) for of, case in samples if of == name)


def _row(case: Case) -> _Row:
    return case.rows, case.first_touch, case.ways()


def _find(samples: Samples, name: str, row: _Row, threads: int) -> list[dict[str, Any]]:
    return next(
        (
            results
            for (of, case), results in samples.items()
            if of == name and case.threads == threads and _row(case) == row
        ),
        [],
    )


def _size(rows: int) -> str:
    megabytes = rows * rows * 8 / MEGABYTE
    return f"{megabytes / 1024:.1f} GiB" if megabytes >= 1024 else f"{megabytes:.0f} MiB"


def _seconds(value: float) -> str:
    return f"{value:.4f}" if value >= 0.01 else f"{value:.6f}"
