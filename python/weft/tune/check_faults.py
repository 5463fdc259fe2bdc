# SPDX-License-Identifier: Apache-2.0
"""What is wrong with a decision file."""

from __future__ import annotations

import pathlib

from . import openmpi_safe, units
from .decision import Decision, Rule
from .deployment import record_of
from .family import NAMES, OPENMPI
from .files import FAMILY_OF
from .mpich import Mpich
from .mpis import Mpi
from .operations import OPERATIONS
from .record import Place, Record
from .record import read as read_record
from .selection import clearly_faster
from .ways import DEFAULT_NAME


def all_faults(decision: Decision, mpi: Mpi | None, file: pathlib.Path) -> list[str]:
    """Without an MPI, those that need none."""
    found = list(decision.faults)
    if FAMILY_OF.get(decision.format) == OPENMPI:
        found += openmpi_safe.faults(decision)
    if mpi is not None:
        found += _unknown(decision, mpi)
    return found + _slower(decision, file)


def _unknown(decision: Decision, mpi: Mpi) -> list[str]:
    found = []
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
    if isinstance(mpi, Mpich) and decision.named:
        library = pathlib.Path(mpi.mpi_library).read_bytes()
        for name in sorted(decision.named):
            if f"algorithm={name}\0".encode() not in library:
                found.append(f"{title} has no algorithm {name}; programs end at their start")
    return found


def _slower(decision: Decision, file: pathlib.Path) -> list[str]:
    """By the raw data beside the file, also where it was written for other rules."""
    if not record_of(file).exists():
        return []
    record = read_record(record_of(file))
    found = []
    for table in decision.tables:
        for rule, most in table.ranges():
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
