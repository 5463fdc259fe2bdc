# SPDX-License-Identifier: Apache-2.0
"""Plots as PNG and SVG."""

import pathlib
from collections.abc import Mapping, Sequence

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from .spread import summary

LONG_NAMES = 60  # characters of all groups together, which are written at a slant then


def bars(
    stem: pathlib.Path,
    title: str,
    x: str,
    unit: str,
    values: Mapping[str, Mapping[str, list[float]]],
    groups: Sequence[str] = (),
    logarithmic: bool = False,
) -> None:
    """Groups of medians, with the range of eight in ten samples. `values`: of each series and group, the samples."""
    if not values:
        return
    groups = groups or list(dict.fromkeys(group for samples in values.values() for group in samples))
    figure, axes = pyplot.subplots(figsize=(max(6, 0.25 * len(groups) * len(values)), 4))
    width = 0.8 / len(values)
    for i, (name, samples) in enumerate(values.items()):
        places = [groups.index(group) + i * width for group in samples]
        heights, ranges = _medians(list(samples.values()))
        axes.bar(places, heights, width, yerr=ranges, capsize=2, label=name)
    turned = {"rotation": 30, "ha": "right"} if sum(map(len, groups)) > LONG_NAMES else {}
    axes.set_xticks([k + 0.4 - width / 2 for k in range(len(groups))], groups, **turned)
    _finish(figure, axes, title, x, unit, stem, logarithmic)


def lines(
    stem: pathlib.Path,
    title: str,
    x: str,
    unit: str,
    values: Mapping[str, Mapping[int, list[float]]],
    logarithmic: bool = False,
) -> None:
    """The same over numbers that double. `values`: of each series and number, the samples."""
    if not values:
        return
    figure, axes = pyplot.subplots(figsize=(7, 4))
    numbers = sorted({number for samples in values.values() for number in samples})
    for name, samples in values.items():
        there = sorted(samples)
        heights, ranges = _medians([samples[number] for number in there])
        axes.errorbar(there, heights, yerr=ranges, capsize=2, marker="o", label=name)
    axes.set_xscale("log", base=2)
    axes.set_xticks(numbers, [str(number) for number in numbers])
    _finish(figure, axes, title, x, unit, stem, logarithmic)


def _medians(samples: list[list[float]]) -> tuple[list[float], list[list[float]]]:
    """And how far the ranges reach below and above them."""
    found = [summary(values) for values in samples]
    below = [values["median"] - values["p10"] for values in found]
    above = [values["p90"] - values["median"] for values in found]
    return [values["median"] for values in found], [below, above]


def _finish(figure: Figure, axes: Axes, title: str, x: str, y: str, stem: pathlib.Path, logarithmic: bool) -> None:
    if logarithmic:
        axes.set_yscale("log")
    else:
        axes.set_ylim(bottom=0)
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.set_title(f"{title}: medians, 10 % to 90 %")
    axes.legend(fontsize="x-small", loc="upper left", bbox_to_anchor=(1, 1))
    save(figure, stem)


def save(figure: Figure, stem: pathlib.Path) -> None:
    stem.parent.mkdir(parents=True, exist_ok=True)
    figure.tight_layout()
    for extension in ("png", "svg"):
        figure.savefig(stem.with_suffix(f".{extension}"))
    pyplot.close(figure)
