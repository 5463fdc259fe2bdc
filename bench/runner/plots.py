# SPDX-License-Identifier: Apache-2.0
"""Plots as PNG and SVG."""

import pathlib

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot
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


def save(figure: Figure, stem: pathlib.Path) -> None:
    stem.parent.mkdir(parents=True, exist_ok=True)
    figure.tight_layout()
    for extension in ("png", "svg"):
        figure.savefig(stem.with_suffix(f".{extension}"))
    pyplot.close(figure)
