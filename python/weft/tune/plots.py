# SPDX-License-Identifier: Apache-2.0
"""Pictures: the time of each way over the size, and from where on which one is taken."""

from __future__ import annotations

import pathlib
from collections.abc import Mapping

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot

from . import units
from .family import NAMES
from .record import Place, Record
from .selection import thresholds
from .stats import Estimate, mean_of_paper
from .ways import DEFAULT_NAME

_MARKS = "osv^D<>pPX*hd"


def draw(record: Record, chosen: Mapping[Place, str], folder: pathlib.Path, paper: bool = False) -> list[pathlib.Path]:
    files = []
    for ranks, operation in sorted({place[:2] for place in record.samples}):
        file = folder / f"{operation}-{ranks}{'-paper' if paper else ''}.png"
        if _draw(record, chosen, ranks, operation, file, paper):
            files.append(file)
    return files


def _series(record: Record, ranks: int, operation: str, paper: bool) -> dict[str, dict[int, Estimate]]:
    found: dict[str, dict[int, Estimate]] = {}
    for size in record.sizes(ranks, operation):
        place = (ranks, operation, size)
        for name, samples in record.samples[place].items():
            if samples.times and not samples.fault:
                one = mean_of_paper(samples.times) if paper else record.estimates(place)[name]
                found.setdefault(name, {})[max(size, 1)] = one
    return found


def _draw(
    record: Record, chosen: Mapping[Place, str], ranks: int, operation: str, file: pathlib.Path, paper: bool
) -> bool:
    series = _series(record, ranks, operation, paper)
    if not series or all(len(points) < 2 for points in series.values()):
        return False
    figure, axes = pyplot.subplots(figsize=(10, 5.5), layout="constrained")
    for i, (name, points) in enumerate(sorted(series.items(), key=lambda item: item[0] != DEFAULT_NAME)):
        sizes = sorted(points)
        micro = [points[size].median / 1e3 for size in sizes]
        style = {"color": "black", "linewidth": 2.5, "zorder": 5} if name == DEFAULT_NAME else {"linewidth": 1.2}
        (line,) = axes.plot(sizes, micro, marker=_MARKS[i % len(_MARKS)], markersize=4, label=name, **style)
        low = [points[size].low / 1e3 for size in sizes]
        high = [points[size].high / 1e3 for size in sizes]
        axes.fill_between(sizes, low, high, color=line.get_color(), alpha=0.12, linewidth=0)
    _mark_thresholds(axes, {size: chosen.get((ranks, operation, size)) for size in record.sizes(ranks, operation)})
    about = record.about.get("mpi", {})
    mpi = f"{NAMES.get(about.get('family'), '')} {about.get('version', '')}"
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    ticks = sorted({size for points in series.values() for size in points})
    axes.set_xticks(ticks, [units.size(size) for size in ticks])
    axes.set_xlabel("bytes")
    axes.set_ylabel("microseconds" + (" (mean)" if paper else " (median, 95 %)"))
    axes.set_title(f"MPI_{operation.capitalize()}, {ranks} ranks, {mpi}")
    axes.grid(True, which="major", alpha=0.3)
    axes.legend(fontsize=8, loc="center left", bbox_to_anchor=(1.0, 0.5))
    figure.savefig(file, dpi=130)
    figure.savefig(file.with_suffix(".svg"))
    pyplot.close(figure)
    return True


def _mark_thresholds(axes: matplotlib.axes.Axes, chosen: Mapping[int, str | None]) -> None:
    taken = {size: name for size, name in chosen.items() if name is not None}
    if not any(name != DEFAULT_NAME for name in taken.values()):
        return
    for start, name in thresholds(taken):
        place = max(start, *list(taken)[:1], 1)
        axes.axvline(place, color="gray", linestyle="--", linewidth=0.9)
        axes.annotate(
            name, (place, 1), xycoords=("data", "axes fraction"), xytext=(3, -4), textcoords="offset points",
            rotation=90, verticalalignment="top", fontsize=7, color="gray",
        )  # fmt: skip
