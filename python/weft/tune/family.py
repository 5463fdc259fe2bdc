# SPDX-License-Identifier: Apache-2.0
"""The families of MPI: their launchers, and what they say of themselves."""

from __future__ import annotations

import os
import pathlib
import re
import shlex
import shutil
import subprocess
from dataclasses import dataclass

from .faults import Fault, usage

OPENMPI = "openmpi"
MPICH = "mpich"
NAMES = {OPENMPI: "Open MPI", MPICH: "MPICH"}
# How many the ranks of `mpirun weft tune` are on (tools/tune/host.cpp).
_HOSTS = "WEFT_TUNE_HOSTS"


@dataclass(frozen=True)
class Launcher:
    family: str
    command: tuple[str, ...]  # without -n

    def line(self, ranks: int) -> list[str]:
        return [*self.command, "-n", str(ranks)]

    def name(self) -> str:
        return pathlib.Path(self.command[0]).name


def _family_of(command: str) -> str | None:
    try:
        done = subprocess.run([command, "--version"], capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    said = done.stdout + done.stderr
    if "Open MPI" in said or "OpenRTE" in said or "PRRTE" in said:
        return OPENMPI
    if "Intel" not in said and "HYDRA" in said:
        return MPICH
    return None


def find_launcher(family: str | None, given: str | None, ranks: int) -> Launcher:
    """The user's own, or the first on the PATH that is of this family (of any)."""
    if given:
        try:
            command = shlex.split(given)
        except ValueError as error:
            raise usage(f"--launcher: {given}: {error}") from None
        if not command or shutil.which(command[0]) is None:
            raise usage(f"--launcher: {given}: there is no such program")
        found = _family_of(command[0])
        if found is None and family is None:
            raise usage(
                f"--launcher: {given} is neither Open MPI's nor MPICH's; say which it is like: --for openmpi|mpich"
            )
        return Launcher(family or found or "", tuple(command))
    if int(os.environ.get(_HOSTS, "1")) > 1:
        raise usage(
            "the job that weft tune runs in is on several hosts, and jobs that it starts by itself would be on this "
            "one only; name the launcher with its hosts and binding: --launcher 'mpirun --hostfile hosts'"
        )
    seen = []
    names = ["mpirun", "mpiexec", *(f"{name}.{kind}" for kind in NAMES for name in ("mpirun", "mpiexec"))]
    for name in names:
        path = shutil.which(name)
        if path is None:
            continue
        kind = _family_of(path)
        seen.append(f"{path} ({NAMES.get(kind or '', 'unknown')})")
        if kind is not None and family in (None, kind):
            return Launcher(kind, (name, *_room(kind, ranks)))
    wanted = NAMES[family] if family else "Open MPI or MPICH"
    if not seen:
        raise Fault(f"no mpirun or mpiexec on the PATH; load {wanted}, or name its launcher: --launcher 'COMMAND'")
    raise Fault(f"no launcher of {wanted} on the PATH, only {', '.join(seen)}; name one: --launcher 'COMMAND'")


def _room(family: str, ranks: int) -> tuple[str, ...]:
    """Open MPI refuses more ranks than CPUs unless it is told."""
    return ("--oversubscribe",) if family == OPENMPI and ranks > len(os.sched_getaffinity(0)) else ()


def first_line(library: str) -> str:
    """Of what MPI_Get_library_version says, the MPI without how it was built."""
    return " ".join(library.splitlines()[0].split(",")[0].split())


def version_of(library: str) -> str:
    """Of what MPI_Get_library_version says."""
    found = re.search(r"(?:Open MPI v|MPICH Version:\s*)(\d[\w.]*)", library)
    if found is None:
        raise Fault(f"unknown MPI: {first_line(library)[:80]}; there are rules for Open MPI and MPICH")
    return found[1]
