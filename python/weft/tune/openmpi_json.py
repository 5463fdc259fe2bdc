# SPDX-License-Identifier: Apache-2.0
"""The rules of Open MPI's coll/tuned as JSON, version 3 of the format: Open MPI 6.

The first entry that fits is taken. Where none fits, Open MPI decides by itself.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from .decision import Decision, Rule, Table
from .faults import Fault
from .openmpi_safe import rules_of
from .operations import OPERATIONS, openmpi_bytes

FORMAT = "Open MPI rules (JSON)"
_VERSION = 3


def write(tables: Sequence[Table]) -> str:
    collectives: dict[str, Any] = {}
    for table in tables:
        rules = []
        operation = OPERATIONS[table.operation]
        own = rules_of(table)
        for i, rule in enumerate(own):
            if rule.algorithm == 0:
                continue
            entry: dict[str, Any] = {"msg_size_min": openmpi_bytes(operation, rule.size, table.ranks)}
            if i + 1 < len(own):
                entry["msg_size_max"] = openmpi_bytes(operation, own[i + 1].size, table.ranks) - 1
            # By name: numbers change their meaning between versions.
            entry["alg"] = rule.name.split(",")[0] or rule.algorithm
            if rule.fanout:
                entry["faninout"] = rule.fanout
            if rule.segment:
                entry["seg_size"] = rule.segment
            rules.append(entry)
        ranks = {"comm_size_min": table.ranks, "comm_size_max": table.ranks}
        collectives.setdefault(table.operation, []).append({**ranks, "rules": rules})
    whole = {"rule_file_version": _VERSION, "module": "tuned", "collectives": collectives}
    return json.dumps(whole, indent=2) + "\n"


def is_such(document: object) -> bool:
    return isinstance(document, dict) and "rule_file_version" in document


def parse(document: dict[str, Any], file: str) -> Decision:
    version = document["rule_file_version"]
    if version != _VERSION:
        raise Fault(f"{file}: rule_file_version {version}: version {_VERSION} is known here")
    decision = Decision(FORMAT)
    try:
        for name, entries in document["collectives"].items():
            for entry in entries:
                decision.tables.append(_table(name, entry))
    except (ArithmeticError, AttributeError, KeyError, TypeError, ValueError) as error:
        raise Fault(f"{file}: damaged: {error!r} in collectives; write it again with weft tune collectives") from None
    return decision


def _table(name: str, entry: dict[str, Any]) -> Table:
    least = int(entry.get("comm_size_min", 0))
    most = entry.get("comm_size_max", "inf")
    table = Table(name, least, [], 0, None if str(most).lower() == "inf" else int(most))
    blocks = name in OPERATIONS and OPERATIONS[name].blocks and least > 0
    for rule in entry["rules"]:
        last = rule.get("msg_size_max", "inf")
        share = least if blocks else 1
        size = -(-int(rule.get("msg_size_min", 0)) // share)
        most_size = None if str(last).lower() == "inf" else int(last) // share
        algorithm = rule["alg"]
        number = algorithm if isinstance(algorithm, int) else -1
        label = "" if isinstance(algorithm, int) else str(algorithm)
        segment = int(rule.get("seg_size", 0))
        table.rules.append(
            Rule(size, number, label, int(rule.get("faninout", 0)), segment, int(rule.get("reqs", 0)), 0, most_size)
        )
    return table
