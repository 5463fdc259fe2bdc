# SPDX-License-Identifier: Apache-2.0
"""What a file of Open MPI's rules must not say: Open MPI follows a rule without a look at whether it is right for the
call."""

from __future__ import annotations

from dataclasses import replace

from .decision import Decision, Rule, Table

# By number. They combine in the order of the ranks, or leave it to another one when the operator does not commute. All
# that are not here give wrong results then.
_IN_ORDER = {
    "allreduce": {1: "basic_linear", 3: "recursive_doubling", 6: "rabenseifner"},
    "reduce": {1: "linear", 6: "in-order_binary", 7: "rabenseifner"},
}
# The size of a rule is computed from arguments that only the root must give, so that ranks take different algorithms.
SIZE_OF_ROOT = ("gather", "scatter")


def keeps_order(operation: str, name: str) -> bool:
    return operation not in _IN_ORDER or name in _IN_ORDER[operation].values()


def _is_in_order(operation: str, rule: Rule) -> bool:
    if operation not in _IN_ORDER or rule.algorithm == 0:
        return True
    known = _IN_ORDER[operation]
    return rule.name.split(",")[0] in known.values() if rule.name else rule.algorithm in known


def faults(decision: Decision) -> list[str]:
    """Rules that make correct programs fail."""
    found = []
    for table in decision.tables:
        for rule in table.rules:
            if rule.algorithm == 0:
                continue
            where = f"line {rule.line}: {table.operation}" if rule.line else table.operation
            what = rule.name or f"algorithm {rule.algorithm}"
            if not _is_in_order(table.operation, rule):
                found.append(f"{where}: {what} gives wrong results for operators that do not commute")
            elif table.operation in SIZE_OF_ROOT:
                found.append(
                    f"{where}: {what}: Open MPI computes the size from arguments that only the root must give; ranks "
                    "may take different algorithms, and fail or hang"
                )
    return found


def rules_of(table: Table) -> list[Rule]:
    """An allgather in place has size 0 for Open MPI, whatever its data: no rule of a measured size is for it."""
    first = table.rules[0]
    if table.operation != "allgather" or first.size > 0 or first.algorithm == 0:
        return table.rules
    behind = table.rules[1:]
    if not behind or behind[0].size > 1:
        behind = [replace(first, size=1), *behind]
    return [Rule(0, 0), *behind]
