# SPDX-License-Identifier: Apache-2.0
"""A group of processes that may use a part of the CPUs' time only: what a container with a limit is."""

import contextlib
import functools
import os
import pathlib
import time
from collections.abc import Iterator

from ..frame import machine

PERIOD_US = 100_000
EMPTY_S = 5  # until the processes that were killed have left
# Version 2 of control groups, and the controller of version 1.
PLACES = (pathlib.Path("/sys/fs/cgroup"), pathlib.Path("/sys/fs/cgroup/cpu"))


@contextlib.contextmanager
def limited(part: float) -> Iterator[tuple[str, ...]]:
    """The words that start a command in the group; none for all of the CPUs' time."""
    if part >= 1:
        yield ()
        return
    folder = _make(max(PERIOD_US // 100, int(part * machine.cpus() * PERIOD_US)))
    if folder is None:
        raise OSError("no control group can be made here")
    try:
        yield ("/bin/sh", "-c", f'echo $$ > {folder}/cgroup.procs && exec "$@"', "sh")
    finally:
        _remove(folder)


@functools.cache
def possible() -> bool:
    folder = _make(PERIOD_US)
    if folder is not None:
        _remove(folder)
    return folder is not None


def _make(microseconds: int) -> pathlib.Path | None:
    """A new group that may run so long in each period."""
    for place in PLACES:
        folder = place / f"weft-bench-{os.getpid()}"
        try:
            folder.mkdir()
        except OSError:
            continue
        files = {"cpu.max": f"{microseconds} {PERIOD_US}", "cpu.cfs_quota_us": str(microseconds)}
        with contextlib.suppress(OSError):
            for name, text in files.items():
                if (folder / name).exists():
                    (folder / name).write_text(text)
                    return folder
        folder.rmdir()
    return None


def _remove(folder: pathlib.Path) -> None:
    deadline = time.monotonic() + EMPTY_S
    while (folder / "cgroup.procs").read_text().strip() and time.monotonic() < deadline:
        time.sleep(0.01)
    folder.rmdir()
