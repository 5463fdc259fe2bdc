# SPDX-License-Identifier: Apache-2.0
"""A mock-up of a spectral weather model by MPI and tasks. No target is set for it."""

import argparse
from collections.abc import Iterator

from ..frame.options import Option, positive
from . import jobs
from .jobs import Place
from .study import RuntimesStudy
from .trials import Trial
from .versions import BLOCKING, EVENTS, VersionsStudy

PURE = "pure-mpi"
HYBRID = ("fork-join", BLOCKING, EVENTS)
# What the ranks have of the grid and the levels.
SHARE = "even"
# Options: the size that is computed.
SIZE = {
    "points": (320, "of a row of the grid"),
    "rows": (160, "of the grid"),
    "levels": (10, "above each point"),
    "fields": (4, "at each level of each point"),
    "steps": (20, "of time"),
}
SMOKE = {"points": 100, "rows": 37, "steps": 4}


class Ifsker(VersionsStudy):
    name = program_name = "ifsker"
    about = "Compares the versions of a mock-up of a weather model; see docs/how-to/benchmark-mpi.md."
    versions = (PURE, *HYBRID)

    options = (*RuntimesStudy.options, *(Option(f"--{name}", text, positive, n) for name, (n, text) in SIZE.items()))

    def complete(self, parser: argparse.ArgumentParser) -> None:
        super().complete(parser)
        self.size = {name: getattr(self.arguments, name) for name in SIZE} | (SMOKE if self.smoke else {})

    def title(self) -> str:
        points = self.size["points"] * self.size["rows"]
        return f"IFSKer mock-up, {points} points, {self.size['levels']} levels, {self.size['fields']} fields"

    def trials(self) -> Iterator[Trial]:
        """The first one is Pure MPI on one rank, which exchanges nothing."""
        alone = jobs.without_library(self.ways)
        size = [word for name, value in self.size.items() for word in (f"--{name}", value)]
        for mpi in self.mpis:
            for ranks in jobs.rank_counts():
                yield Trial(self.name, Place(mpi, ranks, 1), SHARE, PURE, "", alone, ("--version", PURE, *size))
            for place in jobs.places(mpi):
                for version in HYBRID:
                    for way in self.ways:
                        if way.preloaded or version != EVENTS:
                            yield Trial(self.name, place, SHARE, version, "", way, ("--version", version, *size))
