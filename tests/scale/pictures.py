#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws what study.py has found: what constructs cost against the number of threads, and which lines of memory go
between CPUs.

    pictures.py --json BUILD/tests/scale/study.json --folder docs/images"""

import argparse
import json
import pathlib

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure

MACHINE = "epyc-2x96"
SHORT = ("flat", "barrier", "barrier, tree", "barrier, central", "reduction", "flat-after-pause")
WORK = ("static", "dynamic", "tasks", "task-tree")
# Of the heat map: at so many threads, the places that most lines are fetched for.
THREADS = 64
MOST_PLACES = 18


def cost(results: list[dict]) -> Figure:
    figure, (short, work) = pyplot.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
    for construct in SHORT:
        found = [result for result in results if result["job"][1] == construct]
        # Textbook barriers are there for comparison.
        style = "--" if construct.startswith("barrier, ") else "-"
        short.plot([r["threads"] for r in found], [r["us"] for r in found], style, marker=".", label=construct)
    short.set(xscale="log", yscale="log", ylabel="microseconds", title="constructs without work")
    for construct in WORK:
        found = [result for result in results if result["job"][1] == construct]
        shares = [result["measures"]["efficiency"] for result in found]
        work.plot([result["threads"] for result in found], shares, marker=".", label=construct)
    work.set(xscale="log", ylim=(0, 1.05), ylabel="efficiency", title="loops and tasks")
    for axes in (short, work):
        counts = sorted({result["threads"] for result in results})
        axes.set_xticks(counts, [str(count) for count in counts])
        axes.minorticks_off()
        axes.set_xlabel("threads, one a CPU")
        axes.grid(alpha=0.3)
        axes.legend(fontsize="small")
    return figure


def lines(results: list[dict]) -> Figure:
    found = {result["job"][1]: result for result in results if result["threads"] == THREADS and result["sites"]}
    fetched: dict[str, dict[str, float]] = {}
    for construct, result in found.items():
        for site in result["sites"]:
            place = fetched.setdefault(site["place"].replace("weft::", ""), {})
            place[construct] = place.get(construct, 0) + site["transfers"] / THREADS
    # Of each construct the largest, so that one with many tasks does not hide all others.
    totals = {construct: sum(place.get(construct, 0) for place in fetched.values()) for construct in found}
    weight = {name: max(place[c] / totals[c] for c in place if totals[c]) for name, place in fetched.items()}
    names = sorted(weight, key=lambda name: weight[name], reverse=True)[:MOST_PLACES]
    values = [[fetched[name].get(construct) or float("nan") for construct in found] for name in names]
    figure, axes = pyplot.subplots(figsize=(10, 6.5), layout="constrained")
    image = axes.imshow(values, norm=LogNorm(0.01), cmap="viridis", aspect="auto")
    axes.set_xticks(range(len(found)), list(found), rotation=35, ha="right")
    axes.set_yticks(range(len(names)), [name if len(name) <= 58 else name[:55] + "..." for name in names], fontsize=8)
    axes.set_title(f"lines that a construct of {THREADS} threads fetches from other CPUs, by places in the source")
    figure.colorbar(image, label="transfers for each thread")
    return figure


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", required=True, type=pathlib.Path)
    parser.add_argument("--folder", required=True, type=pathlib.Path)
    options = parser.parse_args()
    results = [result for result in json.loads(options.json.read_text()) if "failed" not in result]
    results = [result for result in results if result["job"][0] == MACHINE]
    # The same picture from the same figures: without dates and random names.
    matplotlib.rcParams["svg.hashsalt"] = "weft"
    for name, figure in (("scale-cost", cost(results)), ("scale-lines", lines(results))):
        figure.savefig(options.folder / f"{name}.svg", metadata={"Date": None})


if __name__ == "__main__":
    main()
