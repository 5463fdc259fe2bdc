# SPDX-License-Identifier: Apache-2.0
"""The machine that is measured, and what else ran on it meanwhile."""

import os
import pathlib
import platform
import resource
import time


def cpus() -> int:
    return len(os.sched_getaffinity(0))


def describe() -> dict[str, str | int]:
    lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    model = next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), platform.machine())
    return {"cpus": cpus(), "model": model, "system": f"{platform.system()} {platform.release()}"}


def raise_limits() -> None:
    """As many threads as may be: 64 x 64 under the peers."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NPROC)
    if soft != hard:
        resource.setrlimit(resource.RLIMIT_NPROC, (hard, hard))


class OthersWatch:
    """The share of the machine's CPU time that was not ours, from when this object was made to when it was stopped."""

    def __init__(self) -> None:
        self._start, self._busy, self._own = time.monotonic(), _busy_seconds(), _own_seconds()
        self._stopped: float | None = None

    def stop(self) -> float:
        self._stopped = self.percent()
        return self._stopped

    def percent(self) -> float:
        if self._stopped is not None:
            return self._stopped
        seconds = (time.monotonic() - self._start) * (os.cpu_count() or 1)
        others = (_busy_seconds() - self._busy) - (_own_seconds() - self._own)
        return max(0.0, 100 * others / seconds) if seconds > 0 else 0.0


def _busy_seconds() -> float:
    """User, nice, system, interrupts and what the hypervisor took."""
    fields = [int(field) for field in pathlib.Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]]
    return (sum(fields) - fields[3] - fields[4]) / os.sysconf("SC_CLK_TCK")


def _own_seconds() -> float:
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system
