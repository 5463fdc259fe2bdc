# SPDX-License-Identifier: Apache-2.0
"""One measurement: a fresh process under one runtime, which must be the one that was meant."""
import json
import os
import pathlib
import statistics
import subprocess
from typing import Any

from .runtimes import Runtime

TIMEOUT_S = 600


class Wrong(Exception):
    """The measurement is no result: crash, time-out, another runtime, or wrong numbers."""


def environment(runtime: Runtime, variables: dict[str, str]) -> dict[str, str]:
    clean = {k: v for k, v in os.environ.items()
             if not k.startswith(("OMP_", "GOMP_", "KMP_", "WEFT_", "OPENBLAS_", "LD_"))}
    return clean | {"LD_LIBRARY_PATH": str(runtime.directory), "KMP_WARNINGS": "0"} | variables


def run(runtime: Runtime, command: list[Any], variables: dict[str, str] | None = None) -> dict[str, Any]:
    text = [str(part) for part in command]
    try:
        done = subprocess.run(text, env=environment(runtime, variables or {}), capture_output=True, text=True,
                              timeout=TIMEOUT_S, check=False)
    except subprocess.TimeoutExpired as late:
        raise Wrong(f"{runtime.name}: no end after {TIMEOUT_S} s: {' '.join(text)}") from late
    if done.returncode != 0:
        raise Wrong(f"{runtime.name}: exit status {done.returncode}: {' '.join(text)}\n{done.stderr[-500:]}")
    result = json.loads(done.stdout)
    mapped = {str(pathlib.Path(path).resolve()) for path in result["runtimes"]}
    if mapped != {str(runtime.file)}:
        raise Wrong(f"{runtime.name} was meant, mapped was {mapped}: {' '.join(text)}")
    return result


def summary(samples: list[float]) -> dict[str, float]:
    """Median, and the values that nine in ten samples are above and below."""
    ordered = sorted(samples)
    last = len(ordered) - 1
    return {"median": statistics.median(ordered), "p10": ordered[round(0.1 * last)], "p90": ordered[round(0.9 * last)],
            "samples": len(ordered)}
