# SPDX-License-Identifier: Apache-2.0
"""Plots as PNG and SVG."""

import pathlib
from collections.abc import Mapping

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from .nested import UNTUNED, Result, describe
from .process import summary
from .targets import Samples

# Measures that one picture shows together: title, waiting, what the names begin with.
GROUPS = (
    (
        "flat constructs, active waiting",
        "active",
        ("parallel", "barrier", "for_", "single", "reduction", "critical", "lock"),
    ),
    ("flat constructs, passive waiting", "passive", ("",)),
    ("tasks", "active", ("one_", "many_", "fib", "nqueens")),
    ("nested regions", "default", ("outer_", "inner_", "of_one", "serial")),
    ("members beyond the CPUs", "default", ("barrier_", "work_and_barrier_")),
    ("application threads", "default", ("roots_",)),
)


def nested(folder: pathlib.Path, index: int, result: Result) -> None:
    serial = result.serial()
    if not serial:
        return
    splits = sorted({split for _, split in result.times} - {(1, 1)}, key=lambda split: (split == UNTUNED, split))
    names = list(dict.fromkeys(name for name, _ in result.times))
    figure, axes = pyplot.subplots(figsize=(8, 4))
    width = 0.8 / len(names)
    for i, name in enumerate(names):
        there = [(k, split) for k, split in enumerate(splits) if (name, split) in result.times]
        times = [summary(result.times[name, split]) for _, split in there]
        heights = [serial / time["median"] for time in times]
        below = [max(0, serial / time["median"] - serial / time["p90"]) for time in times]
        above = [max(0, serial / time["p10"] - serial / time["median"]) for time in times]
        axes.bar([k + i * width for k, _ in there], heights, width, yerr=[below, above], capsize=2, label=name)
    axes.set_xticks([k + 0.4 - width / 2 for k in range(len(splits))], [describe(split) for split in splits])
    axes.set_xlabel("threads asked for, outside x inside")
    axes.set_ylabel("speed-up over one thread")
    axes.set_title(f"{result.problem.label}: medians, 10 % to 90 %")
    axes.legend()
    save(figure, folder / f"nested_blas_{index}_{result.problem.name}")


def micro(folder: pathlib.Path, samples: Samples, units: dict[str, str], runtimes: list[str]) -> None:
    for title, policy, prefixes in GROUPS:
        measures = list(dict.fromkeys(m for p, _, m in samples if p == policy and m.startswith(prefixes)))
        if not measures:
            continue
        figure, axes = pyplot.subplots(figsize=(max(6, 0.9 * len(measures)), 4))
        width = 0.8 / len(runtimes)
        for i, name in enumerate(runtimes):
            there = [(k, m) for k, m in enumerate(measures) if samples.get((policy, name, m))]
            heights = [summary(samples[policy, name, m])["median"] for _, m in there]
            axes.bar([k + i * width for k, _ in there], heights, width, label=name)
        if units[measures[0]] == "ns":
            axes.set_yscale("log")
        axes.set_xticks([k + 0.4 - width / 2 for k in range(len(measures))], measures, rotation=30, ha="right")
        axes.set_ylabel({"x": "time / ideal"}.get(units[measures[0]], units[measures[0]]))
        axes.set_title(f"{title}: medians, less is better")
        axes.legend()
        save(figure, folder / f"micro_{title.replace(', ', '_').replace(' ', '_')}")


def bars(stem: pathlib.Path, title: str, unit: str, values: Mapping[str, Mapping[str, list[float]]]) -> None:
    """Groups of medians, with the range of eight in ten samples. `values`: of each series and group, the samples."""
    groups = list(dict.fromkeys(group for samples in values.values() for group in samples))
    figure, axes = pyplot.subplots(figsize=(max(6, 0.25 * len(groups) * len(values)), 4))
    width = 0.8 / len(values)
    for i, (name, samples) in enumerate(values.items()):
        places = [groups.index(group) + i * width for group in samples]
        heights, ranges = _medians(list(samples.values()))
        axes.bar(places, heights, width, yerr=ranges, capsize=2, label=name)
    axes.set_xticks([k + 0.4 - width / 2 for k in range(len(groups))], groups)
    _finish(axes, title, "ranks x threads", unit)
    save(figure, stem)


def lines(
    stem: pathlib.Path,
    title: str,
    x: str,
    unit: str,
    values: Mapping[str, Mapping[int, list[float]]],
    logarithmic: bool = False,
) -> None:
    """The same over numbers that double. `values`: of each series and number, the samples."""
    figure, axes = pyplot.subplots(figsize=(7, 4))
    numbers = sorted({number for samples in values.values() for number in samples})
    for name, samples in values.items():
        there = sorted(samples)
        heights, ranges = _medians([samples[number] for number in there])
        axes.errorbar(there, heights, yerr=ranges, capsize=2, marker="o", label=name)
    axes.set_xscale("log", base=2)
    axes.set_xticks(numbers, [str(number) for number in numbers])
    _finish(axes, title, x, unit)
    if logarithmic:
        axes.set_yscale("log")
    else:
        axes.set_ylim(bottom=0)
    save(figure, stem)


def _medians(samples: list[list[float]]) -> tuple[list[float], list[list[float]]]:
    """And how far the ranges reach below and above them."""
    found = [summary(values) for values in samples]
    below = [values["median"] - values["p10"] for values in found]
    above = [values["p90"] - values["median"] for values in found]
    return [values["median"] for values in found], [below, above]


def _finish(axes: Axes, title: str, x: str, y: str) -> None:
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.set_title(f"{title}: medians, 10 % to 90 %")
    axes.legend(fontsize="x-small", loc="upper left", bbox_to_anchor=(1, 1))


def save(figure: Figure, stem: pathlib.Path) -> None:
    stem.parent.mkdir(parents=True, exist_ok=True)
    figure.tight_layout()
    for extension in ("png", "svg"):
        figure.savefig(stem.with_suffix(f".{extension}"))
    pyplot.close(figure)
