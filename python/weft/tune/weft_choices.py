# SPDX-License-Identifier: Apache-2.0
"""Where weft's collectives are taken: where they are certainly faster than the best that the MPI's file can say."""

from __future__ import annotations

from collections.abc import Mapping

from . import weft_rules
from .decision import Rule, Table
from .record import Place, Record
from .selection import clearly_faster, thresholds
from .verifying import Verdict
from .ways import DEFAULT_NAME, WEFT_NAME


class WeftChoices:
    def __init__(self, record: Record, chosen: Mapping[Place, str]) -> None:
        self._taken: dict[Place, bool] = {}
        self.undecided = 0  # sizes at which a second run could not tell
        for place in record.samples:
            estimates = record.estimates(place)
            if WEFT_NAME not in estimates or DEFAULT_NAME not in estimates:
                continue
            other = estimates[chosen.get(place, DEFAULT_NAME)]
            self._taken[place] = clearly_faster(estimates[WEFT_NAME], other)

    @property
    def measured(self) -> bool:
        return bool(self._taken)

    def taken(self) -> dict[Place, str]:
        return {place: WEFT_NAME for place, taken in self._taken.items() if taken}

    def keep_confirmed(self, found: list[Verdict]) -> None:
        confirmed = {verdict.place for verdict in found if verdict.found.faster}
        self.undecided = sum(verdict.found.undecided for verdict in found)
        for place in self._taken:
            self._taken[place] = self._taken[place] and place in confirmed

    def text(self) -> str:
        """Of the file of rules."""
        tables = []
        for ranks, operation in sorted({place[:2] for place in self._taken}):
            names = {
                place[2]: WEFT_NAME if taken else DEFAULT_NAME
                for place, taken in self._taken.items()
                if place[:2] == (ranks, operation)
            }
            rules = [Rule(size, int(name == WEFT_NAME), name) for size, name in thresholds(names)]
            tables.append(Table(operation, ranks, rules))
        return weft_rules.write(tables)
