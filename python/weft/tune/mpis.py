# SPDX-License-Identifier: Apache-2.0
"""What both families of MPI have for the tuner: their algorithms, and how a job and a user make them take some."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from .jobs import Jobs
from .operations import Operation
from .ways import Way


class Mpi(Protocol):
    family: str
    version: str
    name: str  # of itself
    file_variable: str  # of the environment: the decision file
    # What the jobs that measure have in their environment.
    measuring: Mapping[str, str]

    def ways(self, operation: Operation, size: int, ranks: int) -> list[Way]:
        """All but the default."""

    def no_rules(self, operation: Operation) -> str:
        """Why there can be none for this operation; empty: there can."""

    def algorithms(self, operation: Operation) -> dict[int, str]:
        """By number."""


def examine(jobs: Jobs, operations: Sequence[Operation]) -> Mpi:
    from .mpich import Mpich
    from .openmpi import OpenMpi

    kind = OpenMpi if jobs.launcher.family == "openmpi" else Mpich
    names = [name for operation in operations for name in kind.variables(operation)]
    library, variables = jobs.variables(names)
    return kind(library, variables)


Variables = Mapping[str, Mapping[str, Any]]
