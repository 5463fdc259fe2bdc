# SPDX-License-Identifier: Apache-2.0
"""One get from Python: weft.KV against python-lmdb and a dict, each in an interpreter of its own, in turn."""

import argparse
import pathlib
import statistics
import subprocess
import sys

from rich.console import Console
from rich.progress import Progress

from . import report
from .process import Failure
from .shared_memory import Programs

STORES = ("weft.KV", "lmdb", "dict")


def measure(
    root: pathlib.Path, arguments: argparse.Namespace, programs: Programs, progress: Progress
) -> dict[str, dict[str, list[float]]]:
    """By store and call, nanoseconds."""
    found: dict[str, dict[str, list[float]]] = {}
    task = progress.add_task("", total=arguments.rounds * len(STORES))
    package = arguments.build / "python_tree"
    words = ["cmake", "--install", str(arguments.build), "--component", "python", "--prefix", str(package / "weft")]
    made = subprocess.run(words, check=False, capture_output=True, text=True)
    if made.returncode != 0:
        programs.failures.append(Failure("Python", " ".join(words), made.stderr.strip()[-300:]))
        return {}
    variables = {"PYTHONPATH": str(package), "PYTHONDONTWRITEBYTECODE": "1"}
    for _ in range(arguments.rounds):
        for store in STORES:
            progress.update(task, advance=1, description=f"Python: {store}")
            command = [sys.executable, root / "bench/kv/python_get.py", store, arguments.milliseconds]
            for name, value in programs.run(f"Python, {store}", command, variables).items():
                found.setdefault(store, {}).setdefault(name, []).append(value)
    return found


def table(console: Console, found: dict[str, dict[str, list[float]]]) -> None:
    if not found:
        return
    calls = list(dict.fromkeys(call for values in found.values() for call in values))
    shown = report.new_table("from Python, 64-byte values, ns of one call: medians", "store", *calls)
    for store, values in found.items():
        shown.add_row(
            store, *(report.short(statistics.median(values[call])) if call in values else "" for call in calls)
        )
    console.print(shown)
