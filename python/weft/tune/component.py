# SPDX-License-Identifier: Apache-2.0
"""weft's own collectives, as a further way beside the MPI's: jobs that have them loaded."""

from __future__ import annotations

import os
import pathlib
from collections.abc import Mapping
from dataclasses import dataclass

from . import weft_rules
from .family import OPENMPI
from .operations import Operation

_PATH = "OMPI_MCA_mca_base_component_path"


@dataclass(frozen=True)
class Component:
    environment: Mapping[str, str]
    # Stands before the program: a library that is for the ranks, not for the launcher.
    prefix: tuple[str, ...] = ()

    def takes(self, operation: Operation) -> bool:
        return operation.name in weft_rules.OPERATIONS

    def _jobs(self, rules: str) -> dict[str, str]:
        """From the first call on, so that a job's own first calls suffice; weft compares nothing by itself there."""
        return {
            **self.environment,
            "WEFT_COLLECTIVES_AFTER": "1",
            "WEFT_COLLECTIVES_COMPARE": "0",
            "WEFT_COLLECTIVES_RULES": rules,
        }

    def measuring(self) -> dict[str, str]:
        """Without rules of the user's."""
        return self._jobs("")

    def with_rules(self, file: pathlib.Path) -> dict[str, str]:
        return self._jobs(str(file))


def find(family: str, folder: str) -> Component | None:
    """None: weft was built without."""
    library = pathlib.Path(folder) / f"libweft-coll-{family}.so"
    if not library.exists():
        return None
    environment = {}
    # Open MPI of the version that the component is for: the library leaves the calls to it.
    if family == OPENMPI and (pathlib.Path(folder) / "mca_coll_weft.so").exists():
        others = os.environ.get(_PATH) or "SYSTEM_DEFAULT:USER_DEFAULT"
        environment[_PATH] = f"{folder}:{others}"
    return Component(environment, ("env", f"LD_PRELOAD={library}"))
