# SPDX-License-Identifier: Apache-2.0
"""A given decision file against the defaults, in turns."""

from __future__ import annotations

import argparse
import pathlib

from . import units
from .collectives import parse_sizes
from .comparing import LEAST_TURNS, Comparison, Question, compare
from .console import Progress, say
from .decision import Decision
from .deployment import environment
from .family import find_launcher
from .faults import usage
from .files import FAMILY_OF
from .jobs import Jobs
from .mpis import Mpi
from .operations import OPERATIONS, check_sizes, sizes_of
from .outcome import change
from .record import Place, Record
from .table import table as text_table
from .verifying import DEFAULT_ARM, TUNED, tuned_arm, verify
from .ways import DEFAULT_NAME


def measure(
    options: argparse.Namespace, folder: str, file: pathlib.Path, decision: Decision, mpi: Mpi | None
) -> list[str]:
    """What is slower with the file."""
    family = FAMILY_OF.get(decision.format)
    if family is None or mpi is None:
        raise usage("--measure: for files of Open MPI and MPICH")
    budget = units.parse_seconds(options.budget)
    tables = [
        table
        for table in decision.tables
        if table.operation in OPERATIONS and table.ranks > 1 and any(rule.algorithm for rule in table.rules)
    ]
    counts = sorted({table.ranks for table in tables})
    sizes = parse_sizes(options.sizes)
    if options.sizes:
        check_sizes([OPERATIONS[table.operation] for table in tables], sizes, counts)
    if not tables:
        say("There is nothing to measure: the file has no rules for operations that the tuner knows.")
        return []
    record = Record()
    arms = [DEFAULT_ARM, tuned_arm(environment(mpi, file.absolute(), [table.operation for table in tables]))]
    with Progress(budget) as progress:
        for ranks in counts:
            jobs = Jobs(find_launcher(family, options.launcher, ranks), folder)
            jobs.tick = progress.tick
            questions = [
                Question((ranks, table.operation, size), DEFAULT_NAME, TUNED)
                for table in tables
                if table.ranks == ranks
                for size in sizes_of(OPERATIONS[table.operation], sizes, ranks)
            ]
            verify(jobs, record, progress, questions, arms, budget / len(counts))
    found = {place: compare(turns, DEFAULT_NAME, TUNED) for place, turns in record.verified.items()}
    compared = {place: one for place, one in found.items() if one is not None}
    _show(compared)
    return [_fault(place, one) for place, one in sorted(compared.items()) if one.slower] + [
        f"{_words(place)}: it fails with the file"
        for place, turns in sorted(record.verified.items())
        if found[place] is None and any(turn.get(TUNED) == [] for turn in turns)
    ]


def _words(place: Place) -> str:
    ranks, operation, size = place
    return f"{operation}, {ranks} ranks, {units.size(size)} bytes"


def _fault(place: Place, found: Comparison) -> str:
    if found.failed:
        return f"{_words(place)}: it fails with the file"
    return f"{_words(place)}: slower with the file, {change(found.ratio)}"


def _show(compared: dict[Place, Comparison]) -> None:
    rows = []
    for (ranks, operation, size), found in sorted(compared.items(), key=lambda item: (item[0][1], item[0])):
        word = "faster" if found.faster else "slower" if found.slower else "the same"
        if found.failed:
            word = "fails"
        elif found.ratio.count < LEAST_TURNS:
            word = "unknown"
        elif found.undecided:
            word = "undecided"
        times = [units.time(found.before), units.time(found.after)]
        rows.append(
            [operation, word, str(ranks), units.size(size), *times, str(found.ratio.count), change(found.ratio)]
        )
    say("")
    head = ["operation", "with file", "ranks", "bytes", "default", "with file", "turns", "time (95 %)"]
    say(text_table(head, rows, words=2))
