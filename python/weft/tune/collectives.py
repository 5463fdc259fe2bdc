# SPDX-License-Identifier: Apache-2.0
"""`weft tune collectives`: measure, choose, write, verify, say."""

from __future__ import annotations

import argparse
import datetime
import os
import pathlib
import platform

from . import component, units
from .choices import Choices
from .comparing import Question
from .component import Component
from .console import Progress, say, warn
from .deployment import Deployment
from .family import NAMES, Launcher, find_launcher
from .faults import Fault, usage
from .jobs import Jobs
from .measuring import Measuring, missing
from .mpis import Mpi, examine
from .operations import SIZES, Operation, check_sizes, choose
from .outcome import show_measured, show_pictures, show_rest, show_verdicts
from .paper import show_thresholds
from .publishing import Publishing
from .record import Record
from .results import check_decision, check_record, recorded_hash
from .verifying import DEFAULT_ARM, TUNED, Arm, tuned_arm, verdicts, verify
from .ways import DEFAULT_NAME, WEFT_NAME
from .weft_choices import WeftChoices

# Of the budget: the rest is for starting and ending jobs.
_MEASURE = 0.6
_VERIFY = 0.35
# A load above this share of the CPUs, before there are jobs, is that of others.
_BUSY = 0.5


def parse_ranks(text: str | None) -> list[int]:
    if text is None:
        raise usage("how many ranks? weft tune ... -n RANKS, or mpirun -n RANKS weft tune ...")
    try:
        counts = sorted({int(word) for word in text.split(",")})
    except ValueError:
        raise usage(f"-n {text}: a number of ranks is wanted, or several with commas between") from None
    if counts[0] < 2:
        raise usage(f"-n {text}: two ranks at least: one has nobody to exchange data with")
    return counts


def parse_sizes(text: str | None, default: tuple[int, ...] = SIZES) -> list[int]:
    if text is None:
        return list(default)
    return [units.parse_size(word) for word in text.split(",")]


