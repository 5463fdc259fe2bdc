# SPDX-License-Identifier: Apache-2.0
"""The ways to carry out an operation, and how a job is told to take one of them."""

from __future__ import annotations

from dataclasses import dataclass

Settings = tuple[tuple[str, int], ...]

DEFAULT_NAME = "default"


@dataclass(frozen=True)
class Way:
    """Ways are told apart by their names within one operation."""

    name: str
    settings: Settings = ()
    algorithm: int = 0  # the MPI's number of it; 0: what the MPI does by itself
    fanout: int = 0
    segment: int = 0
    own: str = ""  # an exchange of the measuring program, which no decision file can name
    component: bool = False  # weft's own collectives
    only_measured: bool = False  # a rule for it would make programs fail

    @property
    def deployable(self) -> bool:
        """By the MPI's own decision file."""
        return not self.own and not self.component and not self.only_measured

    def plan(self) -> str:
        settings = ",".join(f"{name}={value}" for name, value in self.settings) or "-"
        return f"{settings} {'own:' + self.own if self.own else 'mpi'}"


DEFAULT = Way(DEFAULT_NAME)
WEFT_NAME = "weft"
WEFT = Way(WEFT_NAME, component=True)


def own_ways(ranks: int) -> list[Way]:
    """The exchanges of the measuring program, for comparison."""
    names = ["linear", "pairwise", "hierarchical"]
    names += [f"scattered:{window}" for window in (2, 8, 32) if window < ranks]
    names += [f"bruck:{radix}" for radix in (2, 4, 8) if radix == 2 or radix <= ranks]
    return [Way(f"own {name}", own=name) for name in names]
