# SPDX-License-Identifier: Apache-2.0
"""The rules of Open MPI's coll/tuned as text, which all versions since 1.2 read.

A communicator takes the rules of the greatest number of ranks that is not above its own, and those of the first if all
are above; the same with sizes. So a file that is for one number of ranks must say for the others that it has no rules
(algorithm 0).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from .decision import Decision, Rule, Table
from .faults import Fault
from .openmpi_safe import rules_of
from .operations import OPERATIONS, openmpi_bytes

FORMAT = "Open MPI rules (text)"
_IDS = (
    "allgather",
    "allgatherv",
    "allreduce",
    "alltoall",
    "alltoallv",
    "alltoallw",
    "barrier",
    "bcast",
    "exscan",
    "gather",
    "gatherv",
    "reduce",
    "reduce_scatter",
    "reduce_scatter_block",
    "scan",
    "scatter",
)
# As Open MPI reads them: a zero in front makes a number octal.
_NUMBER = re.compile(r"0[0-7]{0,20}|[1-9]\d{0,17}|0[xX][0-9a-fA-F]{1,15}")
_VERSION = re.compile(r"rule-file-version-(\d{1,9})\s*$")


def write(tables: Sequence[Table], title: str) -> str:
    lines = [f"# {title}"]
    names = list(dict.fromkeys(table.operation for table in tables))
    lines.append(f"{len(names)}  # operations")
    for name in names:
        own = sorted((table for table in tables if table.operation == name), key=lambda table: table.ranks)
        sections = [(0, "fewer ranks", [Rule(0, 0)])]
        for i, table in enumerate(own):
            sections.append((table.ranks, "ranks", rules_of(table)))
            following = own[i + 1].ranks if i + 1 < len(own) else None
            if following != table.ranks + 1:
                sections.append((table.ranks + 1, "or more ranks", [Rule(0, 0)]))
        lines += [f"{_IDS.index(name)}  # {name}", f"{len(sections)}  # numbers of ranks"]
        for ranks, words, rules in sections:
            lines += [f"{ranks}  # {words}", f"{len(rules)}  # rules: bytes, algorithm, fanout, segment"]
            for rule in rules:
                size = openmpi_bytes(OPERATIONS[name], rule.size, ranks)
                text = f"{size} {rule.algorithm} {rule.fanout} {rule.segment}"
                lines.append(f"{text}  # {rule.name or 'Open MPI decides'}")
    return "\n".join(lines) + "\n"


def _value(word: str) -> int:
    return int(word, 8 if re.fullmatch(r"0\d+", word) else 0)


class _Numbers:
    def __init__(self, text: str, file: str) -> None:
        self._file = file
        self.line = 0
        self._last = 0
        self._ahead: tuple[int, int] | None = None
        self._numbers = self._read(text)

    def _read(self, text: str) -> Iterator[tuple[int, int]]:
        for number, line in enumerate(text.splitlines(), 1):
            for word in line.split("#")[0].split():
                self.line = number
                if not _NUMBER.fullmatch(word):
                    raise Fault(
                        f"{self._file}, line {number}: {word[:40]}: a number is wanted here; this is no file of Open "
                        "MPI's rules, or it is damaged: write it again with weft tune collectives"
                    )
                yield number, _value(word)

    def next(self, what: str) -> int:
        found, self._ahead = self._ahead or next(self._numbers, None), None
        if found is None:
            raise Fault(
                f"{self._file}, line {self.line}: the file ends where {what} should be: it is cut off, or a count "
                "above is too large"
            )
        self._last = self.line = found[0]
        return found[1]

    def more_in_line(self) -> bool:
        """Of the last number."""
        if self._ahead is None:
            self._ahead = next(self._numbers, None)
        return self._ahead is not None and self._ahead[0] == self._last

    def rest(self) -> int:
        return sum(1 for _ in self._numbers) + (self._ahead is not None)


def parse(text: str, file: str) -> Decision:
    version = 1
    found = _VERSION.match(text.split("\n", 1)[0])
    if found:
        version = int(found[1])
        text = "\n" + text.split("\n", 1)[1] if "\n" in text else ""
    numbers = _Numbers(text, file)
    decision = Decision(FORMAT)
    for _ in range(numbers.next("the number of operations")):
        index = numbers.next("an operation")
        if index >= len(_IDS):
            raise Fault(
                f"{file}, line {numbers.line}: {index}: Open MPI's operations have the numbers 0 to {len(_IDS) - 1}"
            )
        previous = -1
        for _ in range(numbers.next("how many numbers of ranks there are")):
            ranks = numbers.next("a number of ranks")
            table = Table(_IDS[index], ranks, [], numbers.line)
            if ranks <= previous:
                decision.faults.append(f"line {numbers.line}: numbers of ranks must ascend, {ranks} follows {previous}")
            previous = ranks
            for _ in range(numbers.next("the number of rules")):
                table.rules.append(_rule(numbers, version, table))
            decision.tables.append(table)
    if numbers.rest():
        decision.faults.append(
            f"line {numbers.line}: there is more behind the last operation that the first line counts"
        )
    _check(decision)
    return decision


def _rule(numbers: _Numbers, version: int, table: Table) -> Rule:
    size = numbers.next("the bytes of a rule")
    line = numbers.line
    algorithm = numbers.next("an algorithm")
    fanout = numbers.next("a fanout")
    segment = numbers.next("the bytes of a segment")
    requests = numbers.next("a number of requests") if version >= 2 and numbers.more_in_line() else 0
    operation = OPERATIONS.get(table.operation)
    if operation is not None and operation.blocks and table.ranks > 0:
        size = -(-size // table.ranks)
    return Rule(size, algorithm, "", fanout, segment, requests, line)


def _check(decision: Decision) -> None:
    for table in decision.tables:
        where = f"{table.operation}, {table.ranks} ranks"
        if not table.rules:
            decision.faults.append(f"line {table.line}: {where}: there are no rules")
            continue
        if table.rules[0].size != 0:
            decision.faults.append(
                f"line {table.rules[0].line}: {where}: there is no rule for size 0; Open MPI takes this one for "
                "smaller messages too, or drops all of them"
            )
        for before, rule in zip(table.rules, table.rules[1:]):
            if rule.size <= before.size:
                decision.faults.append(f"line {rule.line}: {where}: sizes must ascend")
