# SPDX-License-Identifier: Apache-2.0
"""Single constructs, flat and nested, against the targets."""
import collections
import dataclasses
import os
import pathlib
import resource
import subprocess
import time
from typing import Any

from . import process
from .runtimes import Runtime

FLAT = ("parallel", "parallel_for", "reduction", "barrier", "single", "for_static")
TASKS = ("task_one_producer", "task_many_producers", "task_fib")
NESTED = ("nested_inner_region", "nested_2x2", "nested_8x8", "nested_64x64")
INNER_SERIAL = ("nested_of_one", "nested_serial")
REST = ("critical", "for_dynamic", "oversubscribed_barrier", "roots")
POLICIES = ("active", "passive", "default")


@dataclasses.dataclass(frozen=True)
class Target:
    what: str
    policy: str
    measure: str
    against: str  # "best": the better peer; a name: that peer; "": the value itself
    limit: float


TARGETS = (
    *(Target("flat, active waiting", "active", name, "best", 1.05) for name in FLAT),
    *(Target("flat, passive waiting", "passive", name, "best", 0.8) for name in FLAT),
    Target("hand-out of an iteration, ns", "active", "for_dynamic", "", 8),
    Target("hand-out of an iteration", "active", "for_dynamic", "libgomp", 1.0),
    *(Target("explicit tasks", "active", name, "best", 1.0) for name in TASKS),
    Target("one inner region of 8x8, ns", "default", "nested_inner_region", "", 500),
    Target("one inner region of 8x8", "default", "nested_inner_region", "libiomp5", 0.02),
    *(Target("whole outer region", "default", name, "libiomp5", 0.05) for name in NESTED[1:]),
    *(Target("inner region that runs serial, ns", "default", name, "", 60) for name in INNER_SERIAL),
    Target("barrier, 8 members a CPU", "default", "oversubscribed_barrier", "best", 0.025),
    Target("32 application threads / ideal", "default", "roots", "", 1.02),
    Target("CPU used 20 ms after the last region, %", "default", "idle", "", 0.5),
    Target("resident memory added, KB", "default", "resident", "", 3072),
    Target("added to start-up, ms", "default", "startup", "", 2),
)

Samples = dict[tuple[str, str, str], list[float]]  # policy, runtime, measure


def variables(policy: str) -> dict[str, str]:
    return {} if policy == "default" else {"OMP_WAIT_POLICY": policy}


def names(policy: str) -> tuple[str, ...]:
    if policy == "active":
        return FLAT + TASKS + ("critical", "for_dynamic")
    return FLAT if policy == "passive" else NESTED + INNER_SERIAL + ("oversubscribed_barrier", "roots", "idle")


def measure(build: pathlib.Path, runtimes: list[Runtime], rounds: int, step: Any) -> Samples:
    samples: Samples = collections.defaultdict(list)
    for _ in range(rounds):
        for policy in POLICIES:
            for name in names(policy):
                for runtime in runtimes:
                    step(f"{name}, {policy} waiting: {runtime.name}")
                    result = process.run(runtime, [build / "bench/micro", name], variables(policy))
                    samples[policy, runtime.name, name] += result[name]["samples"]
        for runtime in runtimes:
            step(f"start-up: {runtime.name}")
            samples["default", runtime.name, "startup"] += startup(build, runtime)
            samples["default", runtime.name, "resident"].append(resident(build, runtime))
    return dict(samples)


def startup(build: pathlib.Path, runtime: Runtime, pairs: int = 20) -> list[float]:
    """Milliseconds that OpenMP adds to a process, in alternation with one that has none."""
    environment = process.environment(runtime, {})
    added = []
    for _ in range(pairs):
        spent = []
        for program in ("start_plain", "start_openmp"):
            begin = time.perf_counter()
            subprocess.run([str(build / "bench" / program)], env=environment, check=True, stdout=subprocess.DEVNULL)
            spent.append(time.perf_counter() - begin)
        added.append(1e3 * (spent[1] - spent[0]))
    return added


def resident(build: pathlib.Path, runtime: Runtime) -> float:
    """Kilobytes that OpenMP adds to a process that has run a region."""
    environment = process.environment(runtime, {})
    own = subprocess.run([str(build / "bench/start_plain")], env=environment, check=True, capture_output=True, text=True)
    result = process.run(runtime, [build / "bench/micro", "resident"])
    return result["resident"]["samples"][0] - float(own.stdout.split()[1])


def verdicts(samples: Samples, runtimes: list[str]) -> list[dict[str, Any]]:
    rows = []
    for target in TARGETS:
        medians = {name: process.summary(samples[target.policy, name, target.measure])["median"] for name in runtimes
                   if (target.policy, name, target.measure) in samples}
        if "weft" not in medians:
            continue
        peers = [v for name, v in medians.items() if name != "weft" and target.against in ("best", name)]
        if target.against and not peers:
            continue
        value = medians["weft"] / min(peers) if target.against else medians["weft"]
        rows.append({"what": target.what, "measure": target.measure, "policy": target.policy, "medians": medians,
                     "against": target.against, "value": value, "limit": target.limit, "met": value <= target.limit})
    return rows


def cpus() -> int:
    return len(os.sched_getaffinity(0))


def raise_limits() -> None:
    """64 x 64 threads under the peers."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NPROC)
    if soft != hard:
        resource.setrlimit(resource.RLIMIT_NPROC, (hard, hard))
