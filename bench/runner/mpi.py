# SPDX-License-Identifier: Apache-2.0
"""The command line of bench/run mpi: single calls of MPI, outside and inside of tasks."""

import argparse
import collections
import pathlib
import statistics
from collections.abc import Iterator

from rich.progress import Progress

from . import files, machine, mpi_jobs, mpi_study, report, terminal
from .mpi_jobs import Outcome, Place, Way
from .process import Failure
from .targets import Key, Verdict

PROGRAM, CALLS, OPPOSITE_ORDER = "mpi_micro", "mpi_calls", "opposite_order"
RANKS = 2
# How often the tasks of opposite_order meet in one process.
TIMES = 100
# What the rate of blocking messages is to be of that of the others: times are compared here.
RATE = 0.9
# Of a program without threads; it is measured apart.
WITHOUT_TASKS = "one thread"
IN_TEAMS = "ping_pong,ready_receive,message,waiting"

Samples = dict[Key, list[float]]


class Measured:
    def __init__(self) -> None:
        self.samples: Samples = collections.defaultdict(list)
        self.units: dict[str, str] = {}
        self.failures: list[Failure] = []
        # Whether each job of opposite_order came to its end, by place and way.
        self.ended: dict[tuple[str, str], list[bool]] = {}

    def take(self, policy: str, way: Way, program: str, outcome: Outcome) -> None:
        if outcome.result is None:
            self.failures.append(Failure(way.name, f"{policy}: {program}", outcome.reason))
            return
        for name, value in outcome.result.items():
            if isinstance(value, dict) and "samples" in value:
                self.samples[policy, way.name, name] += value["samples"]
                self.units[name] = value["unit"]


def _places(mpi: str) -> Iterator[tuple[str, Place, str, list[object]]]:
    """What stands in the table, where, and the program and options for it."""
    for threads in dict.fromkeys((1, machine.cpus())):
        place = Place(mpi, RANKS, threads)
        yield place.label, place, PROGRAM, ["--only", IN_TEAMS]
    yield f"{mpi}, {WITHOUT_TASKS}", Place(mpi, RANKS, 1), CALLS, ["--single"]


def _measure(arguments: argparse.Namespace, progress: Progress) -> Measured:
    measured = Measured()
    places = [found for mpi in arguments.mpi for found in _places(mpi)]
    size = ["--repeat", 2, "--milliseconds", 1] if arguments.smoke else []
    meetings = 1 if arguments.smoke else arguments.meetings
    task = progress.add_task("", total=len(arguments.ways) * (arguments.rounds * len(places) + len(arguments.mpi)))
    for _ in range(arguments.rounds):
        for policy, place, program, words in places:
            for way in arguments.ways:
                progress.update(task, advance=1, description=f"{policy}: {way.name}")
                outcome = mpi_jobs.run(arguments.build, place, way, program, [*words, *size], arguments.timeout)
                measured.take(policy, way, program, outcome)
    for mpi in arguments.mpi:
        place = Place(mpi, RANKS, machine.cpus())
        # Without task-aware MPI they hang: nobody waits for that in --smoke.
        for way in arguments.ways if not arguments.smoke else [way for way in arguments.ways if way.preloaded]:
            progress.update(task, advance=1, description=f"{place.label}: {OPPOSITE_ORDER}, {way.name}")
            measured.ended[place.label, way.name] = _opposite_order(arguments, place, way, meetings)
    return measured


def _opposite_order(arguments: argparse.Namespace, place: Place, way: Way, meetings: int) -> list[bool]:
    """Whether each of so many processes came to its end; without task-aware MPI one that does not says it all."""
    ended = []
    for _ in range(meetings):
        outcome = mpi_jobs.run(arguments.build, place, way, OPPOSITE_ORDER, [TIMES], arguments.timeout)
        ended.append(outcome.result is not None)
        if not ended[-1] and way.preloaded is None:
            break
    return ended


