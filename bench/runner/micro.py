# SPDX-License-Identifier: Apache-2.0
"""Single constructs, flat and nested; tasks; many application threads; what the runtime costs at rest."""

import collections
import contextlib
import dataclasses
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator

from .machine import cpus
from .process import TIMEOUT_S, Failure, Session
from .runtimes import Runtime
from .targets import BESIDE_OTHERS, Key

CONSTRUCTS = (
    *("parallel", "parallel_for", "barrier", "for_static", "single", "reduction"),
    *("for_dynamic", "critical", "lock"),
)
DATAFLOW = (
    *("depend_chain", "depend_fan", "depend_grid", "depend_grid_work"),
    *("taskloop", "taskloop_small", "taskloop_work"),
    *("doacross", "doacross_rows", "doacross_work", "ordered", "ordered_work"),
)
FACTORS = (2, 4, 8, 16, 32)


@dataclasses.dataclass(frozen=True)
class Case:
    policy: str  # OMP_WAIT_POLICY, or "default": nothing is said
    measure: str
    program: str
    name: str  # what the program calls it
    team: int = 0  # OMP_NUM_THREADS; 0: nothing is said
    others: int = 0  # processes that compute meanwhile

    def variables(self) -> dict[str, str]:
        variables = {} if self.policy == "default" else {"OMP_WAIT_POLICY": self.policy}
        return variables | ({"OMP_NUM_THREADS": str(self.team)} if self.team else {})


def cases(smoke: bool) -> list[Case]:
    squares = (2, 8) if smoke else (2, 4, 8, 16, 32, 64)
    factors = (2,) if smoke else FACTORS
    roots = (1, 4) if smoke else (1, 2, 4, 8, 16, 32, 64)
    nested = [f"{kind}_{n}x{n}" for kind in ("outer", "inner") for n in squares] + ["of_one", "serial"]
    found = [Case(policy, name, "constructs", name) for policy in ("active", "passive") for name in CONSTRUCTS]
    found += [Case("active", name, "tasks", name) for name in ("one_producer", "many_producers", "fib", "nqueens")]
    found += [Case("active", name, "dataflow", name) for name in DATAFLOW]
    found += [Case("default", name, "nested", name) for name in nested]
    for name in ("barrier", "work_and_barrier"):
        found += [Case("default", f"{name}_{k}x", "oversubscribed", name, k * cpus()) for k in factors]
    found += [Case("default", f"{name}_busy", "constructs", name, others=cpus() + 1) for name in BESIDE_OTHERS]
    found += [Case("default", f"roots_{n}", "roots", f"roots_{n}") for n in roots]
    found += [Case("default", "no_regions_32", "roots", "no_regions_32")]
    found += [Case("default", name, "polling", name) for name in ("poller_for_one", "poller_for_three")]
    found += [Case("default", name, "idle", name) for name in ("after_region", "after_nested")]
    return found


def count(session: Session) -> int:
    return session.rounds * len(session.runtimes) * (len(cases(session.smoke)) + 1)


def measure(session: Session) -> tuple[dict[Key, list[float]], dict[str, str]]:
    """All samples, and the unit of each measure."""
    samples: dict[Key, list[float]] = collections.defaultdict(list)
    units = {"startup": "ms", "startup_team": "ms", "resident": "KB"}
    for _ in range(session.rounds):
        for case in cases(session.smoke):
            for runtime in session.runtimes:
                session.step(f"{case.measure}, {case.policy} waiting: {runtime.name}")
                with computing(case.others):
                    result = session.run(runtime, _command(session, case), case.variables())
                if result:
                    samples[case.policy, runtime.name, case.measure] += result[case.name]["samples"]
                    units[case.measure] = result[case.name]["unit"]
        for runtime in session.runtimes:
            session.step(f"start-up: {runtime.name}")
            for name, values in _startup(session, runtime).items():
                samples["default", runtime.name, name] += values
    return dict(samples), units


@contextlib.contextmanager
def computing(processes: int) -> Iterator[None]:
    """So many processes compute meanwhile; if this one is killed, they end by themselves."""
    endless = f"import time\nend = time.monotonic() + {TIMEOUT_S}\nwhile time.monotonic() < end: pass"
    others = [subprocess.Popen([sys.executable, "-S", "-c", endless]) for _ in range(processes)]
    try:
        yield
    finally:
        for other in others:
            other.kill()
        for other in others:
            other.wait()


def _command(session: Session, case: Case) -> list[object]:
    repeat = session.repeat or (2 if session.smoke else 5 if case.program in ("roots", "idle", "polling") else 15)
    fill = ["--milliseconds", 1] if session.smoke else []
    return [session.program(f"micro_{case.program}"), "--repeat", repeat, *fill, case.name]


def _startup(session: Session, runtime: Runtime) -> dict[str, list[float]]:
    """Milliseconds and kilobytes that OpenMP adds to a process: in alternation with one that has none."""
    plain, openmp = session.program("startup_plain"), session.program("startup_openmp")
    environment = session.environment(runtime, {})
    # The report says that the intended runtime is mapped; the processes that are timed do not write one.
    result = session.run(runtime, [openmp, "resident"])
    if not result:
        return {}
    own = subprocess.run([plain, "resident"], env=environment, check=True, capture_output=True, text=True)
    own_kb = json.loads(own.stdout)["resident"]["samples"][0]
    added: dict[str, list[float]] = {"startup": [], "startup_team": []}
    pairs = 2 if session.smoke else 20
    try:
        for name, arguments in (("startup", []), ("startup_team", ["team"])):
            for _ in range(pairs):
                without, with_ = (_seconds([program, *arguments], environment) for program in (plain, openmp))
                added[name].append(1e3 * (with_ - without))
    except ChildProcessError as error:
        session.failures.append(Failure(runtime.name, openmp, str(error)))
        return {}
    return added | {"resident": [result["resident"]["samples"][0] - own_kb]}


def _seconds(command: list[str], environment: dict[str, str]) -> float:
    begin = time.perf_counter()
    child = os.posix_spawn(command[0], command, environment)
    _, status = os.waitpid(child, 0)
    seconds = time.perf_counter() - begin
    if status != 0:
        raise ChildProcessError(f"wait status {status}: {' '.join(command)}")
    return seconds
