# SPDX-License-Identifier: Apache-2.0
"""Tables on the terminal."""

import pathlib
from collections.abc import Sequence
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

from . import machine, nested, targets
from .nested import Result, describe
from .process import Failure, summary
from .targets import Samples, Verdict

QUIET_PERCENT = 5  # CPU time of others below which a run can be trusted


def new_table(title: str, *columns: str, left: int = 1) -> Table:
    """The first `left` columns are text, the rest are numbers."""
    table = Table(title=title, box=box.SIMPLE_HEAD, title_justify="left", title_style="bold")
    for index, column in enumerate(columns):
        table.add_column(column, justify="left" if index < left else "right", no_wrap=True)
    return table


def short(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def nested_tables(console: Console, result: Result, runtimes: list[str]) -> None:
    columns = [column for name in runtimes for column in (name, "p10 .. p90", "speed-up")]
    table = new_table(f"{result.problem.label}, {result.problem.schedule}: seconds", "out x in", *columns)
    serial = result.serial()
    for split in [*nested.hand_tuned(machine.cpus()), nested.TOO_MANY, nested.UNTUNED]:
        row = [describe(split)]
        for name in runtimes:
            samples = result.times.get((name, split))
            if not samples or not serial:
                row += ["", "", ""]
                continue
            times = summary(samples)
            row += [
                f"{times['median']:.4f}",
                f"{times['p10']:.4f} .. {times['p90']:.4f}",
                f"{serial / times['median']:.2f}",
            ]
        table.add_row(*row)
    console.print(table)
    _levels_table(console, result, runtimes)


def _levels_table(console: Console, result: Result, runtimes: list[str]) -> None:
    """The source paper's last table: one level of parallelism against two."""
    table = new_table(
        "one level against two (speed-up)", "runtime", "outer only", "inner only", "nested", "out x in", "gain"
    )
    serial, count = result.serial(), machine.cpus()
    for name in runtimes:
        outer, inner = result.median(name, (count, 1)), result.median(name, (1, count))
        both = result.best({name}, None, {(count, 1), (1, count), (1, 1)})
        if serial and outer and inner and both:
            speedups = (f"{serial / time:.2f}" for time in (outer, inner, both.time))
            gain = f"{100 * (min(outer, inner) / both.time - 1):+.1f} %"
            table.add_row(name, *speedups, describe(both.split), gain)
    console.print(table)


def untuned_table(console: Console, results: list[Result]) -> None:
    rows = []
    for result in results:
        best, own = result.best_tuned(), result.best_of("weft")
        untuned, many = (result.median("weft", split) for split in (nested.UNTUNED, nested.TOO_MANY))
        if best and own and untuned and many:
            where = f"{best.time:.4f} ({best.runtime} {describe(best.split)})"
            ratios = (f"{untuned / best.time:.3f}", f"{many / own.time:.3f}")
            gflops = f"{1e-9 * result.operations / untuned:.1f}"
            rows.append((result.problem.label, where, f"{untuned:.4f}", gflops, f"{many:.4f}", *ratios))
    if not rows:
        return
    table = new_table(
        "weft, nothing tuned, against the best hand-tuned split of any runtime (seconds)",
        *("problem", "best hand-tuned", "untuned", "GFLOP/s", "asked for 16 x 16"),
        *("untuned / best", "16 x 16 / own best"),
    )
    for row in rows:
        table.add_row(*row)
    console.print(table)


def micro_table(
    console: Console,
    samples: Samples,
    units: dict[str, str],
    runtimes: list[str],
    most_seconds: float | None = None,
    policies: str = "waiting",
    title: str = "medians",
) -> None:
    """What took `most_seconds` was cut off then. `policies`: what they are."""
    columns = [column for name in runtimes for column in (name, "p10 .. p90")]
    table = new_table(title, "measure", policies, "unit", *columns, "weft / best", left=3)
    for policy, measure in dict.fromkeys((policy, measure) for policy, _, measure in samples):
        row = [measure, policy, units[measure]]
        for name in runtimes:
            taken = samples.get((policy, name, measure))
            if not taken:
                row += ["", ""]
                continue
            values = summary(taken)
            cut_off = units[measure] == "s" and most_seconds is not None and values["median"] >= most_seconds
            row += [
                f"> {short(values['median'])}" if cut_off else short(values["median"]),
                f"{short(values['p10'])} .. {short(values['p90'])}",
            ]
        ratio = targets.ratio(samples, runtimes, policy, measure, "best")
        table.add_row(*row, short(ratio) if ratio is not None and len(runtimes) > 1 else "")
    console.print(table)


def summary_table(console: Console, verdicts: list[Verdict]) -> None:
    if not verdicts:
        return
    table = new_table("weft against its targets", "what", "measure", "measured", "target", "", left=2)
    for verdict in verdicts:
        unit = f" {verdict.unit}" if verdict.unit else ""
        met = "met" if verdict.met else "[bold red]missed[/bold red]"
        table.add_row(verdict.what, verdict.measure, f"{verdict.value:.4g}{unit}", f"<= {verdict.limit:g}{unit}", met)
    console.print(table)
    console.print(f"{sum(verdict.met for verdict in verdicts)} of {len(verdicts)} targets met.")


def gains_table(console: Console, gains: dict[str, float]) -> None:
    """What a demonstration ends with: weft's time over another one, which is named."""
    table = new_table("weft's time over that of others: less is better", "what", "ratio")
    for what, ratio in gains.items():
        table.add_row(what, f"{ratio:.2g}" if ratio < 0.1 else f"{ratio:.2f}")
    console.print(table)


def trust(console: Console, others_percent: float) -> None:
    if others_percent <= QUIET_PERCENT:
        return
    text = f"Other programs used {others_percent:.0f} % of the CPUs meanwhile: repeat this on a quiet machine."
    console.print(text, style="bold yellow", highlight=False)


def failures(console: Console, failed: list[Failure]) -> None:
    for failure in failed:
        title = f"No result: {failure.runtime}: {failure.command}"
        console.print(title, style="bold red", highlight=False, markup=False)
        console.print(f"  {failure.reason}", highlight=False, markup=False)


def run_of(stamp: str, others_percent: float, rounds: int) -> dict[str, Any]:
    """What the results of a run begin with."""
    return {
        "date": stamp,
        "machine": machine.describe(),
        "cpu_percent_of_others": others_percent,
        "rounds": rounds,
    }


def finish(console: Console, folder: pathlib.Path, failed: Sequence[Failure]) -> int:
    """The last line of a run, and its exit status."""
    console.print(f"Results: {folder}", highlight=False, soft_wrap=True)
    return 1 if failed else 0
