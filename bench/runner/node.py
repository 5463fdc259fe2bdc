# SPDX-License-Identifier: Apache-2.0
"""Several processes on one node: what it takes together, with and without one budget of CPUs for all."""

import collections
import dataclasses
import json
import os
import pathlib
import signal
import statistics
import subprocess
import time
from collections.abc import Mapping

from .process import TIMEOUT_S, Failure, Session, summary
from .runtimes import Runtime
from .targets import Key, Verdict

WITH_NODE = "weft --node"
AT_ONCE = (1, 2, 4, 8)
REGIONS = 500
# Programs that have not ended by then are killed: the time is as long at least.
MOST_SECONDS = 20.0
WEIGHTS = (100, 300)
WEIGHED_SECONDS = 5.0
HANDOVER_LIMIT_US, ALONE_LIMIT, TOGETHER_LIMIT = 50, 1.01, 1.05
GIVEN_BACK_LIMIT_MS, KILLED_LIMIT_MS, WEIGHT_LIMIT_PERCENT = 10, 100, 5
UNITS = {f"share_{k}": "s" for k in AT_ONCE} | {
    "handover": "us",
    "handover_asleep": "us",
    "given_back": "ms",
    "given_back_long": "ms",
    "killed": "ms",
    "weights": "ratio",
    "weights_one_cpu": "ratio",
}


@dataclasses.dataclass(frozen=True)
class Variant:
    name: str
    runtime: Runtime
    variables: Mapping[str, str]


def variants(session: Session) -> list[Variant]:
    found = [Variant(runtime.name, runtime, {}) for runtime in session.runtimes]
    return found + [Variant(WITH_NODE, v.runtime, {"WEFT_NODE": "1"}) for v in found if v.name == "weft"]


def names(session: Session) -> list[str]:
    return [variant.name for variant in variants(session)]


def count(session: Session) -> int:
    return session.rounds * (len(AT_ONCE) * len(variants(session)) + 3)


def measure(session: Session) -> tuple[dict[Key, list[float]], dict[str, str]]:
    """All samples, and the unit of each measure."""
    samples: dict[Key, list[float]] = collections.defaultdict(list)
    if _others(session):
        session.failures.append(Failure(WITH_NODE, "share", "other processes share the node now (weft node status)"))
        return {}, UNITS
    for _ in range(session.rounds):
        for processes in AT_ONCE:
            for variant in variants(session):
                session.step(f"{processes} at once: {variant.name}")
                seconds = _together(session, variant, processes)
                if seconds is not None:
                    samples["default", variant.name, f"share_{processes}"].append(seconds)
        session.step("a slot changes hands")
        for name, values in _handover(session).items():
            samples["default", WITH_NODE, name] += values
        for variant in variants(session):
            if variant.name != WITH_NODE:
                continue
            session.step("CPUs of others become one's own")
            for name, values in _reclaim(session, variant).items():
                samples["default", WITH_NODE, name] += values
            session.step("weights")
            samples["default", WITH_NODE, "weights"] += _weights(session, variant, [], {})
            one = ["taskset", "--cpu-list", str(min(os.sched_getaffinity(0)))]
            samples["default", WITH_NODE, "weights_one_cpu"] += _weights(session, variant, one, {"WEFT_NUM_CPUS": "2"})
    return dict(samples), UNITS


def _others(session: Session) -> list[dict[str, object]]:
    """The processes that share the node already."""
    command = [str(session.build / "bin/weft"), "node", "status", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, check=True)
    return json.loads(done.stdout)["processes"]


