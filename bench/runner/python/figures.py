# SPDX-License-Identifier: Apache-2.0
"""The paper's figures: bars of time by mode, one for each workload, and lines over the number of workers."""

import pathlib

from matplotlib import pyplot

from ..frame.plots import save
from ..frame.spread import short
from . import modes, results
from .results import Data
from .workloads import NODE


def draw(folder: pathlib.Path, name: str, data: Data) -> None:
    """`name`: of the study, with which the files begin."""
    for workload in data["workloads"]:
        if not workload["study"]:
            _bars(folder, name, data, workload)
    for study, points in results.studies(data).items():
        _lines(folder, name, data, study, points)


def _bars(folder: pathlib.Path, name: str, data: Data, workload: Data) -> None:
    found = results.table_of(data)
    shown = []
    for mode in data["modes"]:
        entry = found.get((workload["name"], mode["name"]), {})
        if "median" in entry or entry.get("cut_seconds"):
            shown.append((mode, entry))
    if not shown:
        return
    figure, axes = pyplot.subplots(figsize=(max(4, 1.1 * len(shown) + 1), 3.6))
    for index, (mode, entry) in enumerate(shown):
        cut = entry.get("cut_seconds")
        height = cut or entry["median"]
        axes.bar(index, height, 0.7, color=modes.BY_NAME[mode["name"]].colour, hatch="//" if cut else None)
        if not cut:
            spread = [[height - entry["p10"]], [entry["p90"] - height]]
            axes.errorbar(index, height, yerr=spread, color="black", capsize=3)
        axes.annotate(f"> {short(cut)}" if cut else short(height), (index, height), ha="center", va="bottom")
    axes.set_xticks(range(len(shown)), [mode["title"] for mode, _ in shown], rotation=20, ha="right")
    axes.set_ylabel("seconds, less is better")
    axes.margins(y=0.15)
    axes.set_title(workload["title"])
    save(figure, folder / f"{name}_{workload['name']}")


def _lines(folder: pathlib.Path, name: str, data: Data, study: str, points: list[Data]) -> None:
    found = results.table_of(data)
    figure, axes = pyplot.subplots(figsize=(6, 3.8))
    for mode in data["modes"]:
        there = [(point["x"], found.get((point["name"], mode["name"]), {})) for point in points]
        there = [(x, entry) for x, entry in there if "median" in entry]
        if not there:
            continue
        heights = [entry["median"] for _, entry in there]
        below = [entry["median"] - entry["p10"] for _, entry in there]
        above = [entry["p90"] - entry["median"] for _, entry in there]
        style = {"color": modes.BY_NAME[mode["name"]].colour, "label": mode["title"], "marker": "o", "capsize": 3}
        axes.errorbar([x for x, _ in there], heights, yerr=[below, above], **style)
        ideal = results.node_ideal(data, mode["name"]) if study == NODE else {}
        if ideal:
            axes.plot(list(ideal), list(ideal.values()), color=style["color"], linestyle=":", linewidth=1)
    if not axes.has_data():
        pyplot.close(figure)
        return
    axes.set_xscale("log", base=2)
    axes.set_xticks([point["x"] for point in points], [str(point["x"]) for point in points])
    axes.set_ylim(bottom=0)
    kind = {"scaling-threads": "threads of the pool", "scaling-processes": "processes of the pool"}
    axes.set_xlabel(kind.get(study, "processes at once; dotted: one after the other"))
    axes.set_ylabel("seconds, less is better")
    axes.set_title("KMeans, several processes" if study == NODE else "Eigenvalues, balanced")
    axes.legend()
    save(figure, folder / f"{name}_{study}")
