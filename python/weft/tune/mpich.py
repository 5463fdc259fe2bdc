# SPDX-License-Identifier: Apache-2.0
"""MPICH: algorithms have names. Some operations come from the device, beside the generic algorithms."""

from __future__ import annotations

import re
from typing import Any

from .family import MPICH, version_of
from .mpis import Variables
from .operations import Operation
from .ways import Way

# In the order of their numbers they stand in the text of a variable, without anything between them.
_NAMES = (
    "binomial",
    "brucks",
    "dissemination",
    "k_brucks",
    "nb",
    "pairwise",
    "pairwise_sendrecv_replace",
    "pipelined_tree",
    "recexch",
    "recexch_doubling",
    "recexch_halving",
    "recursive_doubling",
    "reduce_scatter_allgather",
    "reduce_scatter_gather",
    "ring",
    "scatter_recursive_doubling_allgather",
    "scatter_ring_allgather",
    "scattered",
    "smp",
    "tree",
)
# For other calls than those that are measured: in place only, over several nodes, by nonblocking calls.
_LEFT_OUT = ("nb", "pairwise_sendrecv_replace", "smp")
# They have one algorithm, and no conditions.
_ONE_ONLY = ("gather", "scatter")
# Of these, the device has algorithms in shared memory, which the generic ones stand against.
DEVICE = ("allreduce", "barrier", "bcast", "reduce")


def device_variable(operation: str) -> str:
    return f"MPIR_CVAR_{operation.upper()}_DEVICE_COLLECTIVE"


def numbers_in(text: str) -> dict[int, str]:
    """Empty when there are algorithms among them that are not known here, since the numbers would be wrong then."""
    places = {}
    for name in _NAMES:
        for match in re.finditer(re.escape(name) + r"\s*- Force", text):
            before = places.get(match.end())
            if before is None or len(name) > len(before):
                places[match.end()] = name
    if len(places) != len(re.findall("- Force", text)):
        return {}
    return {number: places[end] for number, end in enumerate(sorted(places), 1)}


class Mpich:
    family = MPICH
    file_variable = "MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE"
    measuring = {}  # noqa: RUF012

    def __init__(self, library: dict[str, Any], variables: Variables) -> None:
        self.version = version_of(library["library"])
        self.library_file = library["path"]
        self._variables = variables

    @staticmethod
    def variables(operation: Operation) -> list[str]:
        return [f"MPIR_CVAR_{operation.name.upper()}_INTRA_ALGORITHM", device_variable(operation.name)]

    def algorithms(self, operation: Operation) -> dict[int, str]:
        known = self._variables.get(f"MPIR_CVAR_{operation.name.upper()}_INTRA_ALGORITHM")
        if known is None:
            return {}
        if known["items"]:
            return {number: name for number, name in known["items"] if number > 0}
        return numbers_in(known["text"])

    def has_device(self, operation: str) -> bool:
        return operation in DEVICE and device_variable(operation) in self._variables

    @staticmethod
    def no_rules(operation: Operation) -> str:
        return "MPICH has one algorithm for it" if operation.name in _ONE_ONLY else ""

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
