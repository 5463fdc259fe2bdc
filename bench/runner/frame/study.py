# SPDX-License-Identifier: Apache-2.0
"""What a study is, and how all of them are run: measured in turn, shown, judged and written.

A study says what it measures (`turns`) and what it makes of it (`show`, `judge`, `results`, `draw`); README.md has one
of twenty lines. `run` has what they share.
"""

import argparse
import contextlib
import dataclasses
import datetime
import pathlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

from rich.console import Console

from . import files, machine, process, report
from .options import Option, positive
from .process import Failure
from .samples import COLUMNS, Samples
from .verdict import Verdict

# What is measured now, as the progress bar has it, and its measurement.
Turn = tuple[str, Callable[[], object]]


def in_turn(rounds: int, turns: Iterable[Turn]) -> list[Turn]:
    """A B C, A B C, ...: a slow moment of the machine meets all that is compared."""
    return [*turns] * rounds


class Study:
    name = ""  # of `bench/run NAME`; its results are NAME.json
    about = ""  # the description in --help
    rounds: int | None = 5  # if --rounds says nothing
    usual_rounds = ""  # where `complete` chooses them
    smoke_names: tuple[str, ...] = ("--smoke",)
    options: tuple[Option, ...] = ()  # that not every study has

    def __init__(self, root: pathlib.Path) -> None:
        self.root = root
        self.arguments = argparse.Namespace()
        self.samples = Samples()
        self.failures: list[Failure] = []
        self.save: Callable[[], None] = lambda: None  # writes what has been measured; `run` sets it

    # What a study says of itself.

    def complete(self, parser: argparse.ArgumentParser) -> None:
        """Checks and completes `arguments`; `parser` refuses them."""

    def turns(self) -> Iterable[Turn]:
        """The measurements of one round."""
        return ()

    def plan(self) -> list[Turn]:
        """All measurements in their order."""
        return in_turn(self.arguments.rounds, self.turns())

    def surroundings(self) -> AbstractContextManager[object]:
        """What is there while it is measured, such as a server."""
        return contextlib.nullcontext()

    def show(self, console: Console) -> None:
        """Prints the tables."""

    def judge(self) -> list[Verdict]:
        return []

    def results(self) -> dict[str, Any]:
        """What its JSON has beside that of every study."""
        return {"results": self.samples.as_json()}

    def draw(self, folder: pathlib.Path) -> None:
        """Pictures."""

    def failed(self) -> bool:
        return bool(self.failures)

    # What a study is offered.

    @property
    def smoke(self) -> bool:
        return self.arguments.smoke

    def program(self, name: str) -> str:
        return str(self.arguments.build / "bench" / name)

    def json_of(
        self,
        series: str,
        command: Sequence[object],
        variables: Mapping[str, str] | None = None,
        check: Callable[[process.Done, dict[str, Any]], str] = lambda *_: "",
        hidden: Mapping[str, str] | None = None,
    ) -> dict[str, Any]:
        """The JSON that a program wrote. Empty: it failed, now or before, and is listed in `failures`, without the
        variables that are `hidden`."""
        variables = variables or {}
        words = [str(part) for part in command]
        shown = " ".join([*(f"{name}={value}" for name, value in variables.items()), *words])
        if any((failure.runtime, failure.command) == (series, shown) for failure in self.failures):
            return {}
        result, reason = process.read_json(words, process.environment() | (hidden or {}) | variables, check)
        if reason:
            self.failures.append(Failure(series, shown, reason))
        return {} if reason else result

    def write(self, folder: pathlib.Path, head: dict[str, Any]) -> None:
        name = self.name.replace("-", "_")
        files.write_json(folder, name, head | self.results())
        if self.samples:
            files.write_csv(folder, name, COLUMNS, self.samples.as_json())

    @property
    def draws(self) -> bool:
        return type(self).draw is not Study.draw


@dataclasses.dataclass(frozen=True)
class Demonstration:
    """Ends with what weft gains instead of its targets, which are for machines that do nothing else."""

    gains: Callable[[], dict[str, float]]
    on_busy_machines: str


def parser_of(study: Study) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=f"bench/run {study.name}", description=study.about)
    text = "one round of little: does it run, and is it right"
    parser.add_argument(*study.smoke_names, dest="smoke", action="store_true", help=text)
    build = study.root / "build/release"
    parser.add_argument("--build", type=pathlib.Path, default=build, help="the build to measure")
    text = f"how often each is measured, in turn (default {study.usual_rounds or study.rounds})"
    parser.add_argument("--rounds", type=positive, default=study.rounds, help=text)
    parser.add_argument("--out", type=pathlib.Path, help="folder of the results (default bench/results/DATE)")
    if study.draws:
        parser.add_argument("--no-plots", action="store_true")
    for option in study.options:
        option.add(parser)
    return parser


def main(study: Study, words: Sequence[str]) -> int:
    """The command line of a study that has options of its own."""
    parser = parser_of(study)
    return run([study], parser, parser.parse_args(words))


def run(
    studies: Sequence[Study],
    parser: argparse.ArgumentParser,
    arguments: argparse.Namespace,
    demonstration: Demonstration | None = None,
) -> int:
    """One after the other as one run, which has one judgement. The exit status."""
    arguments.build = arguments.build.absolute()
    if arguments.smoke:
        arguments.rounds = 1
    for study in studies:
        study.arguments = arguments
        study.complete(parser)
    shown_on, stamp = report.console(), datetime.datetime.now(tz=datetime.UTC).strftime("%Y-%m-%d-%H%M%S")
    folder = (arguments.out or studies[0].root / "bench/results" / stamp).absolute()
    machine.raise_limits()
    watch = machine.OthersWatch()

    def save(verdicts: Sequence[Verdict] = ()) -> None:
        head = {
            "date": stamp,
            "machine": machine.describe(),
            "cpu_percent_of_others": watch.percent(),
            "rounds": arguments.rounds,
            "targets": [dataclasses.asdict(verdict) | {"met": verdict.met} for verdict in verdicts],
            "failures": [dataclasses.asdict(failure) for study in studies for failure in study.failures],
        }
        for study in studies:
            study.write(folder, head)

    with report.progress(shown_on) as progress, contextlib.ExitStack() as around:
        for study in studies:
            study.save = save
            around.enter_context(study.surroundings())
        plans = [(study, study.plan()) for study in studies]
        task = progress.add_task("", total=sum(len(plan) for _, plan in plans))
        for study, plan in plans:
            for what, measure in plan:
                progress.update(task, advance=1, description=what)
                measure()
            # Whoever looks on waits for the first table.
            if demonstration:
                study.show(shown_on)
    others_percent = watch.stop()
    for study in () if demonstration else studies:
        study.show(shown_on)
    # Targets are set against other runtimes, of which another version of weft is none.
    judges = [] if getattr(arguments, "before", None) else studies
    verdicts = [verdict for study in judges for verdict in study.judge()]
    failures = [failure for study in studies for failure in study.failures]
    if demonstration:
        report.show_gains(shown_on, demonstration.gains())
    elif not arguments.smoke:
        report.show_targets(shown_on, verdicts)
    report.show_failures(shown_on, failures)
    report.show_trust(shown_on, others_percent, demonstration.on_busy_machines if demonstration else "")
    save(verdicts)
    for study in studies:
        if study.draws and not arguments.no_plots:
            study.draw(folder)
    shown_on.print(f"Results: {folder}", soft_wrap=True)
    return 1 if any(study.failed() for study in studies) else 0
