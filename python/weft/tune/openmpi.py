# SPDX-License-Identifier: Apache-2.0
"""Open MPI's component coll/tuned: each operation has numbered algorithms."""

from __future__ import annotations

from typing import Any

from .family import OPENMPI, first_line, version_of
from .mpis import Variables
from .openmpi_safe import SIZE_OF_ROOT, keeps_order
from .operations import Operation
from .ways import Way

# The chain's and the trees' fanout: Open MPI's own default, which a rule must name, while a forced algorithm has it.
_CHAIN_FANOUT = 4
_SEGMENTED = {
    "bcast": ("chain", "pipeline", "split_binary_tree", "binary_tree", "binomial", "knomial"),
    "reduce": ("in-order_binary",),
}
_SEGMENTS = (0, 8192, 65536)


class OpenMpi:
    family = OPENMPI
    file_variable = "OMPI_MCA_coll_tuned_dynamic_rules_filename"
    measuring = {"OMPI_MCA_coll_tuned_use_dynamic_rules": "1"}  # noqa: RUF012

    def __init__(self, library: dict[str, Any], variables: Variables) -> None:
        self.version = version_of(library["library"])
        self.name = first_line(library["library"])
        self._variables = variables

    @staticmethod
    def variables(operation: Operation) -> list[str]:
        name = f"coll_tuned_{operation.name}_algorithm"
        return [name, f"{name}_segmentsize", f"{name}_chain_fanout"]

    def algorithms(self, operation: Operation) -> dict[int, str]:
        known = self._variables.get(f"coll_tuned_{operation.name}_algorithm", {"items": []})
        return {number: name for number, name in known["items"] if number > 0}

    @staticmethod
    def no_rules(operation: Operation) -> str:
        if operation.name not in SIZE_OF_ROOT:
            return ""
        return "Open MPI has its size at the root only, so that rules would make ranks take different algorithms"

    def ways(self, operation: Operation, size: int, ranks: int) -> list[Way]:
        found = []
        for number, name in self.algorithms(operation).items():
            if (name == "two_proc" and ranks != 2) or (name == "neighbor" and ranks % 2 != 0):
                continue
            if not keeps_order(operation.name, name):
                continue
            segmented = name in _SEGMENTED.get(operation.name, ())
            for segment in _SEGMENTS if segmented else (0,):
                if segment == 0 or segment * 2 <= size:
                    found.append(self._way(operation, number, name, segment))
        return found

    def _way(self, operation: Operation, number: int, name: str, segment: int) -> Way:
        variable = f"coll_tuned_{operation.name}_algorithm"
        fanout = _CHAIN_FANOUT if name == "chain" else 0
        settings = [(variable, number)]
        if f"{variable}_segmentsize" in self._variables:
            settings.append((f"{variable}_segmentsize", segment))
        if fanout and f"{variable}_chain_fanout" in self._variables:
            settings.append((f"{variable}_chain_fanout", fanout))
        label = f"{name}, segments of {segment >> 10}K" if segment else name
        only_measured = operation.name in SIZE_OF_ROOT
        return Way(label, tuple(settings), number, fanout, segment, only_measured=only_measured)
