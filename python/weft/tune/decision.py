# SPDX-License-Identifier: Apache-2.0
"""What all decision files say: for an operation and a number of ranks, from which size on which algorithm."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Rule:
    """From so many bytes on. Bytes are what one rank gives, as everywhere in the tuner but in Open MPI's files."""

    size: int
    algorithm: int  # 0: the MPI's own rules
    name: str = ""
    fanout: int = 0
    segment: int = 0
    requests: int = 0
    line: int = 0  # of the file that it was read from
    most: int | None = None  # the last size, where a file says it


@dataclass
class Table:
    """The rules of one operation for communicators of at least so many ranks, or of just so many."""

    operation: str
    ranks: int
    rules: list[Rule]
    line: int = 0
    most_ranks: int | None = None  # the last number of ranks, where a file says it

    def ranges(self) -> Iterator[tuple[Rule, int | None]]:
        """Each rule, and the last size that it holds for."""
        for rule, following in zip(self.rules, [*self.rules[1:], None]):
            yield rule, rule.most if rule.most is not None else following.size - 1 if following is not None else None


@dataclass
class Decision:
    format: str
    tables: list[Table] = field(default_factory=list)
    # Algorithms by names, as the library has them, where a file has such.
    named: set[str] = field(default_factory=set)
    # What is wrong with the file, though it can be read: "line N: ..."
    faults: list[str] = field(default_factory=list)

    def of(self, operation: str, ranks: int) -> Table | None:
        return next((t for t in self.tables if t.operation == operation and t.ranks == ranks), None)
