# SPDX-License-Identifier: Apache-2.0
"""The rules of weft's own collectives: where they take an operation, and where they leave it to the MPI."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .decision import Decision, Rule, Table
from .faults import Fault

FORMAT = "weft's rules"
HEAD = "# weft collectives 1"
_USES = {"mpi": 0, "weft": 1}
OPERATIONS = ("allgather", "allreduce", "alltoall", "barrier", "bcast", "reduce")


def write(tables: Sequence[Table]) -> str:
    """An algorithm that is not 0 is weft."""
    lines = [HEAD, "# Written by weft tune collectives", "# operation ranks bytes use"]
    for table in sorted(tables, key=lambda table: (table.operation, table.ranks)):
        for rule in table.rules:
            lines.append(f"{table.operation} {table.ranks} {rule.size} {'weft' if rule.algorithm else 'mpi'}")
    return "\n".join(lines) + "\n"


def parse(text: str, file: str) -> Decision:
    decision = Decision(FORMAT)
    lines = text.splitlines()
    if not lines or lines[0].strip() != HEAD:
        raise Fault(f"{file}, line 1: {HEAD} is wanted here")
    for number, line in enumerate(lines[1:], 2):
        words = line.split("#")[0].split()
        if not words:
            continue
        found = re.fullmatch(r"(\w+) (\d{1,9}) (\d{1,18}) (weft|mpi)", " ".join(words))
        if not found or found[1] not in OPERATIONS:
            raise Fault(f"{file}, line {number}: {line.strip()[:80]}: OPERATION RANKS BYTES weft|mpi is wanted")
        ranks, size = int(found[2]), int(found[3])
        table = decision.of(found[1], ranks)
        if table is None:
            table = Table(found[1], ranks, [], number)
            decision.tables.append(table)
        if table.rules and size <= table.rules[-1].size:
            decision.faults.append(f"line {number}: {found[1]}, {ranks} ranks: sizes must ascend")
        table.rules.append(Rule(size, _USES[found[4]], found[4], line=number))
    return decision
