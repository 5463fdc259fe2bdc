# SPDX-License-Identifier: Apache-2.0
"""bench/run mpi: single calls of MPI, outside and inside of tasks."""

import pathlib
from collections.abc import Iterator
from functools import partial
from typing import Any

from rich.console import Console

from ..frame import machine, report
from ..frame.options import Option, positive
from ..frame.process import Failure
from ..frame.study import Turn
from ..frame.verdict import Verdict
from .jobs import Place, Way
from .study import RuntimesStudy

CALLS, OPPOSITE_ORDER = "mpi_calls", "opposite_order"
RANKS = 2
# How often the tasks of opposite_order meet in one process.
TIMES = 100
# What the rate of blocking messages is to be of that of the others: times are compared here.
RATE = 0.9
# Of a program without threads; it is measured apart.
WITHOUT_TASKS = "one thread"
IN_TEAMS = "ping_pong,ready_receive,message,waiting,blocked"
READY, INSIDE = "ready_receive_outside", "ping_pong_inside_8"
# What is compared: a measure of weft, and which one of which runtime it may take so many times of.
COMPARED = (
    ("Recv that is ready, outside / plain", READY, "libgomp", READY, 1.15),
    ("Recv that is ready, inside / plain", "ready_receive_inside", "libgomp", READY, 1.15),
    ("8 bytes inside of a task / outside", INSIDE, "weft", "ping_pong_outside_8", 1.3),
    ("8 bytes inside of a task / plain outside", INSIDE, "libgomp", "ping_pong_outside_8", 1.3),
    ("64 tasks, a blocking message / TAMPI_Iwait", "message_blocking", "weft", "message_events", 1 / RATE),
    ("without tasks, one of each call / plain", "call_all", "libgomp", "call_all", 1.02),
)
# What 8000 tasks may take of weft that wait for a second.
BLOCKED = (
    ("8000 tasks that wait, seconds", "blocked_seconds", 10, "s"),
    ("8000 tasks that wait, threads beyond the CPUs", "blocked_threads", 8, ""),
)


class Calls(RuntimesStudy):
    name = "mpi"
    about = "Measures single calls of MPI; see docs/how-to/benchmark-mpi.md."
    program_name = "mpi_micro"
    options = (
        *RuntimesStudy.options,
        Option("--meetings", f"jobs of {OPPOSITE_ORDER}, {TIMES} times each", positive, 10),
    )

    def __init__(self, root: pathlib.Path) -> None:
        super().__init__(root)
        # Whether each job of opposite_order came to its end, by place and way.
        self.ended: dict[tuple[str, str], list[bool]] = {}

    def _places(self, mpi: str) -> Iterator[tuple[str, Place, str, list[object]]]:
        """What stands in the table, where, and the program and options for it."""
        for threads in dict.fromkeys((1, machine.cpus())):
            place = Place(mpi, RANKS, threads)
            yield place.label, place, self.program_name, ["--only", IN_TEAMS]
        yield f"{mpi}, {WITHOUT_TASKS}", Place(mpi, RANKS, 1), CALLS, ["--single"]

    def turns(self) -> Iterator[Turn]:
        for mpi in self.mpis:
            for policy, place, program, words in self._places(mpi):
                for way in self.ways:
                    yield f"{policy}: {way.name}", partial(self._measure, policy, place, way, program, words)

    def plan(self) -> list[Turn]:
        # Without task-aware MPI they hang: nobody waits for that in --smoke.
        ways = [way for way in self.ways if way.preloaded or not self.smoke]
        places = [Place(mpi, RANKS, machine.cpus()) for mpi in self.mpis]
        return super().plan() + [
            (f"{place.label}: {OPPOSITE_ORDER}, {way.name}", partial(self._meet, place, way))
            for place in places
            for way in ways
        ]

    def _measure(self, policy: str, place: Place, way: Way, program: str, words: list[object]) -> None:
        size = ["--repeat", 2, "--milliseconds", 1] if self.smoke else []
        outcome = self.run(place, way, program, [*words, *size])
        if outcome.result is None:
            self.failures.append(Failure(way.name, f"{policy}: {program}", outcome.reason))
        else:
            self.samples.take(policy, way.name, outcome.result)

    def _meet(self, place: Place, way: Way) -> None:
        """Without task-aware MPI one process that does not come to its end says it all."""
        ended = self.ended[place.label, way.name] = list[bool]()
        for _ in range(1 if self.smoke else self.arguments.meetings):
            ended.append(self.run(place, way, OPPOSITE_ORDER, [TIMES]).result is not None)
            if not ended[-1] and way.preloaded is None:
                break

    def judge(self) -> list[Verdict]:
        """Of weft with task-aware MPI, against the same program without it."""
        verdicts = [
            Verdict("opposite order, jobs that do not end", place, ended.count(False), 0)
            for (place, way), ended in self.ended.items()
            if way == "weft"
        ]
        for policy in self.samples.policies():
            for what, own, way, other, limit in COMPARED:
                first, second = self.samples.median(policy, "weft", own), self.samples.median(policy, way, other)
                if first and second:
                    verdicts.append(Verdict(what, policy, first / second, limit))
            waiting = self.samples.median(policy, "weft", "waiting")
            if waiting is not None:
                verdicts.append(Verdict("CPU while all tasks wait", policy, waiting, 2, "%"))
            for what, measure, limit, unit in BLOCKED:
                found = self.samples.median(policy, "weft", measure)
                if found is not None:
                    verdicts.append(Verdict(what, policy, found, limit, unit))
        return verdicts

    def show(self, console: Console) -> None:
        names = [way.name for way in self.ways]
        console.print(report.medians(self.samples, names, policies="ranks x threads"))
        for (place, way), ended in self.ended.items():
            console.print(f"{OPPOSITE_ORDER}, {place}, {way}: {ended.count(True)} of {len(ended)} jobs ended.")

    def results(self) -> dict[str, Any]:
        ended = [
            {"place": place, "runtime": way, "times": TIMES, "ended": ended}
            for (place, way), ended in self.ended.items()
        ]
        return {"opposite_order": ended} | super().results()

    def draw(self, folder: pathlib.Path) -> None:
        from ..frame import plots  # slow to load

        for policy in self.samples.policies():
            values = self.samples.curves(policy, r"ping_pong_(?P<side>\w+)_(?P<x>\d+)", 1e-3)
            stem = folder / f"mpi_ping_pong_{policy.replace(', ', '_').replace(' ', '')}"
            plots.lines(stem, f"a message one way\n{policy}", "bytes", "us", values, logarithmic=True)
