# SPDX-License-Identifier: Apache-2.0
"""Where `bench/run numa` measures: this machine, or an emulated one with two NUMA nodes."""

import contextlib
import dataclasses
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator

from .numa_cases import Case, Samples
from .process import Failure, Session, wrong_runtime
from .runtimes import Runtime

BALANCING = pathlib.Path("/proc/sys/kernel/numa_balancing")
NODES = pathlib.Path("/sys/devices/system/node/online")
NO_GUEST = 125  # guest.py's exit code when there is no machine
SECONDS_OF_A_CASE, SECONDS_OF_A_GUEST = 30, 120


@dataclasses.dataclass(frozen=True)
class Guest:
    root: pathlib.Path
    cpus: int
    accelerator: str | None


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
def _balancing_kept() -> Iterator[None]:
    """The setting of automatic balancing is afterwards as it was."""
    before = BALANCING.read_text() if may_balance() else None
    try:
        yield
    finally:
        if before is not None:
            BALANCING.write_text(before)


def measure(session: Session, cases: list[Case]) -> Samples:
    samples: Samples = {}
    with _balancing_kept():
        for _ in range(session.rounds):
            for case in cases:
                if may_balance():
                    BALANCING.write_text(f"{int(case.balanced)}\n")
                for runtime in session.runtimes:
                    session.step(f"{runtime.name}: {case.label()}")
                    result = session.run(runtime, case.command(session.program("dgemv")), case.variables())
                    if result is not None:
                        samples.setdefault((runtime.name, case), []).append(result)
    return samples


def measure_in_guest(session: Session, cases: list[Case], guest: Guest) -> Samples:
    """All of it in one guest."""
    turns = [(runtime, case) for _ in range(session.rounds) for case in cases for runtime in session.runtimes]
    script = "\n".join(
        f"echo {int(case.balanced)} > {BALANCING}\n"
        f"echo '[[{index}]]'; {_shell(session, runtime, case)} 2>&1; echo \"[[end $?]]\""
        for index, (runtime, case) in enumerate(turns)
    )
    files = [session.program("dgemv"), *(str(runtime.directory) for runtime in session.runtimes)]
    command = [
        *("setpriv", "--pdeathsig", "KILL", sys.executable, "-B", str(guest.root / "tests/numa/guest/guest.py")),
        *("--cpus", str(guest.cpus), "--timeout", str(SECONDS_OF_A_GUEST + SECONDS_OF_A_CASE * len(turns))),
        *(("--accelerator", guest.accelerator) if guest.accelerator else ()),
        *(word for file in files for word in ("--file", file)),
    ]
    session.step("the guest")
    done = subprocess.run([*command, "--", script], capture_output=True, text=True, check=False)
    if done.returncode == NO_GUEST:
        raise SystemExit(f"bench/run: {done.stderr.strip()}")
    samples: Samples = {}
    printed = dict(re.findall(r"\[\[(\d+)\]\]\n(.*?\[\[end \d+\]\])", done.stdout, re.S))
    for index, (runtime, case) in enumerate(turns):
        text, reason = printed.get(str(index), "nothing was printed"), ""
        try:
            result = json.loads(text.removesuffix("[[end 0]]"))
            reason = wrong_runtime(runtime, result)
        except json.JSONDecodeError:
            reason = text.strip()[-300:]
        if reason:
            session.failures.append(Failure(runtime.name, _shell(session, runtime, case), reason))
        else:
            samples.setdefault((runtime.name, case), []).append(result)
    return samples


def _shell(session: Session, runtime: Runtime, case: Case) -> str:
    variables = {"LD_LIBRARY_PATH": str(runtime.directory), "KMP_WARNINGS": "0"} | case.variables()
    return shlex.join(
        ["env", *(f"{name}={value}" for name, value in variables.items()), *case.command(session.program("dgemv"))]
    )
