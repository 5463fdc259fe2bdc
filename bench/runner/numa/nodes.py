# SPDX-License-Identifier: Apache-2.0
"""A matrix times a vector on NUMA nodes: by who initialises it, threads, binding and automatic balancing."""

import argparse
import json
import pathlib
from collections.abc import Iterator
from contextlib import AbstractContextManager
from functools import partial
from typing import Any

from rich.console import Console

from ..frame import machine, options, runtimes
from ..frame.comparison import Comparison
from ..frame.options import LISTED, RUNTIMES, Option, names, numbers, positive
from ..frame.process import Failure
from ..frame.runtimes import Runtime
from ..frame.study import Turn
from ..frame.verdict import Verdict
from . import places, tables
from .cases import FIRST_TOUCHES, INTERLEAVED, Case, Samples

# Of the largest matrix's memory, as the source paper's sizes: 3, 12 and 18 GiB.
PARTS_OF_MEMORY = (1 / 6, 2 / 3, 1.0)
MOST_THREAD_COUNTS = 8
SMOKE_ROWS, GUEST_ROWS = 300, 1600
REPETITIONS, BALANCED = "5", "8s"  # balancing looks at a process once a second at most
GUEST_REPETITIONS, SMOKE_REPETITIONS = "3", "2"
SERIAL_REMOTE, SERIAL_TOLERANCE, PARALLEL_REMOTE = 50.0, 2.0, 2.0  # percent


class Numa(Comparison):
    name = "numa"
    about = (
        "Multiplies a matrix and a vector row by row: time and speed-up by threads, and what they access on other NUMA "
        "nodes; with serial and parallel first touch, bound or not, and automatic balancing on and off."
    )
    rounds, usual_rounds = None, "3; in a guest 1"

    options = (
        Option("--guest", "in an emulated machine with two nodes"),
        RUNTIMES,
        Option("--rows", f"of the square matrices, {LISTED} (default: from --megabytes)", numbers),
        Option("--megabytes", "of the largest matrix (default: an eighth of what is free)", positive),
        Option("--threads", f"how many, {LISTED} (default: 1 to all CPUs)", numbers),
        Option("--accelerator", "of the guest: kvm or tcg (default: KVM where it works)", names, ""),
        Option("--cpus", "of the guest", positive, 4),
    )

    def complete(self, parser: argparse.ArgumentParser) -> None:
        super().complete(parser)
        given = self.arguments
        options.check(parser, "--accelerator", given.accelerator, ("kvm", "tcg"))
        if not pathlib.Path(self.program("dgemv")).exists():
            parser.error(f"{given.build} has no bench/dgemv; build the target dgemv")
        given.rounds = given.rounds or (1 if given.guest else 3)
        self.nodes = 2 if given.guest else places.nodes_here()
        self.cases = self._cases()
        self.found: Samples = {}

    def _cases(self) -> list[Case]:
        given = self.arguments
        threads = given.threads or thread_counts(given.cpus if given.guest else machine.cpus())
        repetitions = GUEST_REPETITIONS if given.guest else REPETITIONS
        sizes = given.rows or self._sizes()
        if self.smoke:
            repetitions = SMOKE_REPETITIONS
        cases = [
            Case(rows, first_touch, count, bound, False, repetitions)
            for rows in sizes
            for first_touch in FIRST_TOUCHES
            if first_touch != INTERLEAVED or self.nodes > 1
            for bound in (False, True)
            for count in threads
        ]
        if self.nodes == 1 or not (given.guest or places.may_balance()):
            return cases
        # Pages move in a program that goes on for long enough: with all threads only.
        return cases + [
            Case(rows, first_touch, threads[-1], bound, True, BALANCED)
            for rows in sizes
            for first_touch in ("serial", "parallel")
            for bound in (False, True)
        ]

    def _sizes(self) -> list[int]:
        given = self.arguments
        if self.smoke:
            return [SMOKE_ROWS]
        if given.guest and not given.megabytes:
            return [GUEST_ROWS]
        most = given.megabytes << 20 if given.megabytes else places.free_bytes() / 8
        return sorted({int((most * part / 8) ** 0.5) for part in PARTS_OF_MEMORY})

    def surroundings(self) -> AbstractContextManager[object]:
        return places.balancing_kept()

    def plan(self) -> list[Turn]:
        return [("the guest", self._measure_in_guest)] if self.arguments.guest else super().plan()

    def turns(self) -> Iterator[Turn]:
        for case in self.cases:
            for runtime in self.runtimes:
                yield f"{runtime.name}: {case.label()}", partial(self._measure, case, runtime)

    def _measure(self, case: Case, runtime: Runtime) -> None:
        places.set_balancing(case.balanced)
        if result := self.json_under(runtime, case.command(self.program("dgemv")), case.variables()):
            self.found.setdefault((runtime.name, case), []).append(result)

    def _measure_in_guest(self) -> None:
        """All of it in one guest."""
        given, program = self.arguments, self.program("dgemv")
        turns = [(runtime, case) for case in self.cases for runtime in self.runtimes] * given.rounds
        printed = places.in_guest(self.root, given.cpus, given.accelerator, program, turns)
        for (runtime, case), (text, status) in zip(turns, printed, strict=True):
            reason = "" if status == 0 else text.strip()[-300:]
            try:
                result = {} if reason else json.loads(text)
                reason = reason or runtimes.wrong_runtime(runtime, result)
            except json.JSONDecodeError as error:
                reason = f"no JSON on stdout: {error}"
            if reason:
                self.failures.append(Failure(runtime.name, places.command_of(runtime, program, case), reason))
            else:
                self.found.setdefault((runtime.name, case), []).append(result)

    def show(self, console: Console) -> None:
        if self.nodes == 1:
            console.print(
                "This machine has one NUMA node: every access is local, and first touch, interleaving and balancing "
                "change nothing. bench/run numa --guest takes a machine with two."
            )
        tables.speedups(console, self.found, self.names)
        tables.accesses(console, self.found, self.names)

    def judge(self) -> list[Verdict]:
        """What all bound threads access on other nodes, without balancing."""
        verdicts = []
        most = max((case.threads for _, case in self.found), default=0)
        for (name, case), results in self.found.items() if self.nodes > 1 and not self.smoke else ():
            if not case.bound or case.balanced or case.threads != most:
                continue
            share = 100 * tables.median_of(results, "remote")
            text = f"{name}, {case.rows} rows"
            if case.first_touch == "serial":
                what = "serial first touch: off 50 % remote"
                verdicts.append(Verdict(what, text, abs(share - SERIAL_REMOTE), SERIAL_TOLERANCE, "%"))
            elif case.first_touch == "parallel":
                verdicts.append(Verdict("parallel first touch: remote", text, share, PARALLEL_REMOTE, "%"))
        return verdicts

    def results(self) -> dict[str, Any]:
        about = {"guest": self.arguments.guest, "nodes": self.nodes}
        return super().results() | about | {"results": tables.as_json(self.found)}


def thread_counts(cpus: int) -> list[int]:
    """1 to all, some of them where there are many."""
    most = min(cpus, MOST_THREAD_COUNTS)
    return sorted({1, *(round(cpus * step / most) for step in range(1, most + 1))})
