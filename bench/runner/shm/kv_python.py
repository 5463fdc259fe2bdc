# SPDX-License-Identifier: Apache-2.0
"""One get from Python: weft.KV against python-lmdb and a dict, each in an interpreter of its own, in turn."""

import statistics
import sys
from collections.abc import Iterator
from functools import partial

from rich.console import Console

from ..frame import process, report
from ..frame.process import Failure
from ..frame.study import Turn
from .study import SharedMemoryStudy

STORES = ("weft.KV", "lmdb", "dict")


class FromPython:
    """A part of the study of stores."""

    def __init__(self, study: SharedMemoryStudy) -> None:
        self.study = study
        # By store and call, nanoseconds.
        self.found: dict[str, dict[str, list[float]]] = {}

    def turns(self) -> Iterator[Turn]:
        package, reason = process.make_python_package(self.study.arguments.build)
        if reason:
            self.study.failures.append(Failure("Python", "the package weft", reason))
            return
        for store in STORES:
            yield f"Python: {store}", partial(self._measure, store, str(package))

    def _measure(self, store: str, package: str) -> None:
        command = [sys.executable, self.study.root / "bench/kv/python_get.py", store, self.study.milliseconds]
        variables = {"PYTHONPATH": package, "PYTHONDONTWRITEBYTECODE": "1"}
        for call, value in self.study.json_of(f"Python, {store}", command, hidden=variables).items():
            self.found.setdefault(store, {}).setdefault(call, []).append(value)

    def show(self, console: Console) -> None:
        if not self.found:
            return
        calls = list(dict.fromkeys(call for values in self.found.values() for call in values))
        rows = (
            (store, *(report.short(statistics.median(values[call])) if call in values else "" for call in calls))
            for store, values in self.found.items()
        )
        console.print(report.table("from Python, 64-byte values, ns of one call: medians", ("store", *calls), rows))
