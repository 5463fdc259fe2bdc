# SPDX-License-Identifier: Apache-2.0
"""Starts programs together, each in a session of its own, and reads the lines of JSON they write until they end.

A program says when it is ready; when all are, each gets a line, and from then on every line it writes (a step that is
done, the result) must come within the limit. A program that is silent for longer is cut, and the others with it.
"""

import contextlib
import dataclasses
import json
import os
import selectors
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from typing import IO, Any


@dataclasses.dataclass(frozen=True)
class Command:
    words: tuple[str, ...]
    environment: Mapping[str, str]


@dataclasses.dataclass
class Ended:
    """The results, one of each program; or how long the slowest step had lasted when it was cut; or what went wrong."""

    results: list[dict[str, Any]] = dataclasses.field(default_factory=list)
    cut_seconds: float | None = None
    reason: str = ""


class _Program:
    def __init__(self, command: Command) -> None:
        self.errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 (stop closes it)
        self.process = subprocess.Popen(
            command.words,
            env=dict(command.environment),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            start_new_session=True,
        )
        assert self.process.stdin and self.process.stdout
        self.stdin, self.stdout = self.process.stdin, self.process.stdout
        os.set_blocking(self.stdout.fileno(), False)
        self.rest = b""
        self.ready = self.closed = False
        self.result: dict[str, Any] | None = None
        self.heard = time.monotonic()

    def read(self) -> str:
        """Takes in what was written; returns what is wrong with it."""
        block = self.stdout.read()
        if not block:
            self.closed = True
            return ""
        *lines, self.rest = (self.rest + block).split(b"\n")
        for line in lines:
            try:
                said = json.loads(line)
            except ValueError:
                return f"no JSON on stdout: {line[:200].decode(errors='replace')}"
            self.heard = time.monotonic()
            self.ready = self.ready or "ready" in said
            self.result = said.get("result", self.result)
        return ""

    def go(self) -> None:
        self.heard = time.monotonic()
        with contextlib.suppress(BrokenPipeError):  # it has ended: the exit status tells
            self.stdin.write(b"go\n")
            self.stdin.flush()

    def stop(self) -> None:
        """Ends what is left of it, children included."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        for stream in (self.stdin, self.stdout, self.errors):
            with contextlib.suppress(BrokenPipeError):
                stream.close()

    def complaint(self) -> str:
        self.errors.seek(0)
        return self.errors.read().decode(errors="replace").strip()[-600:]

    def late(self, started: bool, limit: float) -> Ended:
        if not started:
            return Ended(reason=f"not ready after {limit:.0f} s")
        if self.result:
            return Ended(reason=f"it did not end in the {limit:.0f} s after its result")
        return Ended(cut_seconds=limit)

    def verdict(self) -> str:
        status = self.process.wait()
        if self.result and self.result["wrong"]:
            return f"wrong result: {self.result['wrong']}"
        if status != 0:
            return f"exit status {status} {self.complaint()}".strip()
        return "" if self.result else f"it ended without a result {self.complaint()}".strip()


def run(commands: Sequence[Command], set_up_limit: float, limit: float) -> Ended:
    programs: list[_Program] = []
    try:
        for command in commands:
            programs.append(_Program(command))
        return _follow(programs, set_up_limit, limit)
    except OSError as error:
        return Ended(reason=str(error))
    finally:
        for program in programs:
            program.stop()


def _follow(programs: list[_Program], set_up_limit: float, limit: float) -> Ended:
    started = False
    with selectors.DefaultSelector() as selector:
        for program in programs:
            selector.register(program.stdout, selectors.EVENT_READ, program)
        while selector.get_map():
            if not started and all(program.ready for program in programs):
                started = True
                for program in programs:
                    program.go()
            allowed = limit if started else set_up_limit
            awaited = [program for program in programs if not program.closed and (started or not program.ready)]
            silent = min(awaited, key=lambda program: program.heard)
            wait = silent.heard + allowed - time.monotonic()
            if wait <= 0:
                return silent.late(started, allowed)
            for key, _ in selector.select(wait):
                wrong = key.data.read()
                if wrong:
                    return Ended(reason=wrong)
                if key.data.closed:
                    selector.unregister(key.fileobj)
                    if not key.data.result:  # the others would wait for it
                        return Ended(reason=key.data.verdict())
    wrong = next((verdict for verdict in (program.verdict() for program in programs) if verdict), "")
    return Ended(reason=wrong) if wrong else Ended([program.result for program in programs if program.result])
