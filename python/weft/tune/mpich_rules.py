# SPDX-License-Identifier: Apache-2.0
"""MPICH's decision file: a tree of conditions as JSON, for all operations at once. It takes the place of the one inside
the library, which is where the rest of the tree comes from: each version has its own."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from .decision import Decision, Rule, Table
from .faults import Fault

FORMAT = "MPICH's selection (JSON)"
Tree = dict[str, Any]
# Algorithms that need more than the message's size to be right: an operator that commutes, and as many elements as
# ranks.
_DIVIDE = ("reduce_scatter_allgather", "reduce_scatter_gather")


def built_in(library: str) -> Tree:
    """The generic tree, out of the file of the library."""
    with open(library, "rb") as file:
        data = file.read()
    for found in re.finditer(rb'\x00(\{\s*"collective=[^\x00]{500,})\x00', data):
        try:
            tree = json.loads(found[1])
        except ValueError:
            continue
        if "MPIR_Alltoall_intra" in json.dumps(tree):
            return tree
    raise Fault(f"{library}: no table of algorithms in this MPICH; it cannot be tuned by a file")


def algorithm_key(operation: str, name: str) -> str:
    return f"algorithm=MPIR_{operation.capitalize()}_intra_{name}"


def write(tables: Sequence[Table], base: Tree) -> str:
    tree = json.loads(json.dumps(base))
    for name in dict.fromkeys(table.operation for table in tables):
        key = f"collective={name}"
        if key not in tree or "comm_type=intra" not in tree[key]:
            raise Fault(f"this MPICH has no table for {name}")
        own = sorted((table for table in tables if table.operation == name), key=lambda table: table.ranks)
        tree[key]["comm_type=intra"] = _by_ranks(own, tree[key]["comm_type=intra"])
    return json.dumps(tree, indent=2) + "\n"


def _by_ranks(tables: Sequence[Table], otherwise: Tree) -> Tree:
    branches: Tree = {}
    for table in tables:
        # The first condition that holds is taken.
        branches.setdefault(f"comm_size<{table.ranks}", otherwise)
        branches[f"comm_size<{table.ranks + 1}"] = _conditions(table, otherwise)
    branches["comm_size=any"] = otherwise
    return branches


def _conditions(table: Table, otherwise: Tree) -> Tree:
    sizes = _by_size(table, otherwise)
    if table.operation == "alltoall":
        return {"is_sendbuf_inplace=yes": otherwise, "is_sendbuf_inplace=no": sizes}
    if any(rule.name in _DIVIDE for rule in table.rules):
        divided = {"count<pow2": otherwise, "count=any": sizes}
        return {"is_commutative=yes": divided, "is_commutative=no": otherwise}
    return sizes


def _size(table: Table, size: int) -> str:
    """MPICH fails in an operation when it is asked for a size that it does not have there: allgather has the sum of
    all blocks only."""
    if table.operation == "allgather":
        return f"total_msg_size<={size * table.ranks}"
    return f"avg_msg_size<={size}"


def _by_size(table: Table, otherwise: Tree) -> Tree:
    if len(table.rules) == 1:
        return {algorithm_key(table.operation, table.rules[0].name): {}} if table.rules[0].algorithm else otherwise
    sizes: Tree = {}
    for i, rule in enumerate(table.rules):
        leaf = {algorithm_key(table.operation, rule.name): {}} if rule.algorithm else otherwise
        if i + 1 < len(table.rules):
            sizes[_size(table, table.rules[i + 1].size - 1)] = leaf
        else:
            sizes[f"{_size(table, 0).split('<')[0]}=any"] = leaf
    return sizes


def is_such(document: object) -> bool:
    return isinstance(document, dict) and any(str(key).startswith("collective=") for key in document)


def parse(document: Mapping[str, Any], file: str) -> Decision:
    """The parts that the tuner writes: a number of ranks, then sizes."""
    decision = Decision(FORMAT)
    for key, branch in document.items():
        if not isinstance(branch, dict) or not key.startswith("collective="):
            raise Fault(f"{file}: {key}: a condition collective=NAME is wanted here; the file is damaged")
        name = key.split("=", 1)[1]
        try:
            decision.tables += _tables(name, branch.get("comm_type=intra", {}))
            decision.named |= _algorithms(branch)
        except (AttributeError, RecursionError, TypeError, ValueError):
            what = "a condition without conditions below it"
            raise Fault(f"{file}: {key}: {what}; the file is damaged") from None
    return decision


def _algorithms(tree: Tree) -> set[str]:
    """Wherever they stand: MPICH looks at all of them when it starts."""
    found = set()
    for key, below in tree.items():
        if key.startswith("algorithm="):
            found.add(key.split("=", 1)[1])
        found |= _algorithms(below)
    return found


def _tables(name: str, intra: Tree) -> list[Table]:
    found = []
    limits = [
        (int(m[1]), branch)
        for m, branch in ((re.fullmatch(r"comm_size<(\d{1,9})", k), b) for k, b in intra.items())
        if m
    ]
    for (before, _), (limit, branch) in zip(limits, limits[1:]):
        if limit != before + 1:
            continue
        sizes = branch.get("is_sendbuf_inplace=no", branch)
        sizes = sizes.get("is_commutative=yes", sizes)
        sizes = sizes.get("count=any", sizes)
        rules = []
        start = 0
        if not any("msg_size" in condition for condition in sizes):
            sizes = {"avg_msg_size=any": sizes}
        for condition, leaf in sizes.items():
            rules.append(_rule(name, start, leaf))
            last = re.fullmatch(r"(avg|total)_msg_size<=(\d{1,18})", condition)
            start = int(last[2]) // (before if last[1] == "total" else 1) + 1 if last else start
        found.append(Table(name, before, rules, most_ranks=before))
    return found


def _rule(name: str, start: int, leaf: Tree) -> Rule:
    key = next(iter(leaf), "")
    prefix = algorithm_key(name, "")
    return Rule(start, 1, key[len(prefix) :]) if key.startswith(prefix) else Rule(start, 0)