def judge(measured: Measured) -> list[Verdict]:
    """Of weft with task-aware MPI, against the same program without it."""
    verdicts = [
        Verdict("opposite order, jobs that do not end", place, ended.count(False), 0, "")
        for (place, way), ended in measured.ended.items()
        if way == "weft"
    ]
    medians = {key: statistics.median(values) for key, values in measured.samples.items()}

    def compare(what: str, policy: str, own: str, way: str, other: str, limit: float) -> None:
        first, second = medians.get((policy, "weft", own)), medians.get((policy, way, other))
        if first and second:
            verdicts.append(Verdict(what, policy, first / second, limit, ""))

    for policy in dict.fromkeys(policy for policy, _, _ in measured.samples):
        for where in ("outside", "inside"):
            name = f"ready_receive_{where}"
            compare(f"Recv that is ready, {where} / plain", policy, name, "libgomp", "ready_receive_outside", 1.15)
        compare("8 bytes inside of a task / outside", policy, "ping_pong_inside_8", "weft", "ping_pong_outside_8", 1.3)
        compare(
            "8 bytes inside of a task / plain outside",
            policy,
            "ping_pong_inside_8",
            "libgomp",
            "ping_pong_outside_8",
            1.3,
        )
        compare(
            "64 tasks, a blocking message / TAMPI_Iwait", policy, "message_blocking", "weft", "message_events", 1 / RATE
        )
        compare("without tasks, one of each call / plain", policy, "call_all", "libgomp", "call_all", 1.02)
        waiting = medians.get((policy, "weft", "waiting"))
        if waiting is not None:
            verdicts.append(Verdict("CPU while all tasks wait", policy, waiting, 2, "%"))
    return verdicts


def _draw(folder: pathlib.Path, measured: Measured) -> None:
    from . import plots  # slow to load

    for policy in dict.fromkeys(policy for policy, _, _ in measured.samples):
        values: dict[str, dict[int, list[float]]] = collections.defaultdict(dict)
        for (where, way, name), samples in measured.samples.items():
            if where == policy and name.startswith("ping_pong_"):
                side, size = name.removeprefix("ping_pong_").split("_")
                values[f"{way}, {side}"][int(size)] = [1e-3 * value for value in samples]
        if values:
            stem = folder / f"mpi_ping_pong_{policy.replace(', ', '_').replace(' ', '')}"
            plots.lines(stem, f"a message one way\n{policy}", "bytes", "us", values, logarithmic=True)


def main(root: pathlib.Path, words: list[str]) -> int:
    made = mpi_study.parser("mpi", "Measures single calls of MPI; see docs/how-to/benchmark-mpi.md.", root)
    made.add_argument(
        "--meetings",
        type=terminal.positive,
        default=10,
        help=f"jobs of {OPPOSITE_ORDER}, {TIMES} times each (default 10)",
    )
    arguments = mpi_study.complete(made, words, PROGRAM, root)
    console, stamp = terminal.console(), terminal.stamp()
    folder = terminal.results_folder(root, arguments.out, stamp)
    watch = machine.OthersWatch()
    with terminal.progress(console) as progress:
        measured = _measure(arguments, progress)
    others_percent = watch.percent()
    verdicts = judge(measured)
    report.micro_table(
        console, measured.samples, measured.units, [way.name for way in arguments.ways], policies="ranks x threads"
    )
    for (place, way), ended in measured.ended.items():
        console.print(
            f"{OPPOSITE_ORDER}, {place}, {way}: {ended.count(True)} of {len(ended)} jobs ended.", highlight=False
        )
    if not arguments.smoke:
        report.summary_table(console, verdicts)
    report.failures(console, measured.failures)
    report.trust(console, others_percent)
    about = {
        "date": stamp,
        "machine": machine.describe(),
        "cpu_percent_of_others": others_percent,
        "rounds": arguments.rounds,
        "runtimes": {way.name: str(way.runtime.file) for way in arguments.ways},
        "opposite_order": [
            {"place": place, "runtime": way, "times": TIMES, "ended": ended}
            for (place, way), ended in measured.ended.items()
        ],
    } | files.judged(verdicts, measured.failures)
    files.write_micro(folder, measured.samples, measured.units, about, "mpi")
    if not arguments.no_plots:
        _draw(folder, measured)
    console.print(f"Results: {folder}", highlight=False, soft_wrap=True)
    return 1 if measured.failures else 0