class Tuning:
    """One run of the command."""

    def __init__(self, options: argparse.Namespace, folder: str) -> None:
        self._operations = choose(options.only)
        self._counts = parse_ranks(options.ranks)
        self._sizes = parse_sizes(options.sizes)
        if options.sizes:
            check_sizes(self._operations, self._sizes, self._counts)
        self._budget = units.parse_seconds(options.budget)
        self._options = options
        self._launcher = find_launcher(options.mpi, options.launcher, max(self._counts))
        self._into = pathlib.Path(options.output)
        try:
            self._into.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise usage(f"-o {self._into}: {error.strerror}") from None
        self._jobs = Jobs(self._launcher, folder, self._into)
        self._component = component.find(self._launcher.family, folder)
        self._rules = (self._into / "weft.rules").absolute()
        self._places = 0
        self._record = Record()
        self._lacking: list[str] = []

    def run(self) -> int:
        _warn_of_load()
        with Progress(self._budget) as progress:
            self._jobs.tick = progress.tick
            progress.stage("the MPI's algorithms")
            mpi = examine(self._jobs, self._operations)
            _warn_of_fixed(mpi, self._operations)
            _warn_of_own_file(mpi)
            deployment = Deployment(mpi, self._into, self._options.format)
            self._record.about = _about(mpi, self._launcher, self._options.paper)
            record = self._check_folder(deployment)
            self._measure(mpi, progress, record)
            if not any(self._record.samples.values()):
                raise Fault(f"nothing could be measured in {units.seconds(self._budget)}; give it more: --budget 5m")
            self._record.about["missing"] = self._lacking
            if self._options.paper:
                return self._end_of_paper(deployment)
            choices = Choices(self._record, mpi)
            weft = WeftChoices(self._record, choices.chosen)
            first, first_weft = choices.changed(), weft.taken()
            self._verify(choices, weft, deployment, progress)
        found = verdicts(self._record, first)
        found_weft = verdicts(self._record, first_weft, WEFT_NAME, first)
        choices.keep_confirmed(found)
        weft.keep_confirmed(found_weft)
        show_measured(self._record, choices.chosen)
        show_verdicts(
            "Run again, with the file and without it, in turns:",
            ("default", "with file"),
            found,
            first,
            choices.changed(),
        )
        show_verdicts(
            "Run again with weft's collectives and without them, in turns:",
            ("MPI", "weft"),
            found_weft,
            first_weft,
            weft.taken(),
        )
        show_rest(self._record, self._lacking, self._budget)
        publishing = Publishing(deployment, record, self._rules, self._launcher, self._counts)
        publishing.write(self._record, choices, weft)
        publishing.say_use(choices, self._places)
        publishing.say_weft(weft)
        show_pictures(self._record, choices.chosen, self._into)
        say(f"Measurements of {mpi.name}: {record}")
        return 0

    def _check_folder(self, deployment: Deployment) -> pathlib.Path:
        """The file of the measurements."""
        record = deployment.record_of_paper if self._options.paper else deployment.record
        check_record(record)
        if not self._options.paper:
            measured = [(operation.name, ranks) for operation in self._operations for ranks in self._counts]
            for file in (deployment.file, self._rules):
                check_decision(file, record, measured)
            self._record.about["decision"] = recorded_hash(record)
        return record

    def _measure(self, mpi: Mpi, progress: Progress, record: pathlib.Path) -> None:
        options = self._options
        measuring = Measuring(
            self._jobs,
            mpi,
            self._record,
            progress,
            options.own,
            options.paper,
            None if options.paper else self._component,
        )
        measuring.after_round = lambda: self._record.write(record)
        for index, ranks in enumerate(self._counts):
            share = progress.left() / (len(self._counts) - index)
            model = measuring.levels(ranks)
            wanted = measuring.all_ways(self._operations, self._sizes, ranks, None if options.all else model)
            self._places += len(wanted)
            measuring.measure(wanted, ranks, max(share * (1.0 if options.paper else _MEASURE), 0.5))
            self._lacking += missing(self._record, wanted)

    def _end_of_paper(self, deployment: Deployment) -> int:
        self._record.write(deployment.record_of_paper)
        show_measured(self._record, paper=True)
        show_thresholds(self._record)
        show_rest(self._record, self._lacking, self._budget)
        show_pictures(self._record, {}, self._into, paper=True)
        say(f"Measurements: {deployment.record_of_paper}")
        return 0

    def _verify(self, choices: Choices, weft: WeftChoices, deployment: Deployment, progress: Progress) -> None:
        """With files beside those of the jobs: the results are changed when it is known what goes into them."""
        tables = choices.tables()
        arms = [DEFAULT_ARM]
        variables = {}
        if tables:
            file = self._jobs.scratch / deployment.file.name
            file.write_text(deployment.text(tables, self._counts), encoding="utf-8")
            variables = deployment.variables(tables, file)
            arms.append(tuned_arm(variables))
        if weft.taken():
            rules = self._jobs.scratch / self._rules.name
            rules.write_text(weft.text(), encoding="utf-8")
            arms.append(_weft_arm(self._component, rules, variables))
        best = TUNED if tables else DEFAULT_NAME
        questions = [Question(place, DEFAULT_NAME, TUNED) for place in sorted(choices.changed())]
        questions += [Question(place, best, WEFT_NAME) for place in sorted(weft.taken())]
        for index, ranks in enumerate(self._counts):
            mine = [question for question in questions if question.place[0] == ranks]
            if mine:
                seconds = max(progress.left(), self._budget * _VERIFY / 2) / (len(self._counts) - index)
                verify(self._jobs, self._record, progress, mine, arms, seconds)


def _weft_arm(own: Component | None, rules: pathlib.Path, variables: dict[str, str]) -> Arm:
    assert own is not None, "only what was measured is taken"
    return Arm(WEFT_NAME, "with weft's collectives", {**variables, **own.with_rules(rules)}, own.prefix)


def _warn_of_fixed(mpi: Mpi, operations: list[Operation]) -> None:
    for operation in operations:
        reason = mpi.no_rules(operation)
        if reason:
            warn(f"{operation.name}: no rules are written for it: {reason}")
        elif not mpi.algorithms(operation):
            warn(f"{operation.name}: this {NAMES[mpi.family]} lets nobody choose its algorithm")


def _warn_of_load() -> None:
    load, cpus = os.getloadavg()[0], len(os.sched_getaffinity(0))
    if load > cpus * _BUSY:
        warn(f"other programs keep the CPUs busy (load {load:.0f} on {cpus} CPUs): times will be theirs in part")


def _warn_of_own_file(mpi: Mpi) -> None:
    if os.environ.get(mpi.file_variable):
        warn(f"{mpi.file_variable} is set: what is called the default here goes by {os.environ[mpi.file_variable]}")


def _about(mpi: Mpi, launcher: Launcher, paper: bool) -> dict[str, object]:
    return {
        "mpi": {"family": mpi.family, "version": mpi.version, "name": mpi.name},
        "host": platform.node(),
        "cpus": len(os.sched_getaffinity(0)),
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "launcher": list(launcher.command),
        "method": "the paper's" if paper else "median of the longest rank",
    }


def run(options: argparse.Namespace, folder: str) -> int:
    return Tuning(options, folder).run()
