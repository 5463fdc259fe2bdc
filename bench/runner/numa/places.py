# SPDX-License-Identifier: Apache-2.0
"""Where `bench/run numa` measures: this machine, or an emulated one with two NUMA nodes."""

import contextlib
import os
import pathlib
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Sequence

from ..frame.runtimes import Runtime
from .cases import Case

BALANCING = pathlib.Path("/proc/sys/kernel/numa_balancing")
NODES = pathlib.Path("/sys/devices/system/node/online")
NO_GUEST = 125  # guest.py's exit code when there is no machine
SECONDS_OF_A_CASE, SECONDS_OF_A_GUEST = 30, 120


def nodes_here() -> int:
    """How many NUMA nodes this machine has; one where the kernel tells nothing."""
    try:
        text = NODES.read_text().strip()
    except OSError:
        return 1
    bounds = [[int(number) for number in part.split("-")] for part in text.split(",")]
    return sum(part[-1] - part[0] + 1 for part in bounds)


def free_bytes() -> int:
    found = re.search(r"MemAvailable: +(\d+) kB", pathlib.Path("/proc/meminfo").read_text())
    return int(found[1]) * 1024 if found else 1 << 30


def may_balance() -> bool:
    return os.access(BALANCING, os.W_OK)


@contextlib.contextmanager
def balancing_kept() -> Iterator[None]:
    """The setting of automatic balancing is afterwards as it was."""
    before = BALANCING.read_text() if may_balance() else None
    try:
        yield
    finally:
        if before is not None:
            BALANCING.write_text(before)


def set_balancing(on: bool) -> None:
    if may_balance():
        BALANCING.write_text(f"{int(on)}\n")


def command_of(runtime: Runtime, program: str, case: Case) -> str:
    """For a shell."""
    variables = runtime.variables() | case.variables()
    return shlex.join(["env", *(f"{name}={value}" for name, value in variables.items()), *case.command(program)])


def in_guest(
    root: pathlib.Path, cpus: int, accelerator: Sequence[str], program: str, turns: Sequence[tuple[Runtime, Case]]
) -> list[tuple[str, int]]:
    """What each program prints in one guest, and its exit status."""
    script = "\n".join(
        f"echo {int(case.balanced)} > {BALANCING}\n"
        f"echo '[[{index}]]'; {command_of(runtime, program, case)} 2>&1; echo \"[[end $?]]\""
        for index, (runtime, case) in enumerate(turns)
    )
    files = [program, *dict.fromkeys(str(runtime.directory) for runtime, _ in turns)]
    command = [
        *("setpriv", "--pdeathsig", "KILL", sys.executable, "-B", str(root / "tests/numa/guest/guest.py")),
        *("--cpus", str(cpus), "--timeout", str(SECONDS_OF_A_GUEST + SECONDS_OF_A_CASE * len(turns))),
        *(word for name in accelerator[:1] for word in ("--accelerator", name)),
        *(word for file in files for word in ("--file", file)),
    ]
    done = subprocess.run([*command, "--", script], capture_output=True, text=True, check=False)
    if done.returncode == NO_GUEST:
        raise SystemExit(f"bench/run: {done.stderr.strip()}")
    printed = {
        int(index): (text, int(status))
        for index, text, status in re.findall(r"\[\[(\d+)\]\]\n(.*?)\[\[end (\d+)\]\]", done.stdout, re.S)
    }
    return [printed.get(index, ("nothing was printed", 1)) for index in range(len(turns))]
