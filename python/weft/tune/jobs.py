# SPDX-License-Identifier: Apache-2.0
"""Runs the measuring program under the MPI's launcher."""

from __future__ import annotations

import atexit
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .family import NAMES, Launcher
from .faults import Fault

# What a job needs to start and end, beyond what it measures.
_GRACE = 60.0


@dataclass(frozen=True)
class Entry:
    """One line of a job's plan."""

    operation: str
    size: int
    calls: int
    way: str  # as Way.plan() has it


@dataclass(frozen=True)
class Measured:
    times: list[float]  # nanoseconds
    skew: float
    fault: str


class Jobs:
    def __init__(self, launcher: Launcher, folder: str, scratch: pathlib.Path | None = None) -> None:
        """Plans and results go through the scratch folder, which the first rank's host must have too."""
        self.launcher = launcher
        self.program = str(pathlib.Path(folder) / f"weft-tune-{launcher.family}")
        self.tick: Callable[[], None] = lambda: None  # is called again and again while a job runs
        self._number = 0
        if not os.access(self.program, os.X_OK):
            raise Fault(
                f"no measuring program for {NAMES[launcher.family]} ({self.program}); build weft where "
                f"mpicc.{launcher.family} is"
            )
        # One for all jobs, removed at the end however that comes.
        into = str(scratch.absolute()) if scratch is not None else None
        self._scratch = pathlib.Path(tempfile.mkdtemp(prefix=".jobs-", dir=into))
        atexit.register(shutil.rmtree, str(self._scratch), ignore_errors=True)

    def run(
        self,
        ranks: int,
        arguments: Sequence[str],
        environment: Mapping[str, str],
        seconds: float,
        prefix: Sequence[str] = (),
    ) -> None:
        """Ends the job when it takes much longer than these seconds."""
        command = [*self.launcher.line(ranks), *prefix, self.program, *arguments]
        with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as said:
            process = subprocess.Popen(
                command,
                env={**os.environ, **environment},
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            try:
                code = self._wait(process, seconds + _GRACE)
                if code is None:
                    raise Fault(f"a job has not ended {_GRACE:.0f} s after its time: {' '.join(command)}")
            finally:
                self._end(process)
            if code != 0:
                said.seek(0)
                lines = [line for line in said.read().splitlines() if line.strip(" -")]
                raise Fault("\n  ".join([f"a job has failed (exit code {code}): {' '.join(command)}", *lines[:12]]))

    def _wait(self, process: subprocess.Popen[str], seconds: float) -> int | None:
        late = time.monotonic() + seconds
        while time.monotonic() < late:
            try:
                return process.wait(0.1)
            except subprocess.TimeoutExpired:
                self.tick()
        return None

    @staticmethod
    def _end(process: subprocess.Popen[str]) -> None:
        """The launcher ends its ranks when it is asked to."""
        if process.poll() is not None:
            return
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def _lines(
        self,
        ranks: int,
        mode: Sequence[str],
        behind: Sequence[str],
        environment: Mapping[str, str],
        seconds: float,
        prefix: Sequence[str] = (),
    ) -> list[dict[str, Any]]:
        results = self._scratch / "results"
        results.unlink(missing_ok=True)
        try:
            self.run(ranks, [*mode, str(results), *behind], environment, seconds, prefix)
        except Fault:
            # What was measured before counts, as long as there is something.
            if not results.exists() or results.stat().st_size == 0:
                raise
        text = results.read_text(encoding="utf-8") if results.exists() else ""
        return [json.loads(line) for line in text.splitlines() if line.endswith("}")]

    def variables(self, names: Sequence[str]) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
        """The library, and by name what it says of the variables that it has."""
        lines = self._lines(1, ["variables"], names, {}, 30)
        return lines[0], {line["name"]: line for line in lines[1:]}

    def levels(self, ranks: int) -> list[dict[str, Any]]:
        return self._lines(ranks, ["levels"], [], {}, 60)

    def measure(
        self,
        ranks: int,
        entries: Sequence[Entry],
        environment: Mapping[str, str],
        seconds: float,
        entry_seconds: float = 2.0,
        paper: bool = False,
        prefix: Sequence[str] = (),
    ) -> dict[int, Measured]:
        """By index of the entry; without those for which there was no time."""
        plan_lines = [
            f"{number} {entry.operation} {entry.size} {entry.calls} {entry.way}" for number, entry in enumerate(entries)
        ]
        plan = self._scratch / "plan"
        plan.write_text("\n".join(plan_lines) + "\n", encoding="utf-8")
        # Numbers of calls go on, so that each job has other data and other roots.
        self._number += 7919
        mode = ["measure", "--seconds", f"{seconds:.2f}", "--entry-seconds", f"{entry_seconds:.2f}"]
        mode += ["--number", str(self._number), *(["--paper"] if paper else []), str(plan)]
        lines = self._lines(ranks, mode, [], environment, seconds, prefix)
        return {line["number"]: Measured(line["times"], line["skew"], line["fault"]) for line in lines}
