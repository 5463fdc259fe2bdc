# SPDX-License-Identifier: Apache-2.0
"""What can be asked of weft from Python, and the environment variables that carry it."""

import os

from weft import _files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import MutableMapping

MODES = ("dynamic", "static", "exclusive", "counting")
MOST_WEIGHT = 10000
MOST_CPUS = 4096


class Settings:
    """One choice for each option; None leaves what the environment says."""

    def __init__(
        self,
        *,
        mode: "str | None" = None,
        node: "bool | None" = None,
        weight: "int | None" = None,
        cpus: "int | None" = None,
        stats: "bool | None" = None,
        factor: "float | None" = None,
    ) -> None:
        """Raises ValueError, with the way out in its text, for what weft does not know."""
        if mode is not None and mode not in MODES:
            raise ValueError(f"mode {mode!r}: there are {', '.join(MODES[:-1])} and {MODES[-1]}")
        if weight is not None and not 1 <= weight <= MOST_WEIGHT:
            raise ValueError(f"weight {weight}: a number from 1 to {MOST_WEIGHT} is wanted")
        if weight is not None and not node and os.environ.get("WEFT_NODE") is None:
            raise ValueError("a weight counts among the processes of a node: add --node (node=True)")
        if cpus is not None and not 1 <= cpus <= MOST_CPUS:
            raise ValueError(f"cpus {cpus}: a number from 1 to {MOST_CPUS} is wanted")
        if factor is not None and not (0 < factor < float("inf")):
            raise ValueError(f"factor {factor}: a number above 0 is wanted, as in -f 1 or -f 2")
        if factor is not None and (mode or os.environ.get("WEFT_MODE")) != "static":
            raise ValueError("a factor belongs to fixed shares: add --mode static (mode='static')")
        self.mode, self.node, self.weight, self.cpus, self.stats, self.factor = mode, node, weight, cpus, stats, factor

    def store(self, environment: "MutableMapping[str, str]") -> None:
        """Sets the variables that stand for this choice."""
        for name, value in (
            ("WEFT_MODE", self.mode),
            ("WEFT_NODE", None if self.node is None else int(self.node)),
            ("WEFT_WEIGHT", self.weight),
            ("WEFT_NUM_CPUS", self.cpus),
            ("WEFT_STATS", None if self.stats is None else int(self.stats)),
            ("WEFT_STATIC_FACTOR", None if self.factor is None else f"{self.factor:g}"),
        ):
            if value is not None:
                environment[name] = str(value)


def _prepend(environment: "MutableMapping[str, str]", name: str, value: str, separator: str) -> None:
    before = [part for part in environment.get(name, "").split(separator) if part and part != value]
    environment[name] = separator.join([value, *before])


def store_launch(environment: "MutableMapping[str, str]") -> None:
    """Sets what makes a program that is started with `environment` run on weft, and any Python in it know that."""
    environment["WEFT_LIBRARY"] = _files.require(_files.RUNTIME)
    # As in ld.so(8), colons.
    _prepend(environment, "LD_AUDIT", _files.require(_files.AUDIT), ":")
    _prepend(environment, "PYTHONPATH", _files.STARTUP, os.pathsep)
