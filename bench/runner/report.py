# SPDX-License-Identifier: Apache-2.0
"""Tables on the terminal; JSON, CSV and plots in a folder."""
import csv
import json
import pathlib
from typing import Any

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402
from rich.console import Console  # noqa: E402
from rich.table import Table  # noqa: E402

from . import nested, process  # noqa: E402


def _split(split: tuple[int, int]) -> str:
    return {nested.UNTUNED: "untuned"}.get(split, f"{split[0]} x {split[1]}")


def nested_tables(console: Console, result: nested.Result, runtimes: list[str], cpus: int) -> None:
    table = Table(title=f"{result.problem.label}: seconds and speed-up, threads outside x inside")
    table.add_column("out x in")
    for name in runtimes:
        table.add_column(f"{name} time", justify="right")
        table.add_column("speed-up", justify="right")
    for split in [*nested.splits(cpus), nested.TOO_MANY, nested.UNTUNED]:
        row = [_split(split)]
        for name in runtimes:
            median = result.median(name, split)
            row += ["", ""] if median is None else [f"{median:.4f}", f"{result.serial / median:.2f}"]
        table.add_row(*row)
    console.print(table)

    table = Table(title="the same in the form of the source paper: speed-ups")
    for column in ("runtime", "outer only", "inner only", "nested", "gain"):
        table.add_column(column, justify="left" if column == "runtime" else "right")
    for name in runtimes:
        outer, inner, both = (result.median(name, split) for split in ((cpus, 1), (1, cpus), (cpus, cpus)))
        if outer and inner and both:
            gain = min(outer, inner) / both
            table.add_row(name, *(f"{result.serial / t:.2f}" for t in (outer, inner, both)), f"{100 * (gain - 1):+.1f} %")
    console.print(table)


def nested_verdicts(console: Console, results: list[nested.Result]) -> list[dict[str, Any]]:
    table = Table(title="weft, nothing tuned, against the best hand-tuned split of any runtime")
    for column in ("problem", "best tuned", "untuned", "asked for 16 x 16", "untuned / best", "16 x 16 / untuned"):
        table.add_column(column, justify="left" if column == "problem" else "right")
    rows = []
    for result in results:
        best, name, split = result.best_tuned()
        untuned, many = (result.median("weft", s) for s in (nested.UNTUNED, nested.TOO_MANY))
        if not untuned or not many:
            continue
        rows.append({"problem": result.problem.label, "best": best, "best_runtime": name, "best_split": list(split),
                     "untuned": untuned, "asked_16x16": many, "ratio": untuned / best, "ratio_16x16": many / untuned})
        table.add_row(result.problem.label, f"{best:.4f} ({name} {_split(split)})", f"{untuned:.4f}", f"{many:.4f}",
                      f"{untuned / best:.3f}", f"{many / untuned:.3f}")
    console.print(table)
    return rows


def _short(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def micro_table(console: Console, rows: list[dict[str, Any]], runtimes: list[str]) -> None:
    table = Table(title="medians, and weft against the targets")
    for column in ("what", "measure", *runtimes, "value", "target", ""):
        table.add_column(column, justify="left" if column in ("what", "measure") else "right", no_wrap=True)
    for row in rows:
        medians = [_short(row["medians"][name]) if name in row["medians"] else "" for name in runtimes]
        table.add_row(row["what"], row["measure"], *medians, f"{row['value']:.4g}", f"<= {row['limit']:g}",
                      "met" if row["met"] else "[bold]missed[/bold]")
    console.print(table)


def write(folder: pathlib.Path, name: str, data: Any) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.json").write_text(json.dumps(data, indent=1))


def write_nested(folder: pathlib.Path, results: list[nested.Result], verdicts: list[dict[str, Any]], plots: bool) -> None:
    data = [{"problem": r.problem.label, "serial": r.serial,
             "times": [{"runtime": name, "out": split[0], "in": split[1], **process.summary(samples), "all": samples}
                       for (name, split), samples in r.times.items()]} for r in results]
    write(folder, "nested_blas", {"results": data, "verdicts": verdicts})
    with (folder / "nested_blas.csv").open("w", newline="") as file:
        out = csv.writer(file)
        out.writerow(["problem", "runtime", "out", "in", "median_s", "p10_s", "p90_s"])
        for entry in data:
            for t in entry["times"]:
                out.writerow([entry["problem"], t["runtime"], t["out"], t["in"], t["median"], t["p10"], t["p90"]])
    if plots:
        for index, result in enumerate(results):
            _plot(folder / f"nested_blas_{index}_{result.problem.type}{result.problem.routine}", result)


def _plot(stem: pathlib.Path, result: nested.Result) -> None:
    splits = sorted({split for _, split in result.times} - {(1, 1)}, key=lambda s: (s in (nested.UNTUNED,), s))
    names = sorted({name for name, _ in result.times})
    figure, axes = pyplot.subplots(figsize=(8, 4))
    width = 0.8 / len(names)
    for i, name in enumerate(names):
        places = [k + i * width for k, split in enumerate(splits) if (name, split) in result.times]
        heights = [result.serial / result.median(name, split) for split in splits if (name, split) in result.times]
        axes.bar(places, heights, width, label=name)
    axes.set_xticks([k + 0.4 - width / 2 for k in range(len(splits))], [_split(split) for split in splits])
    axes.set_xlabel("threads asked for, outside x inside")
    axes.set_ylabel("speed-up over one thread")
    axes.set_title(result.problem.label)
    axes.legend()
    figure.tight_layout()
    for extension in ("png", "svg"):
        figure.savefig(stem.with_suffix(f".{extension}"))
    pyplot.close(figure)


def write_micro(folder: pathlib.Path, samples: dict[tuple[str, str, str], list[float]], rows: list[dict[str, Any]]) -> None:
    data = [{"policy": p, "runtime": r, "measure": m, **process.summary(s), "all": s} for (p, r, m), s in samples.items()]
    write(folder, "micro", {"results": data, "verdicts": rows})
    with (folder / "micro.csv").open("w", newline="") as file:
        out = csv.writer(file)
        out.writerow(["measure", "policy", "runtime", "median", "p10", "p90"])
        for entry in data:
            out.writerow([entry[k] for k in ("measure", "policy", "runtime", "median", "p10", "p90")])
