# SPDX-License-Identifier: Apache-2.0
"""Runs the measuring program under the MPI's launcher."""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import pathlib
import shlex
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .console import warn
from .family import NAMES, Launcher
from .faults import Fault, usage

# What a job needs to start and end, beyond what it measures.
_GRACE = 60.0
ENDED = "the job ended"


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
        self._ended_early = False  # the last job
        self._measured_some = False
        if not os.access(self.program, os.X_OK):
            raise Fault(
                f"no measuring program for {NAMES[launcher.family]} ({self.program}); build weft where "
                f"mpicc.{launcher.family} is"
            )
        # One for all jobs, removed at the end however that comes.
        into = str(scratch.absolute()) if scratch is not None else None
        try:
            self.scratch = pathlib.Path(tempfile.mkdtemp(prefix=".jobs-", dir=into))
        except OSError as error:
            raise usage(f"{into or tempfile.gettempdir()}: {error.strerror}") from None
        atexit.register(shutil.rmtree, str(self.scratch), ignore_errors=True)

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
            finally:
                self._end(process)
            if code == 0:
                return
            how = f"has failed (exit code {code})"
            if code is None:
                how = f"has not ended {_GRACE:.0f} s after its time"
            said.seek(0)
            lines = [line for line in said.read().splitlines() if line.strip(" -")]
            raise Fault("\n  ".join([f"a job {how}: {shlex.join(command)}", *lines[:12]]))

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
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(10)
        finally:
            # Also when the user is too impatient to wait.
            if process.poll() is None:
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
        """Its first line is about the job."""
        results = self.scratch / "results"
        results.unlink(missing_ok=True)
        fault = None
        try:
            self.run(ranks, [*mode, str(results), *behind], environment, seconds, prefix)
        except Fault as error:
            fault = error
        text = results.read_text(encoding="utf-8") if results.exists() else ""
        lines = [line for line in text.splitlines() if line.endswith("}")]
        if lines:
            self._check_ranks(json.loads(lines[0]), ranks)
        if fault is not None:
            # What was measured before counts, in this job or in another one.
            if not lines and not self._measured_some:
                raise fault
            warn(str(fault))
        self._ended_early = fault is not None
        return [json.loads(line) for line in lines]

    def _check_ranks(self, about: Mapping[str, Any], ranks: int) -> None:
        if about["ranks"] == ranks:
            return
        library = next(iter(about["library"].splitlines()), "").strip()
        raise Fault(
            f"{shlex.join(self.launcher.line(ranks))} made a job of {about['ranks']} instead of {ranks}: this launcher "
            f"and the library do not belong together ({about['path']}: {library[:60]}); name the launcher of this "
            "library (--launcher), or load the other library"
        )

    def variables(self, names: Sequence[str]) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
        """The library, and by name what it says of the variables that it has."""
        lines = self._lines(1, ["variables"], names, {}, 30)
        if not lines:
            raise Fault(f"{shlex.join(self.launcher.line(1))}: the measuring program has written nothing")
        return lines[0], {line["name"]: line for line in lines[1:]}

    def levels(self, ranks: int) -> list[dict[str, Any]]:
        return self._lines(ranks, ["levels"], [], {}, 60)[1:]

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
        """By index of the entry; without those for which there was no time. A job that ended by itself did so in the
        first one that it has not measured."""
        plan_lines = [
            f"{number} {entry.operation} {entry.size} {entry.calls} {entry.way}" for number, entry in enumerate(entries)
        ]
        plan = self.scratch / "plan"
        plan.write_text("\n".join(plan_lines) + "\n", encoding="utf-8")
        # Numbers of calls go on, so that each job has other data and other roots.
        self._number += 7919
        mode = ["measure", "--seconds", f"{seconds:.2f}", "--entry-seconds", f"{entry_seconds:.2f}"]
        mode += ["--number", str(self._number), *(["--paper"] if paper else []), str(plan)]
        lines = self._lines(ranks, mode, [], environment, seconds, prefix)
        found = {line["number"]: Measured(line["times"], line["skew"], line["fault"]) for line in lines[1:]}
        self._measured_some = self._measured_some or bool(found)
        if self._ended_early and lines and len(found) < len(entries):
            found[len(found)] = Measured([], 0.0, ENDED)
        return found
