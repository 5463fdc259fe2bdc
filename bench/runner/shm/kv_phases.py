# SPDX-License-Identifier: Apache-2.0
"""Table 1 of the source paper: one get by phases, of weft's store and of PMIx, by the number of clients."""

import pathlib
from collections.abc import Iterator
from functools import partial
from typing import Any

from rich.console import Console

from ..frame import report
from ..frame.study import Study, Turn
from .measures import PHASE_TABLES, PHASES, STATISTICS

CLIENTS = (2, 8, 16, 28)
GETS = 1000
# How the library stores what clients get, and what is said where it is not seen.
PMIX_STORES = ("ds21", "hash")
MEANINGS = (
    "P1: get is entered. P2: before the lock. P3: it is had. P4: the key is found. P5: the value is unpacked. P6: the "
    "lock is given back. P7: get returns.\n"
    "weft has no lock: what stands for P3 and P6 is in the how-to page. PMIx is not rebuilt: P2, P3, P5 and P6 are its "
    "calls of the lock between processes, and P5-P3 is search and unpacking. A dash: not seen."
)


class Phases:
    """A part of the study of stores."""

    def __init__(self, study: Study) -> None:
        self.study = study
        # By whose get it is and the number of clients, what the program printed.
        self.found: dict[str, Any] = {}

    def turns(self) -> Iterator[Turn]:
        gets = 50 if self.study.smoke else GETS
        stores = PMIX_STORES if pathlib.Path(self.study.program("pmix_get")).exists() else ()
        for clients in CLIENTS[:1] if self.study.smoke else CLIENTS:
            yield (
                f"phases: weft, {clients} clients",
                partial(self._measure, "weft", "kv_phases", clients, 100 * gets, {}),
            )
            for store in stores:
                variables = {"PMIX_MCA_gds": store if store == "hash" else f"{store},hash"}
                name = f"PMIx {store}"
                yield (
                    f"phases: {name}, {clients} clients",
                    partial(self._measure, name, "pmix_get", clients, gets, variables),
                )

    def _measure(self, name: str, program: str, clients: int, gets: int, variables: dict[str, str]) -> None:
        command = [self.study.program(program), "--clients", clients, "--gets", gets]
        if result := self.study.json_of(name, command, variables):
            self.found[f"{name}, N = {clients}"] = result

    def show(self, console: Console) -> None:
        if not self.found:
            return
        for unit, statistic in PHASE_TABLES:
            at = STATISTICS.index(statistic)
            rows = (
                (name, *(report.short(result[phase][unit][at]) if phase in result else "-" for phase in PHASES))
                for name, result in self.found.items()
            )
            console.print(report.table(f"one get by phases, {unit}, {statistic}", ("whose", *PHASES), rows))
        console.print(MEANINGS)
        if not any(name.startswith("PMIx") for name in self.found):
            console.print("Left out: PMIx: not installed when this was built (scripts/setup-kv)")
