# SPDX-License-Identifier: Apache-2.0
"""One measurement: a fresh process under one runtime, which must be the one that was meant."""

import dataclasses
import json
import os
import pathlib
import statistics
import subprocess
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .runtimes import Runtime

TIMEOUT_S = 180
OWN_VARIABLES = ("OMP_", "GOMP_", "KMP_", "WEFT_", "OPENBLAS_", "MKL_", "LD_")


@dataclasses.dataclass(frozen=True)
class Failure:
    """A measurement that is no result: crash, time-out, another runtime than meant, or wrong numbers."""

    runtime: str
    command: str
    reason: str


@dataclasses.dataclass
class Session:
    """What all measurements of a run share."""

    build: pathlib.Path
    runtimes: list[Runtime]
    rounds: int
    repeat: int | None  # None: the default of each measurement
    smoke: bool
    step: Callable[[str], None]  # called before each measurement with what it is
    blas: pathlib.Path | None = None  # directory of the OpenBLAS to use, else the system's
    failures: list[Failure] = dataclasses.field(default_factory=list)

    def names(self) -> list[str]:
        return [runtime.name for runtime in self.runtimes]

    def program(self, name: str) -> str:
        return str(self.build / "bench" / name)

    def environment(self, runtime: Runtime, variables: Mapping[str, str]) -> dict[str, str]:
        clean = {name: value for name, value in os.environ.items() if not name.startswith(OWN_VARIABLES)}
        path = ":".join(str(directory) for directory in (runtime.directory, self.blas) if directory)
        return clean | {"LD_LIBRARY_PATH": path, "KMP_WARNINGS": "0"} | dict(variables)

    def run(
        self, runtime: Runtime, command: Sequence[object], variables: Mapping[str, str] | None = None
    ) -> dict[str, Any] | None:
        """The JSON that the program wrote. None: it failed, now or before, and is listed in `failures`."""
        variables = variables or {}
        words = [str(part) for part in command]
        shown = " ".join([*(f"{name}={value}" for name, value in variables.items()), *words])
        if any((failure.runtime, failure.command) == (runtime.name, shown) for failure in self.failures):
            return None
        result, reason = self._attempt(runtime, words, variables)
        if reason:
            self.failures.append(Failure(runtime.name, shown, reason))
            return None
        return result

    def _attempt(
        self, runtime: Runtime, words: list[str], variables: Mapping[str, str]
    ) -> tuple[dict[str, Any] | None, str]:
        environment = self.environment(runtime, variables)
        try:
            done = subprocess.run(
                words, env=environment, capture_output=True, text=True, timeout=TIMEOUT_S, check=False
            )
        except subprocess.TimeoutExpired:
            return None, f"no end after {TIMEOUT_S} s"
        if done.returncode != 0:
            return None, f"exit status {done.returncode} {done.stderr.strip()[-300:]}".strip()
        try:
            result = json.loads(done.stdout)
        except json.JSONDecodeError as error:
            return None, f"no JSON on stdout: {error}"
        return result, self._wrong_libraries(runtime, result)

    def _wrong_libraries(self, runtime: Runtime, result: dict[str, Any]) -> str:
        wrong = wrong_runtime(runtime, result)
        if wrong:
            return wrong
        mapped = _resolved(result["blas"])
        if self.blas and mapped and mapped != {(self.blas / "libopenblas.so.0").resolve()}:
            return f"the OpenBLAS of --openblas was meant, mapped was {_listed(mapped)}"
        return ""


def wrong_runtime(runtime: Runtime, result: dict[str, Any]) -> str:
    """Which other OpenMP runtime a program says it had; empty: the one that was meant."""
    mapped = _resolved(result["runtimes"])
    return "" if mapped == {runtime.file} else f"{runtime.file} was meant, mapped was {_listed(mapped)}"


def _resolved(paths: list[str]) -> set[pathlib.Path]:
    return {pathlib.Path(path).resolve() for path in paths}


def _listed(paths: set[pathlib.Path]) -> str:
    return ", ".join(sorted(str(path) for path in paths)) or "none"


def summary(samples: list[float]) -> dict[str, float]:
    """Median, and the values that nine in ten samples are above and below."""
    ordered = sorted(samples)
    last = len(ordered) - 1
    return {
        "median": statistics.median(ordered),
        "p10": ordered[round(0.1 * last)],
        "p90": ordered[round(0.9 * last)],
        "samples": len(ordered),
    }
