# SPDX-License-Identifier: Apache-2.0
"""Single constructs, flat and nested; tasks; many application threads; what the runtime costs at rest."""

import dataclasses
import os
import pathlib
import time
from collections.abc import Iterator
from functools import partial

from ..frame import process
from ..frame.machine import cpus
from ..frame.process import Failure
from ..frame.runtimes import Runtime
from ..frame.samples import DEFAULT
from ..frame.study import Turn
from ..frame.verdict import Verdict
from .study import OpenMpStudy
from .targets import BESIDE_OTHERS, MICRO

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
FLAT = ("parallel", "barrier", "for_", "single", "reduction", "critical", "lock")
# Measures that one picture shows together: title, waiting, what the names begin with.
PICTURES = (
    ("flat constructs, active waiting", "active", FLAT),
    ("flat constructs, passive waiting", "passive", ("",)),
    ("tasks", "active", ("one_", "many_", "fib", "nqueens")),
    ("nested regions", DEFAULT, ("outer_", "inner_", "of_one", "serial")),
    ("members beyond the CPUs", DEFAULT, ("barrier_", "work_and_barrier_")),
    ("application threads", DEFAULT, ("roots_",)),
)


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


class Micro(OpenMpStudy):
    name = "micro"

    def turns(self) -> Iterator[Turn]:
        for case in cases(self.smoke):
            for runtime in self.runtimes:
                yield f"{case.measure}, {case.policy} waiting: {runtime.name}", partial(self._measure, case, runtime)
        for runtime in self.runtimes:
            yield f"start-up: {runtime.name}", partial(self._start_up, runtime)

    def _measure(self, case: Case, runtime: Runtime) -> None:
        repeat = self.repeat(5 if case.program in ("roots", "idle", "polling") else 15, 2)
        fill = ["--milliseconds", 1] if self.smoke else []
        command = [self.program(f"micro_{case.program}"), "--repeat", repeat, *fill, case.name]
        with process.computing(case.others):
            result = self.json_under(runtime, command, case.variables())
        if result:
            found = result[case.name]
            self.samples.add(case.policy, runtime.name, case.measure, found["samples"], found["unit"])

    def _start_up(self, runtime: Runtime) -> None:
        """Milliseconds and kilobytes that OpenMP adds to a process: in alternation with one that has none."""
        plain, openmp = self.program("startup_plain"), self.program("startup_openmp")
        # The report says that the intended runtime is mapped; the processes that are timed do not write one.
        with_openmp = self.json_under(runtime, [openmp, "resident"])
        without = self.json_of(runtime.name, [plain, "resident"], hidden=runtime.variables(self.blas))
        if not with_openmp or not without:
            return
        environment = process.environment() | runtime.variables(self.blas)
        pairs = 2 if self.smoke else 20
        added: dict[str, list[float]] = {"startup": [], "startup_team": []}
        try:
            for name, arguments in (("startup", []), ("startup_team", ["team"])):
                for _ in range(pairs):
                    before, after = (_seconds([program, *arguments], environment) for program in (plain, openmp))
                    added[name].append(1e3 * (after - before))
        except ChildProcessError as error:
            self.failures.append(Failure(runtime.name, openmp, str(error)))
            return
        for name, values in added.items():
            self.samples.add(DEFAULT, runtime.name, name, values, "ms")
        kilobytes = [result["resident"]["samples"][0] for result in (with_openmp, without)]
        self.samples.add(DEFAULT, runtime.name, "resident", [kilobytes[0] - kilobytes[1]], "KB")

    def judge(self) -> list[Verdict]:
        verdicts = []
        for target in MICRO:
            value = self.samples.ratio(self.names, target.policy, target.measure, target.against)
            if value is not None:
                measure = target.measure if target.policy == DEFAULT else f"{target.measure}, {target.policy}"
                verdicts.append(Verdict(target.what, measure, value, target.limit, target.unit))
        return verdicts

    def draw(self, folder: pathlib.Path) -> None:
        from ..frame import plots  # slow to load

        for title, policy, prefixes in PICTURES:
            measures = [name for where, name in self.samples.rows() if where == policy and name.startswith(prefixes)]
            found = {
                series: {name: taken for name in measures if (taken := self.samples.get((policy, series, name)))}
                for series in self.names
            }
            if not measures:
                continue
            unit = self.samples.units[measures[0]]
            label = {"x": "time / ideal"}.get(unit, unit)
            stem = folder / f"micro_{title.replace(', ', '_').replace(' ', '_')}"
            plots.bars(stem, f"{title}, less is better", "", label, found, measures, logarithmic=unit == "ns")


def _seconds(command: list[str], environment: dict[str, str]) -> float:
    begin = time.perf_counter()
    child = os.posix_spawn(command[0], command, environment)
    _, status = os.waitpid(child, 0)
    seconds = time.perf_counter() - begin
    if status != 0:
        raise ChildProcessError(f"wait status {status}: {' '.join(command)}")
    return seconds
