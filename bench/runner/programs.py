# SPDX-License-Identifier: Apache-2.0
"""Real programs (tests/programs/cases.py), each under its own runtime, weft and, where it can be, libiomp5."""

import dataclasses
import importlib
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import types
from collections.abc import Callable
from typing import Protocol

from rich.console import Console
from rich.table import Table

from .machine import cpus
from .process import OWN_VARIABLES, Failure, Session, summary
from .runtimes import Runtime

OWN, WEFT, PEER = "own", "weft", "libiomp5"
# A measurement is as many runs, one after the other, as last this long under the program's own runtime.
LEAST_S = 1.0
MOST_RUNS = 20
TIMEOUT_S = 600


class Case(Protocol):
    """What is used here of those in tests/programs/cases.py, which is no module of the benchmarks."""

    name: str
    prepare: Callable[[pathlib.Path, object], list[object]]
    environment: dict[str, str]
    replaceable: bool
    regions: bool
    threads: int | None


class Wrong(Exception):
    """The run is no result; says why."""


@dataclasses.dataclass
class Times:
    """Seconds of one program, by runtime; a round's samples have the same index."""

    program: str
    runs: int  # in one measurement
    seconds: dict[str, list[float]]

    def ratio(self, runtime: str) -> list[float]:
        return [ours / own for ours, own in zip(self.seconds[runtime], self.seconds[OWN], strict=True)]


def cases(root: pathlib.Path) -> types.ModuleType:
    sys.path.insert(0, str(root / "tests/programs"))
    return importlib.import_module("cases")


def size(module: types.ModuleType, smoke: bool) -> object:
    """So much that most of the programs run for a second or more; the others are run again and again."""
    if smoke:
        return module.Size(threads=cpus())
    return module.Size(
        threads=cpus(),
        picture="1400x1000",
        edge=400,
        steps=1500,
        grid=4,
        rows="3e6",
        samples=60000,
        rounds=4,
        mesh=150,
        sequences=150,
    )


def measure(session: Session, root: pathlib.Path, only: list[str]) -> list[Times]:
    module = cases(root)
    found = []
    chosen = [case for case in module.CASES if not only or any(name in case.name for name in only)]
    if not chosen:
        raise SystemExit("bench/run: --only: the programs are " + ", ".join(case.name for case in module.CASES))
    for case in chosen:
        with tempfile.TemporaryDirectory(prefix="weft-bench-") as work:
            try:
                found.append(_program(session, module, case, pathlib.Path(work)))
            except (module.Missing, RuntimeError, Wrong) as wrong:
                session.failures.append(Failure("", case.name, str(wrong)))
    return found


def _program(session: Session, module: types.ModuleType, case: Case, work: pathlib.Path) -> Times:
    session.step(f"{case.name}: preparing")
    (work / OWN).mkdir()
    command = [str(word) for word in case.prepare(work / OWN, size(module, session.smoke))]
    wanted = {runtime.name: runtime for runtime in session.runtimes}
    names = [OWN, WEFT] + ([PEER] if PEER in wanted and case.replaceable else [])
    for name in names[1:]:
        shutil.copytree(work / OWN, work / name, symlinks=True)
    # Not measured: files get into memory, and it shows that the runtime that is meant is there.
    first: dict[str, float] = {}
    for name in list(names):
        session.step(f"{case.name}: {name}, first run")
        try:
            first[name] = _run(session, case, command, work / name, name, wanted.get(name), proof=True)
        except Wrong:
            if name != PEER:
                raise
            names.remove(PEER)  # it only stands beside the two
    runs = 1 if session.smoke else min(MOST_RUNS, max(1, round(LEAST_S / first[OWN] + 0.5)))
    times = Times(case.name, runs, {name: [] for name in names})
    for _ in range(session.rounds):
        for name in names:
            session.step(f"{case.name}: {name}")
            taken = [_run(session, case, command, work / name, name, wanted.get(name)) for _ in range(runs)]
            times.seconds[name].append(sum(taken))
    return times


def _run(
    session: Session,
    case: Case,
    command: list[str],
    folder: pathlib.Path,
    name: str,
    runtime: Runtime | None,
    proof: bool = False,
) -> float:
    variables = {key: value for key, value in os.environ.items() if not key.startswith(OWN_VARIABLES)}
    variables |= {"OMP_NUM_THREADS": str(case.threads or cpus())} | case.environment
    words = command
    if name == WEFT:
        words = [str(session.build / "bin/weft"), "run", *command]
        variables |= {"WEFT_STATS": "1"} if proof else {}
    elif name == PEER and runtime is not None:
        variables |= {"LD_LIBRARY_PATH": str(runtime.directory), "KMP_WARNINGS": "0"}
        variables |= {"KMP_VERSION": "1"} if proof else {}
    begin = time.monotonic()
    try:
        done = subprocess.run(
            words,
            cwd=folder,
            env=variables,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except subprocess.TimeoutExpired:
        raise Wrong(f"no end after {TIMEOUT_S} s under {name}") from None
    seconds = time.monotonic() - begin
    if done.returncode != 0:
        raise Wrong(f"exit status {done.returncode} under {name}: {done.stderr.strip()[-300:]}")
    if not case.result(folder, done.stdout):
        raise Wrong(f"no result under {name}")
    shown = {WEFT: r"regions by level: [1-9]", PEER: r"OMP version"}.get(name)
    if proof and case.regions and shown and not re.search(shown, done.stderr):
        raise Wrong(f"{name} was meant and did not show: {done.stderr.strip()[-300:]}")
    return seconds


def table(console: Console, found: list[Times]) -> None:
    out = Table(title="Programs: seconds, median; ratio to the program's own runtime, round by round")
    for column in ("program", "runs", "own", "weft", PEER, "weft / own", f"{PEER} / own"):
        out.add_column(column, justify="left" if column == "program" else "right")
    for times in found:
        medians = [_median(times, name) for name in (OWN, WEFT, PEER)]
        out.add_row(times.program, str(times.runs), *medians, _spread(times, WEFT), _spread(times, PEER))
    console.print(out)


def _median(times: Times, name: str) -> str:
    return f"{statistics.median(times.seconds[name]):.2f}" if name in times.seconds else ""


def _spread(times: Times, name: str) -> str:
    if name not in times.seconds:
        return ""
    ratios = times.ratio(name)
    return f"{statistics.median(ratios):.3f} ({min(ratios):.3f} .. {max(ratios):.3f})"


def as_json(found: list[Times]) -> list[dict[str, object]]:
    return [
        {
            "program": times.program,
            "runs": times.runs,
            "seconds": times.seconds,
            "ratio": {name: summary(times.ratio(name)) for name in times.seconds if name != OWN},
        }
        for times in found
    ]
