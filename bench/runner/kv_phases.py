# SPDX-License-Identifier: Apache-2.0
"""Table 1 of the source paper: one get by phases, of weft's store and of PMIx, by the number of clients."""

import argparse
from typing import Any

from rich.console import Console
from rich.progress import Progress

from . import report
from .shared_memory import Programs
from .shared_memory_measures import PHASE_TABLES, PHASES, STATISTICS

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


def measure(arguments: argparse.Namespace, programs: Programs, progress: Progress) -> dict[str, Any]:
    """By who is measured and the number of clients, what the program printed."""
    found: dict[str, Any] = {}
    clients = CLIENTS[:1] if arguments.smoke else CLIENTS
    stores = PMIX_STORES if programs.path("pmix_get").exists() else ()
    gets = 50 if arguments.smoke else GETS
    task = progress.add_task("", total=len(clients) * (1 + len(stores)))
    for count in clients:
        progress.update(task, advance=1, description=f"phases: weft, {count} clients")
        command = [programs.path("kv_phases"), "--clients", count, "--gets", 100 * gets]
        found[f"weft, N = {count}"] = programs.run("weft", command)
        for store in stores:
            progress.update(task, advance=1, description=f"phases: PMIx {store}, {count} clients")
            command = [programs.path("pmix_get"), "--clients", count, "--gets", gets]
            variables = {"PMIX_MCA_gds": store if store == "hash" else f"{store},hash"}
            found[f"PMIx {store}, N = {count}"] = programs.run(f"PMIx {store}", command, variables)
    return {name: result for name, result in found.items() if result}


def table(console: Console, found: dict[str, Any]) -> None:
    if not found:
        return
    for unit, statistic in PHASE_TABLES:
        shown = report.new_table(f"one get by phases, {unit}, {statistic}", "whose", *PHASES)
        for name, result in found.items():
            at = STATISTICS.index(statistic)
            shown.add_row(
                name, *(report.short(result[phase][unit][at]) if phase in result else "-" for phase in PHASES)
            )
        console.print(shown)
    console.print(MEANINGS, highlight=False)
    if not any(name.startswith("PMIx") for name in found):
        console.print("Left out: PMIx: not installed when this was built (scripts/setup-kv)")