def _together(session: Session, variant: Variant, processes: int) -> float | None:
    """Seconds until the last of them has ended, MOST_SECONDS at most."""
    command = [session.program("node_share"), "--regions", "20" if session.smoke else str(REGIONS)]
    environment = session.environment(variant.runtime, variant.variables)
    begin = time.perf_counter()
    running = [
        subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(processes)
    ]
    reason = ""
    cut_off = False
    for process in running:
        try:
            out, said = process.communicate(timeout=max(0.0, begin + MOST_SECONDS - time.perf_counter()))
        except subprocess.TimeoutExpired:
            cut_off = True
            process.kill()
            process.communicate()
            continue
        if process.returncode != 0 or said:
            reason = reason or f"exit status {process.returncode} {said.strip()[-300:]}"
        elif str(variant.runtime.file) not in [str(pathlib.Path(x).resolve()) for x in json.loads(out)["runtimes"]]:
            reason = reason or f"{variant.runtime.file} was meant, mapped was {json.loads(out)['runtimes']}"
    seconds = time.perf_counter() - begin
    if reason:
        session.failures.append(Failure(variant.name, f"{processes} x {' '.join(command)}", reason))
        return None
    return MOST_SECONDS if cut_off else min(seconds, MOST_SECONDS)


def _handover(session: Session) -> dict[str, list[float]]:
    command = [session.program("node_handover"), "20" if session.smoke else "1000"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, check=True)
        return {name: result["samples"] for name, result in json.loads(done.stdout).items()}
    except (subprocess.SubprocessError, json.JSONDecodeError) as error:
        session.failures.append(Failure(WITH_NODE, " ".join(command), str(error)))
        return {}


def _reclaim(session: Session, variant: Variant) -> dict[str, list[float]]:
    """Milliseconds until a share that was lent, and the CPUs of a process that was killed, are there."""
    command = [session.program("node_reclaim"), "2" if session.smoke else "20"]
    result = session.run(variant.runtime, command, variant.variables) or {}
    return {name: value["samples"] for name, value in result.items() if isinstance(value, dict)}


def _weights(session: Session, variant: Variant, prefix: list[str], more: Mapping[str, str]) -> list[float]:
    """CPU time of the heavier of two programs over that of the lighter one; both want all CPUs all the time."""
    command = [*prefix, session.program("node_share"), "--regions", "1000000000"]
    running = []
    for weight in WEIGHTS:
        variables = {**variant.variables, **more, "WEFT_WEIGHT": str(weight)}
        environment = session.environment(variant.runtime, variables)
        running.append(subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL))
    time.sleep(0.2 if session.smoke else WEIGHED_SECONDS)
    used = []
    for process in running:
        process.send_signal(signal.SIGKILL)
    for process in running:
        _, _, usage = os.wait4(process.pid, 0)
        process.returncode = -signal.SIGKILL
        used.append(usage.ru_utime + usage.ru_stime)
    return [used[1] / used[0]] if min(used) > 0 else []


def verdicts(samples: Mapping[Key, list[float]]) -> list[Verdict]:
    medians = {(name, measure): statistics.median(taken) for (_, name, measure), taken in samples.items() if taken}
    found = []
    if (WITH_NODE, "handover") in medians:
        value = medians[WITH_NODE, "handover"]
        found.append(Verdict("a slot changes hands, both awake", "handover", value, HANDOVER_LIMIT_US, "us"))
    limits = {"given_back": GIVEN_BACK_LIMIT_MS, "given_back_long": GIVEN_BACK_LIMIT_MS, "killed": KILLED_LIMIT_MS}
    whats = {
        "given_back": "a share is given back, 9 in 10",
        "given_back_long": "the same, members that do not end",
        "killed": "CPUs of a killed process are free, 9 in 10",
    }
    for name, limit in limits.items():
        taken = samples.get(("default", WITH_NODE, name))
        if taken:
            found.append(Verdict(whats[name], name, summary(taken)["p90"], limit, "ms"))
    for name in ("weights", "weights_one_cpu"):
        if (WITH_NODE, name) in medians:
            off = 100 * abs(medians[WITH_NODE, name] / (WEIGHTS[1] / WEIGHTS[0]) - 1)
            found.append(Verdict("CPU time against weights 1:3, off by", name, off, WEIGHT_LIMIT_PERCENT, "%"))
    alone = medians.get(("weft", "share_1"))
    for processes in AT_ONCE:
        together = medians.get((WITH_NODE, f"share_{processes}"))
        if not alone or not together:
            continue
        what = "alone, --node / without" if processes == 1 else f"{processes} at once / ideal"
        limit = ALONE_LIMIT if processes == 1 else TOGETHER_LIMIT
        found.append(Verdict(what, f"share_{processes}", together / (processes * alone), limit, ""))
    return found
