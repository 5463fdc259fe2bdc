# SPDX-License-Identifier: Apache-2.0
"""The targets, and whether measurements meet them."""

import dataclasses
import statistics
from collections.abc import Mapping

from . import nested

Key = tuple[str, str, str]  # policy, runtime, measure
Samples = Mapping[Key, list[float]]

FLAT = ("parallel", "parallel_for", "barrier", "for_static", "single", "reduction")
BESIDE_OTHERS = ("parallel", "barrier", "reduction", "for_dynamic")
TASKS = ("one_producer", "many_producers", "fib")
DEPENDENCES = ("depend_chain", "depend_fan", "depend_grid", "depend_grid_work")
TASKLOOPS = ("taskloop", "taskloop_small", "taskloop_work")
PIPELINES = ("doacross", "doacross_rows", "doacross_work", "ordered", "ordered_work")
SQUARES = tuple(f"{n}x{n}" for n in (2, 4, 8, 16, 32, 64))


@dataclasses.dataclass(frozen=True)
class Target:
    what: str
    policy: str  # how threads wait: OMP_WAIT_POLICY, or "default"
    measure: str
    against: str  # "best": the best peer; a name: that peer; "": weft's own value
    limit: float
    unit: str = ""


@dataclasses.dataclass(frozen=True)
class Verdict:
    what: str
    measure: str
    value: float
    limit: float
    unit: str

    @property
    def met(self) -> bool:
        return self.value <= self.limit


MICRO = (
    *(Target("flat, active waiting / best", "active", name, "best", 1.05) for name in FLAT),
    *(Target("flat, passive waiting / best", "passive", name, "best", 0.8) for name in FLAT),
    *(Target("beside other processes / best", "default", f"{name}_busy", "best", 1.05) for name in BESIDE_OTHERS),
    Target("hand-out of an iteration", "active", "for_dynamic", "", 8, "ns"),
    Target("hand-out of an iteration / libgomp", "active", "for_dynamic", "libgomp", 1.0),
    *(Target("explicit tasks / best", "active", name, "best", 1.0) for name in TASKS),
    *(Target("tasks with dependences / best", "active", name, "best", 1.0) for name in DEPENDENCES),
    *(Target("taskloop, a task / best", "active", name, "best", 1.0) for name in TASKLOOPS),
    *(Target("ordered iterations / best", "active", name, "best", 1.0) for name in PIPELINES),
    Target("one inner region", "default", "inner_8x8", "", 500, "ns"),
    Target("one inner region / libiomp5", "default", "inner_8x8", "libiomp5", 1 / 50),
    *(Target("whole outer region / libiomp5", "default", f"outer_{n}", "libiomp5", 1 / 20) for n in SQUARES),
    Target("inner region of one member", "default", "of_one", "", 60, "ns"),
    Target("inner region, if clause false", "default", "serial", "", 60, "ns"),
    Target("barrier, 8 members a CPU / best", "default", "barrier_8x", "best", 1 / 40),
    Target("a member polls for others, one CPU / libgomp", "default", "poller_for_one", "libgomp", 1.2),
    Target("32 application threads / ideal", "default", "roots_32", "", 1.02),
    Target("CPU used 20 ms after a region", "default", "after_region", "", 0.5, "%"),
    Target("CPU used 20 ms after nested regions", "default", "after_nested", "", 0.5, "%"),
    Target("added to start-up, region of one", "default", "startup", "", 2, "ms"),
    Target("added to start-up, region of all", "default", "startup_team", "", 2, "ms"),
    Target("resident memory added", "default", "resident", "", 3072, "KB"),
)

NO_TAIL, TAIL, TOO_MANY = 1.02, 0.97, 1.03


def micro_verdicts(samples: Samples, runtimes: list[str]) -> list[Verdict]:
    verdicts = []
    for target in MICRO:
        value = ratio(samples, runtimes, target.policy, target.measure, target.against)
        if value is not None:
            measure = target.measure if target.policy == "default" else f"{target.measure}, {target.policy}"
            verdicts.append(Verdict(target.what, measure, value, target.limit, target.unit))
    return verdicts


def ratio(samples: Samples, runtimes: list[str], policy: str, measure: str, against: str) -> float | None:
    """Weft's median, over that of the best peer or of the one named; None where one of them was not measured."""
    medians = {
        name: statistics.median(samples[policy, name, measure])
        for name in runtimes
        if samples.get((policy, name, measure))
    }
    own = medians.pop("weft", None)
    if own is None or not against:
        return own
    peers = [value for name, value in medians.items() if against in ("best", name)]
    return own / min(peers) if peers and min(peers) > 0 else None


def nested_verdicts(results: list[nested.Result]) -> list[Verdict]:
    verdicts = []
    for result in results:
        tuned, own = result.best_tuned(), result.best_of("weft")
        untuned, many = result.median("weft", nested.UNTUNED), result.median("weft", nested.TOO_MANY)
        name = result.problem.label
        if tuned and untuned:
            limit = TAIL if result.problem.tail else NO_TAIL
            verdicts.append(Verdict("nested BLAS, untuned / best hand-tuned", name, untuned / tuned.time, limit, ""))
        if own and many:
            verdicts.append(Verdict("nested BLAS, asked for 16 x 16 / own best", name, many / own.time, TOO_MANY, ""))
    return verdicts
