# SPDX-License-Identifier: Apache-2.0
"""Measures workloads under modes in turn, and keeps what came of it."""

import dataclasses
import json
import pathlib
import subprocess
from typing import Any

from ..frame import machine, process, quota
from . import group, modes
from .modes import Mode, Places
from .workloads import Workload

FOREIGN = (
    *(*process.OWN_VARIABLES, "MKL_", "NUMBA_", "BLIS_", "TBB_", "TCM_", "LOKY_", "PYTHON"),
    *("LLAMA_", "POLARS_", "OPENCV_", "ORT_", "TORCH"),
)
PROBE_LIMIT_S = 120


@dataclasses.dataclass(frozen=True)
class Limits:
    set_up: float  # seconds until a program is ready
    first: float  # seconds of a step as long as nothing is known
    factor: float  # later: so many times the best mode's whole time,
    least: float  # but never less


@dataclasses.dataclass
class Cell:
    """One workload under one mode: samples, or why there are none."""

    samples: list[float] = dataclasses.field(default_factory=list)
    details: list[list[dict[str, Any]]] = dataclasses.field(default_factory=list)  # what the programs said
    cut_seconds: float | None = None
    missing: str = ""  # the mode is not there, or not for this workload
    failed: str = ""

    @property
    def over(self) -> bool:
        """Another round would not tell more."""
        return bool(self.missing or self.failed or self.cut_seconds is not None)


@dataclasses.dataclass
class Session:
    places: Places
    modes: list[Mode]
    workloads: list[Workload]
    quick: bool
    limits: Limits
    cells: dict[tuple[str, str], Cell] = dataclasses.field(default_factory=dict)
    _support: dict[str, str] = dataclasses.field(default_factory=dict)
    _packages: dict[str, bool] = dataclasses.field(default_factory=dict)

    def plan(self) -> list[tuple[Workload, Mode]]:
        return [(workload, mode) for workload in self.workloads for mode in self.modes if workload.takes(mode)]

    def measure(self, workload: Workload, mode: Mode) -> None:
        cell = self.cells.setdefault((workload.name, mode.name), Cell())
        if cell.over:
            return
        cell.missing = self._missing(workload, mode)
        if cell.missing:
            return
        with quota.limited(workload.quota) as before:
            commands = self._commands(workload, mode, before)
            ended = group.run(commands, self.limits.set_up, self._limit(workload))
        cell.cut_seconds, cell.failed = ended.cut_seconds, ended.reason
        if not ended.results:
            return
        cell.missing = _not_taken_over(workload, mode, ended.results)
        cell.failed = cell.failed or _loaded_by_accident(mode, ended.results) or self._differs(workload, ended.results)
        if not cell.over:
            cell.samples.append(_seconds(ended.results))
            cell.details.append(ended.results)

    def environment(self, mode: Mode, share: int = 1) -> dict[str, str]:
        return process.environment(FOREIGN) | {"PYTHONDONTWRITEBYTECODE": "1"} | self.places.variables(mode, share)

    def _commands(self, workload: Workload, mode: Mode, before: tuple[str, ...]) -> list[group.Command]:
        """`before`: the words that start a command."""
        folder = self.places.root / "bench/python/workloads"
        options = ("--gate", *(("--quick",) if self.quick else ()))
        each = int(machine.cpus() * workload.quota) // len(workload.programs)
        return [
            group.Command(
                (*before, *self.places.command(mode), str(folder / program.script), *program.arguments, *options),
                self.environment(mode, max(1, each // max(1, program.callers))),
            )
            for program in workload.programs
        ]

    def _limit(self, workload: Workload) -> float:
        """A step longer than this is cut. It bounds from below what a run of the workload takes."""
        whole = [
            sum(result["end"] - result["begin"] for result in results)
            for (name, _), cell in self.cells.items()
            if name == workload.name
            for results in cell.details
        ]
        return max(self.limits.least, self.limits.factor * min(whole)) if whole else self.limits.first

    def _differs(self, workload: Workload, results: list[dict[str, Any]]) -> str:
        """Whether a checksum is another one than that of the first measurement of any mode."""
        for (name, mode), cell in self.cells.items():
            if name != workload.name or not cell.details:
                continue
            for ours, theirs in zip(results, cell.details[0], strict=True):
                a, b = ours["checksum"], theirs["checksum"]
                if abs(a - b) > workload.tolerance * max(abs(a), abs(b)):
                    return f"{ours['workload']}: the checksum is {a!r}, under {mode} it was {b!r}"
            return ""
        return ""

    def _missing(self, workload: Workload, mode: Mode) -> str:
        for package in workload.packages:
            if not self._has(package):
                return f"{package} is not installed"
        if mode.name == modes.BY_HAND_NAME and not all(program.callers for program in workload.programs):
            return "the callers of its programs have not been counted"
        if workload.quota < 1 and not quota.possible():
            return "no group of processes with a quota can be made here"
        return self._mode_missing(mode)

    def _has(self, package: str) -> bool:
        if package not in self._packages:
            code = f"import importlib.util, sys; sys.exit(importlib.util.find_spec({package!r}) is None)"
            self._packages[package] = subprocess.run([self.places.python, "-c", code], check=False).returncode == 0
        return self._packages[package]

    def _mode_missing(self, mode: Mode) -> str:
        """What bench/python/probe.py says, asked once a mode."""
        if mode.probe and mode.name not in self._support:
            self._support[mode.name] = self._probe(mode)
        return self._support.get(mode.name, "")

    def _probe(self, mode: Mode) -> str:
        words = [*self.places.command(mode), str(self.places.root / "bench/python/probe.py"), mode.probe]
        try:
            done = process.run(words, self.environment(mode), PROBE_LIMIT_S)
            return str(json.loads(done.stdout)["missing"])
        except subprocess.TimeoutExpired:
            return f"its probe did not end in {PROBE_LIMIT_S} s"
        except (OSError, ValueError, KeyError) as error:
            last = done.stderr.strip().splitlines()[-1:] if isinstance(error, ValueError) else [str(error)]
            return " ".join(["its probe failed:", *last])


def _seconds(results: list[dict[str, Any]]) -> float:
    """One program says itself what counts; several take from the common start to the last end."""
    if len(results) == 1:
        return float(results[0]["seconds"])
    return max(result["end"] for result in results) - min(result["begin"] for result in results)


def _is_weft(file: str) -> bool:
    return pathlib.Path(file).resolve().parent.name == "weft"


def _not_taken_over(workload: Workload, mode: Mode, results: list[dict[str, Any]]) -> str:
    """What weft should have taken over in a program and did not."""
    if not mode.weft:
        return ""
    needed = {"openmp": "OpenMP runtime", "openblas": "OpenBLAS", "tbb": "oneTBB"}
    for result in results:
        libraries = result["libraries"]
        taken = {
            "openmp": bool(libraries["openmp"]) and all(map(_is_weft, libraries["openmp"])),
            "openblas": bool(libraries["openblas"]) and all(libraries["openblas"].values()),
            "tbb": any(map(_is_weft, libraries["tbb"])),
        }
        there = [need for need in workload.needs if libraries[need] or len(results) == 1]
        lacking = [needed[need] for need in there if not taken[need]]
        if lacking:
            return f"weft did not take over {' and '.join(lacking)} of {result['workload']}"
    return ""


def _loaded_by_accident(mode: Mode, results: list[dict[str, Any]]) -> str:
    files = [file for result in results for file in result["libraries"]["openmp"] if not mode.weft and _is_weft(file)]
    return f"weft was mapped, though it was not asked for: {files[0]}" if files else ""
