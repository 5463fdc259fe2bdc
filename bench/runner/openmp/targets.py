# SPDX-License-Identifier: Apache-2.0
"""The targets of single constructs."""

import dataclasses

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
