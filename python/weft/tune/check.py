# SPDX-License-Identifier: Apache-2.0
"""`weft tune check`: what a decision file does, and what is wrong with it."""

from __future__ import annotations

import argparse
import pathlib

from . import units, weft_rules
from .check_faults import all_faults
from .check_measure import measure
from .console import say
from .decision import Decision, Rule, Table
from .deployment import record_of
from .family import NAMES, find_launcher
from .faults import Fault, usage
from .files import FAMILY_OF, read
from .jobs import Jobs
from .mpis import Mpi, examine
from .operations import OPERATIONS


def run(options: argparse.Namespace, folder: str) -> int:
    file = pathlib.Path(options.file)
    decision = read(file)
    say(f"{file}: {decision.format}")
    mpi, note = _mpi(options, folder, decision)
    _say_words(decision, mpi)
    faults = all_faults(decision, mpi, file)
    if options.measure:
        faults += measure(options, folder, file, decision, mpi)
    say("")
    if note:
        say(note)
    for fault in faults:
        say(f"Fault: {fault}")
    if not faults:
        say("No fault found.")
    if decision.format != weft_rules.FORMAT:
        say(
            "Rules know no topology: they also hold for communicators of these ranks on several nodes, and for ranks "
            "that are placed in another way."
        )
    if not options.measure and not record_of(file).exists():
        say(f"There are no measurements beside it ({record_of(file).name}); --measure compares it with the default.")
    return 1 if faults else 0


def _mpi(options: argparse.Namespace, folder: str, decision: Decision) -> tuple[Mpi | None, str]:
    """Without an MPI there is still something to say."""
    family = FAMILY_OF.get(decision.format)
    if family is None:
        return None, ""
    if options.mpi not in (None, family):
        raise usage(f"--for {options.mpi}: the file is for {NAMES[family]}")
    known = [OPERATIONS[table.operation] for table in decision.tables if table.operation in OPERATIONS]
    try:
        jobs = Jobs(find_launcher(family, options.launcher, 1), folder)
        return examine(jobs, list(dict.fromkeys(known))), ""
    except Fault as fault:
        if options.measure:
            raise
        reason = "".join(str(fault).splitlines()[:2])
        return None, f"Whether {NAMES[family]} knows these algorithms could not be checked: {reason}"


def _name(rule: Rule, operation: str, mpi: Mpi | None) -> str:
    if rule.algorithm == 0:
        return "the MPI decides"
    known = mpi.algorithms(OPERATIONS[operation]) if mpi is not None and operation in OPERATIONS else {}
    name = rule.name or known.get(rule.algorithm, f"algorithm {rule.algorithm}")
    parts = [name]
    if rule.segment:
        parts.append(f"segments of {units.size(rule.segment)}")
    if rule.fanout:
        parts.append(f"fanout {rule.fanout}")
    return ", ".join(parts)


def _last_ranks(decision: Decision, table: Table) -> int | None:
    if table.most_ranks is not None:
        return table.most_ranks
    above = [t.ranks for t in decision.tables if t.operation == table.operation and t.ranks > table.ranks]
    return min(above) - 1 if above else None


def _say_words(decision: Decision, mpi: Mpi | None) -> None:
    for table in decision.tables:
        last = _last_ranks(decision, table)
        ranks = (
            f"{table.ranks}"
            if last == table.ranks
            else f"{table.ranks} to {last}"
            if last
            else f"{table.ranks} or more"
        )
        if all(rule.algorithm == 0 for rule in table.rules) and decision.format != weft_rules.FORMAT:
            say(f"{table.operation}, {ranks} ranks: the MPI decides")
            continue
        say(f"{table.operation}, {ranks} ranks:")
        for rule, most in table.ranges():
            end = "and more" if most is None else f"to {units.size(most)}"
            say(f"  {units.size(rule.size)} {end} bytes: {_name(rule, table.operation, mpi)}")
