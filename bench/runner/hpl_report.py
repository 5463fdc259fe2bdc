# SPDX-License-Identifier: Apache-2.0
"""What bench/run hpl has measured: tables as the source paper's (ranks by threads), targets, files, pictures."""

import argparse
import collections
import dataclasses
import pathlib
import statistics
from collections.abc import Callable, Iterable, Sequence

from rich.console import Console

from . import files, machine, report
from .hpl_job import Problem
from .hpl_ways import NODE, OURS, PEER, Place, Trial
from .process import Failure, summary
from .targets import Verdict

EXCEEDING, ELSEWHERE, WITH_NODE = 1.0, 1.02, 1.0


@dataclasses.dataclass
class Results:
    problem: Problem
    skipped: dict[str, str]  # ways that are not there, and why
    seconds: dict[Trial, list[float]] = dataclasses.field(default_factory=dict)
    residuals: dict[Trial, list[float]] = dataclasses.field(default_factory=dict)
    failed: dict[Trial, Failure] = dataclasses.field(default_factory=dict)

    def medians(self, way: str, where: Callable[[Place], bool]) -> dict[Place, float]:
        return {
            trial.place: statistics.median(seconds)
            for trial, seconds in self.seconds.items()
            if trial.way.name == way and where(trial.place)
        }


def verdicts(results: Results) -> list[Verdict]:
    """weft with nothing set against libgomp with the best number of threads; and with --node against without."""
    found = []
    for binding in dict.fromkeys(trial.place.binding for trial in results.seconds):
        everywhere = results.medians(PEER, lambda place, binding=binding: place.binding == binding)
        untuned = results.medians(OURS, lambda place, binding=binding: place.binding == binding and not place.threads)
        for place, seconds in untuned.items():
            limit = EXCEEDING if place.exceeds else ELSEWHERE
            same = [value for other, value in everywhere.items() if other.ranks == place.ranks]
            if same:
                what = "HPL, weft untuned / best threads of libgomp, same ranks"
                found.append(Verdict(what, place.label, seconds / min(same), limit, ""))
        if untuned and everywhere:
            place = min(untuned, key=lambda place: untuned[place])
            ratio = untuned[place] / min(everywhere.values())
            what = "HPL, best ranks of weft untuned / best (ranks x threads) of libgomp"
            found.append(Verdict(what, place.label, ratio, EXCEEDING if place.exceeds else ELSEWHERE, ""))
    without = results.medians(OURS, lambda place: place.ranks > 1)
    for place, seconds in results.medians(NODE, lambda place: place in without).items():
        found.append(Verdict("HPL, with --node / without", place.label, seconds / without[place], WITH_NODE, ""))
    return found


def _tables(console: Console, results: Results, plan: Sequence[Trial]) -> None:
    """One for each way and binding; rows are ranks, columns threads."""
    console.print(f"HPL, order {results.problem.order}, blocks of {results.problem.block}", style="bold")
    for way, binding in dict.fromkeys((trial.way, trial.place.binding) for trial in plan):
        here = {trial.place: trial for trial in plan if (trial.way, trial.place.binding) == (way, binding)}
        threads = list(dict.fromkeys(place.threads for place in here))
        bound = "" if binding == "none" else f", ranks bound to a {binding}"
        title = f"{way.name}{bound}: seconds, median (p10 .. p90)"
        table = report.new_table(title, "ranks", *(f"{number or 'default'} threads" for number in threads))
        for ranks in dict.fromkeys(place.ranks for place in here):
            cells = (here.get(Place(ranks, number, binding)) for number in threads)
            table.add_row(str(ranks), *(_cell(results, trial) if trial else "" for trial in cells))
        console.print(table)


def _cell(results: Results, trial: Trial) -> str:
    if trial not in results.seconds:
        return "failed"
    values = summary(results.seconds[trial])
    return f"{values['median']:.3f} ({values['p10']:.3f} .. {values['p90']:.3f})"


def _plots(folder: pathlib.Path, results: Results, bindings: Iterable[str]) -> None:
    from . import plots  # slow to load

    for binding in bindings:
        rates: dict[str, dict[str, list[float]]] = collections.defaultdict(dict)
        untuned: dict[str, dict[int, list[float]]] = collections.defaultdict(dict)
        for trial, seconds in results.seconds.items():
            if trial.place.binding != binding:
                continue
            taken = [1e-9 * results.problem.operations / value for value in seconds]
            rates[trial.way.name][f"{trial.place.ranks} x {trial.place.threads or 'default'}"] = taken
            if not trial.place.threads:
                untuned[trial.way.name][trial.place.ranks] = taken
        title = f"HPL, order {results.problem.order}, binding {binding}"
        stem = f"hpl_bind_{binding}"
        if rates:
            plots.bars(folder / stem, title, "GFLOP/s", rates)
        if untuned:
            plots.lines(folder / f"{stem}_ranks", f"{title}, default threads", "ranks", "GFLOP/s", untuned)


def finish(
    console: Console,
    folder: pathlib.Path,
    results: Results,
    plan: Sequence[Trial],
    arguments: argparse.Namespace,
    stamp: str,
    others_percent: float,
) -> int:
    """Shows and writes all of it; the exit status."""
    judged = verdicts(results)
    failed = list(results.failed.values())
    _tables(console, results, plan)
    if not arguments.smoke:
        report.summary_table(console, judged)
    residuals = [value for values in results.residuals.values() for value in values]
    if residuals:
        console.print(f"{len(residuals)} residual checks passed; the largest is {max(residuals):.3g} of 16 allowed.")
    report.failures(console, failed)
    report.trust(console, others_percent)
    samples = {
        (trial.place.label, trial.way.name, f"order {results.problem.order}"): seconds
        for trial, seconds in results.seconds.items()
    }
    about = (
        report.run_of(stamp, others_percent, arguments.rounds)
        | {
            "problem": dataclasses.asdict(results.problem),
            "cpus": machine.cpus(),
            "libraries": {
                trial.way.name: {name: str(file.resolve()) for name, file in trial.way.libraries.items()}
                for trial in plan
            },
            "residuals": [
                {"place": trial.place.label, "way": trial.way.name, "residuals": values}
                for trial, values in results.residuals.items()
            ],
            "skipped": results.skipped,
        }
        | files.judged(judged, failed)
    )
    files.write_micro(folder, samples, {measure: "s" for _, _, measure in samples}, about, "hpl")
    if not arguments.no_plots:
        _plots(folder, results, dict.fromkeys(trial.place.binding for trial in plan))
    return report.finish(console, folder, failed)
