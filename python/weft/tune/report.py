# SPDX-License-Identifier: Apache-2.0
"""`weft tune report`: what a decision file does, and what is wrong with it."""

from __future__ import annotations

import argparse
import pathlib
from collections.abc import Iterator

from . import mpich_rules, units, weft_rules
from .collectives import parse_sizes
from .console import Progress, say
from .decision import Decision, Rule, Table
from .deployment import environment, record_of
from .family import NAMES, OPENMPI, find_launcher
from .faults import Fault, usage
from .files import FAMILY_OF, read
from .jobs import Jobs
from .mpich import Mpich
from .mpis import Mpi, examine
from .operations import OPERATIONS, sizes_of
from .record import Place, Record
from .record import read as read_record
from .selection import clearly_faster
from .stats import estimate, gain
from .table import table as text_table
from .verifying import DEFAULT_ARM, tuned_arm, verify
from .ways import DEFAULT_NAME


def run(options: argparse.Namespace, folder: str) -> int:
    file = pathlib.Path(options.file)
    decision = read(file)
    say(f"{file}: {decision.format}")
    mpi, note = _mpi(options, folder, decision)
    _say_words(decision, mpi)
    faults = [*decision.faults, *(_unknown(decision, mpi) if mpi is not None else [])]
    faults += _slower(decision, file)
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
    if options.measure:
        _measure(options, folder, file, decision, mpi)
    elif not record_of(file).exists():
        say(f"There are no measurements beside it ({record_of(file).name}); --measure compares it with the default.")
    return 1 if faults else 0


def _mpi(options: argparse.Namespace, folder: str, decision: Decision) -> tuple[Mpi | None, str]:
    """Without an MPI there is still something to say."""
    family = FAMILY_OF.get(decision.format)
    if family is None:
        return None, ""
    if options.mpi not in (None, family):
        raise usage(f"--mpi {options.mpi}: the file is for {NAMES[family]}")
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


def _ranges(table: Table) -> Iterator[tuple[Rule, int | None]]:
    """Each rule, and the last size that it holds for."""
    for rule, following in zip(table.rules, [*table.rules[1:], None]):
        yield rule, rule.most if rule.most is not None else following.size - 1 if following is not None else None


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
        for rule, most in _ranges(table):
            end = "and more" if most is None else f"to {units.size(most)}"
            say(f"  {units.size(rule.size)} {end} bytes: {_name(rule, table.operation, mpi)}")


def _unknown(decision: Decision, mpi: Mpi) -> list[str]:
    found = []
    data = pathlib.Path(mpi.library_file).read_bytes() if isinstance(mpi, Mpich) else b""
    title = f"{NAMES[mpi.family]} {mpi.version}"
    for table in decision.tables:
        operation = OPERATIONS.get(table.operation)
        if operation is None:
            continue
        known = mpi.algorithms(operation)
        for rule in table.rules:
            where = f"line {rule.line}: {table.operation}" if rule.line else table.operation
            if mpi.family == OPENMPI and (rule.algorithm > 0 and rule.algorithm not in known):
                names = ", ".join(f"{number} {name}" for number, name in known.items())
                found.append(
                    f"{where}: {title} has no algorithm {rule.algorithm}, and says so only when a program calls the "
                    f"operation, which fails then; there are {names}"
                )
            elif mpi.family == OPENMPI and rule.algorithm < 0 and rule.name not in known.values():
                found.append(f"{where}: {title} has no algorithm {rule.name}; it ignores the rule")
            elif isinstance(mpi, Mpich) and rule.algorithm:
                key = mpich_rules.algorithm_key(table.operation, rule.name).split("=")[1].encode()
                if key not in data:
                    found.append(f"{where}: {title} has no algorithm {rule.name}; programs end at their start")
    return found


def _slower(decision: Decision, file: pathlib.Path) -> list[str]:
    """By the raw data beside the file, also where it was written for other rules."""
    if not record_of(file).exists():
        return []
    record = read_record(record_of(file))
    found = []
    for table in decision.tables:
        for rule, most in _ranges(table):
            if rule.algorithm == 0:
                continue
            for size in record.sizes(table.ranks, table.operation):
                if size < rule.size or (most is not None and size > most):
                    continue
                found += _slower_at(record, (table.ranks, table.operation, size), rule)
    return found


def _slower_at(record: Record, place: Place, rule: Rule) -> list[str]:
    estimates = record.estimates(place)
    ways = record.ways[place]
    name = next((n for n, way in ways.items() if _is(way.algorithm, way.name, way.segment, rule)), None)
    if name not in estimates or DEFAULT_NAME not in estimates:
        return []
    if not clearly_faster(estimates[DEFAULT_NAME], estimates[name]):
        return []
    ranks, operation, size = place
    return [
        f"{operation}, {ranks} ranks, {units.size(size)} bytes: {name} is slower than the default "
        f"({units.time(estimates[name].median)}, default {units.time(estimates[DEFAULT_NAME].median)})"
    ]


def _is(algorithm: int, name: str, segment: int, rule: Rule) -> bool:
    if algorithm == 0 or segment != rule.segment:
        return False
    return name.split(",")[0] == rule.name if rule.name else algorithm == rule.algorithm


def _measure(options: argparse.Namespace, folder: str, file: pathlib.Path, decision: Decision, mpi: Mpi | None) -> None:
    family = FAMILY_OF.get(decision.format)
    if family is None or mpi is None:
        raise usage("--measure: for files of Open MPI and MPICH")
    budget = units.parse_seconds(options.budget)
    tables = [t for t in decision.tables if t.operation in OPERATIONS and any(r.algorithm for r in t.rules)]
    counts = sorted({table.ranks for table in tables if table.ranks > 1})
    record = Record()
    sizes = parse_sizes(options.sizes)
    arms = [DEFAULT_ARM, tuned_arm(environment(mpi, file.absolute(), [table.operation for table in tables]))]
    with Progress(budget) as progress:
        for ranks in counts:
            jobs = Jobs(find_launcher(family, options.launcher, ranks), folder)
            jobs.tick = progress.tick
            places = [
                (ranks, table.operation, size)
                for table in tables
                if table.ranks == ranks
                for size in sizes_of(OPERATIONS[table.operation], sizes, ranks)
            ]
            verify(jobs, record, progress, places, arms, budget / len(counts))
    rows = []
    for (ranks, operation, size), both in sorted(record.verified.items(), key=lambda item: (item[0][1], item[0])):
        if not both.get("default") or not both.get("tuned"):
            continue
        before, after = estimate(both["default"]), estimate(both["tuned"])
        real, low, high = gain(before, after)
        word = "faster" if clearly_faster(after, before) else "slower" if clearly_faster(before, after) else "the same"
        between = f"{units.percent(-real)} ({units.percent(-high)} to {units.percent(-low)})"
        times = [units.time(before.median), units.time(after.median)]
        rows.append([operation, word, str(ranks), units.size(size), *times, between])
    say("")
    say(text_table(["operation", "with file", "ranks", "bytes", "default", "with file", "time (95 %)"], rows, words=2))
