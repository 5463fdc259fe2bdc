# SPDX-License-Identifier: Apache-2.0
"""Several processes on one node: what it takes together, with and without one budget of CPUs for all."""

import collections
import dataclasses
import json
import pathlib
import statistics
import subprocess
import time
from collections.abc import Mapping

from .process import TIMEOUT_S, Failure, Session
from .runtimes import Runtime
from .targets import Key, Verdict

WITH_NODE = "weft --node"
AT_ONCE = (1, 2, 4, 8)
HANDOVER_LIMIT_US, ALONE_LIMIT, TOGETHER_LIMIT = 50, 1.01, 1.05


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
    return session.rounds * (len(AT_ONCE) * len(variants(session)) + 1)


def measure(session: Session) -> tuple[dict[Key, list[float]], dict[str, str]]:
    """All samples, and the unit of each measure."""
    samples: dict[Key, list[float]] = collections.defaultdict(list)
    units = {f"share_{k}": "s" for k in AT_ONCE} | {"handover": "us", "handover_asleep": "us"}
    if _others(session):
        session.failures.append(Failure(WITH_NODE, "share", "other processes share the node now (weft node status)"))
        return {}, units
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
    return dict(samples), units


def _others(session: Session) -> list[dict[str, object]]:
    """The processes that share the node already."""
    command = [str(session.build / "bin/weft"), "node", "status", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, check=True)
    return json.loads(done.stdout)["processes"]


def _together(session: Session, variant: Variant, processes: int) -> float | None:
    """Seconds until the last of them has ended."""
    command = [session.program("node_share"), "--regions", "20" if session.smoke else "2000"]
    environment = session.environment(variant.runtime, variant.variables)
    begin = time.perf_counter()
    running = [
        subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(processes)
    ]
    reason = ""
    for process in running:
        try:
            out, said = process.communicate(timeout=TIMEOUT_S)
        except subprocess.TimeoutExpired:
            process.kill()
            out, said = process.communicate()
            reason = f"no end after {TIMEOUT_S} s"
        if process.returncode != 0 or said:
            reason = reason or f"exit status {process.returncode} {said.strip()[-300:]}"
        elif str(variant.runtime.file) not in [str(pathlib.Path(x).resolve()) for x in json.loads(out)["runtimes"]]:
            reason = reason or f"{variant.runtime.file} was meant, mapped was {json.loads(out)['runtimes']}"
    seconds = time.perf_counter() - begin
    if reason:
        session.failures.append(Failure(variant.name, f"{processes} x {' '.join(command)}", reason))
        return None
    return seconds


def _handover(session: Session) -> dict[str, list[float]]:
    command = [session.program("node_handover"), "20" if session.smoke else "1000"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, check=True)
        return {name: result["samples"] for name, result in json.loads(done.stdout).items()}
    except (subprocess.SubprocessError, json.JSONDecodeError) as error:
        session.failures.append(Failure(WITH_NODE, " ".join(command), str(error)))
        return {}


def verdicts(samples: Mapping[Key, list[float]]) -> list[Verdict]:
    medians = {(name, measure): statistics.median(taken) for (_, name, measure), taken in samples.items() if taken}
    found = []
    if (WITH_NODE, "handover") in medians:
        value = medians[WITH_NODE, "handover"]
        found.append(Verdict("a slot changes hands, both awake", "handover", value, HANDOVER_LIMIT_US, "us"))
    alone = medians.get(("weft", "share_1"))
    for processes in AT_ONCE:
        together = medians.get((WITH_NODE, f"share_{processes}"))
        if not alone or not together:
            continue
        what = "alone, --node / without" if processes == 1 else f"{processes} at once / ideal"
        limit = ALONE_LIMIT if processes == 1 else TOGETHER_LIMIT
        found.append(Verdict(what, f"share_{processes}", together / (processes * alone), limit, ""))
    return found
