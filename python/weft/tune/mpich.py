# SPDX-License-Identifier: Apache-2.0
"""MPICH: algorithms have names. Some operations come from the device, beside the generic algorithms."""

from __future__ import annotations

from typing import Any

from .family import MPICH, first_line, version_of
from .mpis import Variables
from .operations import Operation
from .ways import Way

# Of MPICH 4.0, by operation in the order of their numbers, which begin at 1. Other versions have others by similar
# names.
_KNOWN = {
    "allgather": ("brucks", "nb", "recursive_doubling", "ring"),
    "allreduce": ("nb", "smp", "recursive_doubling", "reduce_scatter_allgather"),
    "alltoall": ("brucks", "nb", "pairwise", "pairwise_sendrecv_replace", "scattered"),
    "barrier": ("nb", "smp", "dissemination"),
    "bcast": ("binomial", "nb", "smp", "scatter_recursive_doubling_allgather", "scatter_ring_allgather"),
    "gather": ("binomial", "nb"),
    "reduce": ("binomial", "nb", "smp", "reduce_scatter_gather"),
    "scatter": ("binomial", "nb"),
}
# For other calls than those that are measured: in place only, over several nodes, by nonblocking calls.
_LEFT_OUT = ("nb", "pairwise_sendrecv_replace", "smp")
# They have one algorithm, and no conditions.
_ONE_ONLY = ("gather", "scatter")
# Of these, the device has algorithms in shared memory, which the generic ones stand against.
DEVICE = ("allreduce", "barrier", "bcast", "reduce")


def device_variable(operation: str) -> str:
    return f"MPIR_CVAR_{operation.upper()}_DEVICE_COLLECTIVE"


def are_known(operation: str, text: str) -> bool:
    """The text of a variable names them one behind the other, all filled up to the same width, without anything between
    a description and the next name."""
    names = _KNOWN[operation]
    *parts, _ = text.split("- Force")
    if len(parts) != len(names):
        return False
    width = len(names[0]) + len(parts[0]) - len(parts[0].rstrip())
    return width > max(map(len, names)) and all(part.endswith(name.ljust(width)) for part, name in zip(parts, names))


class Mpich:
    family = MPICH
    file_variable = "MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE"
    measuring = {}  # noqa: RUF012

    def __init__(self, library: dict[str, Any], variables: Variables) -> None:
        self.version = version_of(library["library"])
        self.name = first_line(library["library"])
        self.mpi_library = library["path"]
        self._variables = variables

    @staticmethod
    def variables(operation: Operation) -> list[str]:
        return [f"MPIR_CVAR_{operation.name.upper()}_INTRA_ALGORITHM", device_variable(operation.name)]

    def algorithms(self, operation: Operation) -> dict[int, str]:
        numbers = dict(enumerate(_KNOWN[operation.name], 1))
        variable = self._variables.get(f"MPIR_CVAR_{operation.name.upper()}_INTRA_ALGORITHM")
        if variable is None:
            return {}
        if variable["items"]:
            known = {number: name for number, name in variable["items"] if number > 0} == numbers
        else:
            known = are_known(operation.name, variable["text"])
        return numbers if known else {}

    def has_device(self, operation: str) -> bool:
        return operation in DEVICE and device_variable(operation) in self._variables

    def no_rules(self, operation: Operation) -> str:
        if operation.name in _ONE_ONLY:
            return "MPICH has one algorithm for it"
        if not self.algorithms(operation):
            return f"MPICH {self.version} has other algorithms for it than MPICH 4.0, which are not known here"
        return ""

    def ways(self, operation: Operation, size: int, ranks: int) -> list[Way]:
        found: list[Way] = []
        if operation.name in _ONE_ONLY:
            return found
        for number, name in self.algorithms(operation).items():
            if name in _LEFT_OUT or not _takes(operation, name, size, ranks):
                continue
            settings = [(f"MPIR_CVAR_{operation.name.upper()}_INTRA_ALGORITHM", number)]
            if self.has_device(operation.name):
                settings.append((device_variable(operation.name), 0))
            found.append(Way(name, tuple(settings), algorithm=number))
        return found


def _takes(operation: Operation, name: str, size: int, ranks: int) -> bool:
    """Else MPICH takes another one without a word, or the data is too short to be divided."""
    power = ranks & (ranks - 1) == 0
    if name == "recursive_doubling" and operation.name == "allgather":
        return power
    if name == "scatter_recursive_doubling_allgather":
        return power and size >= ranks
    if name == "scatter_ring_allgather":
        return size >= ranks
    if name in ("reduce_scatter_allgather", "reduce_scatter_gather"):
        return size // 4 >= 1 << (ranks.bit_length() - 1)
    return True
