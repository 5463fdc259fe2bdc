# SPDX-License-Identifier: Apache-2.0
"""A study of one MPI program in several versions: trials in turn, results compared, a table."""

import argparse
import dataclasses
import pathlib
import statistics
from collections.abc import Callable, Sequence

from rich.console import Console
from rich.progress import Progress

from . import files, machine, mpi_jobs, report, terminal
from .mpi_jobs import Outcome, Place, Way
from .process import Failure, summary
from .targets import Verdict
from .terminal import positive

UNIT = "Mupdates/s"


@dataclasses.dataclass(frozen=True)
class Trial:
    """One run of a program: a row of the table for each place, share and size, a column for each series."""

    problem: str  # what is computed: all trials of the same one have the same result
    place: Place
    share: str  # of the ranks in it: "even", or "3,1"
    version: str
    size: str  # of blocks; empty: it has none
    way: Way
    words: tuple[object, ...]

    @property
    def series(self) -> str:
        return f"{self.version}, {self.way.name}"

    @property
    def row(self) -> tuple[str, str, str]:
        return self.place.label, self.share, self.size

    @property
    def shown(self) -> str:
        return f"{self.place.label}: {self.series}: {' '.join(map(str, self.words))}"


@dataclasses.dataclass
class Results:
    rates: dict[Trial, list[float]] = dataclasses.field(default_factory=dict)
    hung: dict[Trial, str] = dataclasses.field(default_factory=dict)
    failed: dict[Trial, Failure] = dataclasses.field(default_factory=dict)
    hashes: dict[str, str] = dataclasses.field(default_factory=dict)  # of each problem, by its first trial

    def rate(self, like: Trial, version: str, threads: int | None = None) -> float | None:
        """The best median of this version where the ranks, their rows and their blocks, if there are, are the same.
        With so many threads; None: with any number."""

        def fits(other: Trial) -> bool:
            places = [dataclasses.replace(trial.place, threads=0) for trial in (like, other)]
            return (
                (other.version, other.problem, other.share) == (version, like.problem, like.share)
                and places[0] == places[1]
                and other.size in ("", like.size)
                and threads in (None, other.place.threads)
            )

        return max((statistics.median(rates) for trial, rates in self.rates.items() if fits(trial)), default=None)

    def hangs(self, trial: Trial) -> bool:
        """In another size too: what hangs is not waited for again."""
        return any(dataclasses.replace(other, size=trial.size, words=trial.words) == trial for other in self.hung)

    def take(self, trial: Trial, outcome: Outcome) -> None:
        reason = outcome.reason
        if outcome.hung:
            self.hung[trial] = reason
            if trial.way.preloaded is None:
                return  # a result, and the reason for task-aware MPI
        if outcome.result is not None:
            found = outcome.result["hash"]
            expected = self.hashes.setdefault(trial.problem, found)
            if found == expected:
                self.rates.setdefault(trial, []).append(1e-6 * outcome.result["updates_per_second"])
                return
            reason = f"the result's hash is {found}, not {expected} as that of the first run"
        self.failed[trial] = Failure(trial.way.name, trial.shown, reason)


def parser(name: str, description: str, root: pathlib.Path) -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(prog=f"bench/run {name}", description=description)
    made.add_argument("--smoke", action="store_true", help="one round of little: does it run, and is it right")
    made.add_argument("--build", type=pathlib.Path, default=root / "build/release", help="the build to measure")
    made.add_argument("--mpi", default="", help="MPIs, with commas between (default: those that are there)")
    made.add_argument(
        "--runtimes", default="", help="with commas between (default: weft, with task-aware MPI, and libgomp)"
    )
    made.add_argument("--rounds", type=positive, default=5, help="how often each is measured, in turn (default 5)")
    made.add_argument("--timeout", type=positive, default=20, help="seconds after which a job hangs (default 20)")
    made.add_argument("--out", type=pathlib.Path, help="folder of the results (default bench/results/DATE)")
    made.add_argument("--no-plots", action="store_true")
    return made


