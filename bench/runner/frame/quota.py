# SPDX-License-Identifier: Apache-2.0
"""A group of processes that may use a part of the CPUs' time only: what a container with a limit is."""

import contextlib
import functools
import os
import pathlib
import signal
import sys
import tempfile
import time
from collections.abc import Iterator

from . import machine

PERIOD_US = 100_000
EMPTY_S = 5  # until the processes that were killed have left
PREFIX = "weft-bench-"
# Version 2 of control groups, and the controller of version 1.
PLACES = (pathlib.Path("/sys/fs/cgroup"), pathlib.Path("/sys/fs/cgroup/cpu"))


@contextlib.contextmanager
def limited(part: float) -> Iterator[tuple[str, ...]]:
    """The words that start a command in the group; none for all of the CPUs' time."""
    if part >= 1:
        yield ()
        return
    folder = _make(part)
    if folder is None:
        raise OSError("no control group can be made here")
    before = signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        yield ("/bin/sh", "-c", f'echo $$ > {folder}/cgroup.procs && exec "$@"', "sh")
    finally:
        signal.signal(signal.SIGTERM, before)
        _remove(folder)


@functools.cache
def possible() -> bool:
    folder = _make(1)
    if folder is not None:
        _remove(folder)
    return folder is not None


def _make(part: float) -> pathlib.Path | None:
    """A new group with that part of the CPUs' time."""
    microseconds = int(part * machine.cpus() * PERIOD_US)
    of_version = (
        {"cpu.max": f"{microseconds} {PERIOD_US}"},
        {"cpu.cfs_period_us": str(PERIOD_US), "cpu.cfs_quota_us": str(microseconds)},
    )
    for place, files in zip(PLACES, of_version, strict=True):
        with contextlib.suppress(OSError):
            for left in place.glob(f"{PREFIX}*"):  # of a run that was killed
                with contextlib.suppress(OSError):
                    left.rmdir()
            folder = pathlib.Path(tempfile.mkdtemp(prefix=PREFIX, dir=place))
            try:
                for name, text in files.items():
                    with (folder / name).open("r+") as file:
                        file.write(text)
            except OSError:
                folder.rmdir()
                continue
            return folder
    return None


def _remove(folder: pathlib.Path) -> None:
    """What is in it still is killed: a program may have children with a session of their own."""
    deadline = time.monotonic() + EMPTY_S
    while (left := (folder / "cgroup.procs").read_text().split()) and time.monotonic() < deadline:
        for process in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(process), signal.SIGKILL)
        time.sleep(0.01)
    try:
        folder.rmdir()
    except OSError as error:
        print(f"bench/run: {folder} is left: {error.strerror}", file=sys.stderr)
