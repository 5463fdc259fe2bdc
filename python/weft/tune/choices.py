# SPDX-License-Identifier: Apache-2.0
"""Which of the MPI's algorithms go into its decision file, of what has been measured."""

from __future__ import annotations

from collections.abc import Mapping

from .decision import Table
from .deployment import tables_of
from .mpich import Mpich
from .mpis import Mpi
from .record import Place, Record
from .selection import select, select_whole, thresholds
from .verifying import Verdict
from .ways import DEFAULT, DEFAULT_NAME, Way


class Choices:
    """By place the chosen way, of what has been measured."""

    def __init__(self, record: Record, mpi: Mpi) -> None:
        self._record = record
        self._mpi = mpi
        self.chosen: dict[Place, str] = {}
        # Places where another algorithm stood against the default.
        self.compared = 0
        self._whole: set[tuple[int, str]] = set()
        for ranks, operation in sorted({place[:2] for place in record.samples}):
            self._choose(ranks, operation)

    def _choose(self, ranks: int, operation: str) -> None:
        by_size = {}
        for size in self._record.sizes(ranks, operation):
            place = (ranks, operation, size)
            estimates = self._record.estimates(place)
            by_size[size] = {n: e for n, e in estimates.items() if self._record.ways[place][n].deployable}
            self.compared += DEFAULT_NAME in by_size[size] and len(by_size[size]) > 1
        if isinstance(self._mpi, Mpich) and self._mpi.has_device(operation):
            self._whole.add((ranks, operation))
            found = select_whole(by_size)
        else:
            found = select(by_size)
        for size, name in found.items():
            self.chosen[(ranks, operation, size)] = name

    def changed(self) -> dict[Place, str]:
        return {place: name for place, name in self.chosen.items() if name != DEFAULT_NAME}

    def tables(self) -> list[Table]:
        rules: dict[tuple[int, str], list[tuple[int, Way]]] = {}
        for ranks, operation in {place[:2] for place in self.chosen}:
            sizes = {place[2]: name for place, name in self.chosen.items() if place[:2] == (ranks, operation)}
            rules[(ranks, operation)] = [
                (start, self._way(ranks, operation, sizes, start, name)) for start, name in thresholds(sizes)
            ]
        return tables_of(rules)

    def _way(self, ranks: int, operation: str, sizes: Mapping[int, str], start: int, name: str) -> Way:
        if name == DEFAULT_NAME:
            return DEFAULT
        at = next(size for size in sorted(sizes) if size >= start and sizes[size] == name)
        return self._record.ways[(ranks, operation, at)][name]

    def keep_confirmed(self, found: list[Verdict]) -> None:
        """What did not gain in the second run stays with the default."""
        confirmed = {verdict.place for verdict in found if verdict.found.faster}
        slower = {verdict.place[:2] for verdict in found if verdict.found.slower}
        for place in list(self.chosen):
            if place[:2] in self._whole:
                some = any(other[:2] == place[:2] for other in confirmed)
                if not some or place[:2] in slower:
                    del self.chosen[place]
            elif place not in confirmed:
                self.chosen[place] = DEFAULT_NAME