def complete(made: argparse.ArgumentParser, words: list[str], program: str, root: pathlib.Path) -> argparse.Namespace:
    """Parsed, with what is there where nothing is said."""
    arguments = made.parse_args(words)
    arguments.build = arguments.build.absolute()
    arguments.mpi = mpi_jobs.chosen_mpis(made, arguments, program)
    if arguments.smoke:
        arguments.rounds = 1
    names = arguments.runtimes.split(",") if arguments.runtimes else mpi_jobs.there_by_default(arguments.build)
    arguments.ways = mpi_jobs.find_ways(root, arguments.build, names)
    return arguments


def numbers(text: str) -> list[int]:
    return [positive(word) for word in text.split(",")]


def may_hang(trial: Trial, blocking: str) -> bool:
    """Tasks with blocking calls, where only task-aware MPI lets others run. Nobody waits for it in --smoke."""
    return trial.version == blocking and trial.place.ranks > 1 and trial.way.preloaded is None


def _measure(arguments: argparse.Namespace, program: str, trials: Sequence[Trial], progress: Progress) -> Results:
    results = Results()
    task = progress.add_task("", total=arguments.rounds * len(trials))
    for _ in range(arguments.rounds):
        for trial in trials:
            progress.update(task, advance=1, description=f"{trial.place.label}: {trial.series} {trial.size}")
            if trial not in results.failed and not results.hangs(trial):
                ended = mpi_jobs.run(arguments.build, trial.place, trial.way, program, trial.words, arguments.timeout)
                results.take(trial, ended)
    return results


def _tables(console: Console, title: str, trials: Sequence[Trial], results: Results, versions: Sequence[str]) -> None:
    """One for each way: all versions beside each other under all runtimes are too wide."""
    for way in dict.fromkeys(trial.way for trial in trials):
        here = [trial for trial in trials if trial.way == way]
        columns = [version for version in versions if any(trial.version == version for trial in here)]
        with_library = ", task-aware MPI" if way.preloaded else ""
        name = f"{title}, by {way.name}{with_library}: {UNIT}, median (p10 .. p90)"
        shown = report.new_table(name, "ranks x threads", "rows", "block", *columns, left=3)
        for row in dict.fromkeys(trial.row for trial in here):
            cells = {trial.version: _cell(results, trial) for trial in here if trial.row == row}
            shown.add_row(*row, *(cells.get(version, "") for version in columns))
        console.print(shown)


def _cell(results: Results, trial: Trial) -> str:
    if trial in results.hung:
        return f"hangs ({results.hung[trial]})"
    if trial not in results.rates:
        return "failed" if trial in results.failed else "not tried again"
    values = summary(results.rates[trial])
    return f"{values['median']:.0f} ({values['p10']:.0f} .. {values['p90']:.0f})"


def main(
    arguments: argparse.Namespace,
    root: pathlib.Path,
    title: str,
    program: str,
    trials: Sequence[Trial],
    versions: Sequence[str],
    judge: Callable[[Results], list[Verdict]],
) -> int:
    """`versions`: in the order of columns."""
    console, stamp = terminal.console(), terminal.stamp()
    folder = terminal.results_folder(root, arguments.out, stamp)
    watch = machine.OthersWatch()
    with terminal.progress(console) as progress:
        results = _measure(arguments, program, trials, progress)
    others_percent = watch.percent()
    verdicts = judge(results)
    failures = list(results.failed.values())
    _tables(console, title, trials, results, versions)
    if not arguments.smoke:
        report.summary_table(console, verdicts)
    report.failures(console, failures)
    report.trust(console, others_percent)
    about = {
        "date": stamp,
        "machine": machine.describe(),
        "cpu_percent_of_others": others_percent,
        "rounds": arguments.rounds,
        "runtimes": {way.name: str(way.runtime.file) for way in arguments.ways},
        "hashes": results.hashes,
        "hung": [{"what": trial.shown, "reason": reason} for trial, reason in results.hung.items()],
    } | files.judged(verdicts, failures)
    samples = {
        (trial.place.label, trial.series, " ".join(("rows", trial.share, "block", trial.size or "none"))): rates
        for trial, rates in results.rates.items()
    }
    files.write_micro(folder, samples, {measure: UNIT for _, _, measure in samples}, about, program)
    if not arguments.no_plots:
        from . import mpi_plots  # slow to load

        mpi_plots.draw(folder, title, program, results.rates)
    console.print(f"Results: {folder}", highlight=False, soft_wrap=True)
    return 1 if failures else 0
