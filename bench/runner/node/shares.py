# SPDX-License-Identifier: Apache-2.0
"""Several processes on one node: what it takes together, with and without one budget of CPUs for all."""

import argparse
import dataclasses
import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping
from functools import partial

from rich.console import Console

from ..frame import process, report, runtimes
from ..frame.process import TIMEOUT_S, Failure
from ..frame.runtimes import Runtime
from ..frame.samples import DEFAULT
from ..frame.spread import summary
from ..frame.study import Turn
from ..frame.verdict import Verdict
from ..openmp.study import OpenMpStudy

WITH_NODE = "weft --node"
AT_ONCE = (1, 2, 4, 8)
REGIONS = 500
# Programs that have not ended by then are killed: the time is as long at least.
MOST_SECONDS = 20.0
WEIGHTS = (100, 300)
WEIGHED_SECONDS = 5.0
HANDOVER_LIMIT_US, ALONE_LIMIT, TOGETHER_LIMIT = 50, 1.01, 1.05
GIVEN_BACK_LIMIT_MS, KILLED_LIMIT_MS, WEIGHT_LIMIT_PERCENT = 10, 100, 5


@dataclasses.dataclass(frozen=True)
class Variant:
    name: str
    runtime: Runtime
    variables: Mapping[str, str]


# Times that are to be within a limit, nine in ten.
GIVEN_BACK = {
    "given_back": ("a share is given back, 9 in 10", GIVEN_BACK_LIMIT_MS),
    "given_back_long": ("the same, members that do not end", GIVEN_BACK_LIMIT_MS),
    "killed": ("CPUs of a killed process are free, 9 in 10", KILLED_LIMIT_MS),
}


class Node(OpenMpStudy):
    name = "node"

    def complete(self, parser: argparse.ArgumentParser) -> None:
        super().complete(parser)
        plain = [Variant(runtime.name, runtime, {}) for runtime in self.runtimes]
        self.shared = [Variant(WITH_NODE, v.runtime, {"WEFT_NODE": "1"}) for v in plain if v.name == "weft"]
        self.variants = plain + self.shared

    def plan(self) -> list[Turn]:
        if self._others():
            reason = "other processes share the node now (weft node status)"
            self.failures.append(Failure(WITH_NODE, "share", reason))
            return []
        return super().plan()

    def turns(self) -> Iterator[Turn]:
        for processes in AT_ONCE:
            for variant in self.variants:
                yield f"{processes} at once: {variant.name}", partial(self._together, variant, processes)
        yield "a slot changes hands", self._hand_over
        for variant in self.shared:
            yield "CPUs of others become one's own", partial(self._reclaim, variant)
            yield "weights", partial(self._weigh, variant)

    def _others(self) -> list[dict[str, object]]:
        """The processes that share the node already."""
        command = [str(self.arguments.build / "bin/weft"), "node", "status", "--json"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, check=True)
        return json.loads(done.stdout)["processes"]

    def _start(self, variant: Variant, command: list[str], more: Mapping[str, str]) -> subprocess.Popen[str]:
        environment = process.environment() | variant.runtime.variables() | dict(variant.variables) | dict(more)
        return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def _together(self, variant: Variant, processes: int) -> None:
        """Seconds until the last of them has ended, MOST_SECONDS at most."""
        command = [self.program("node_share"), "--regions", "20" if self.smoke else str(REGIONS)]
        begin = time.perf_counter()
        running = [self._start(variant, command, {}) for _ in range(processes)]
        reasons, cut_off = [], False
        for one in running:
            try:
                out, said = one.communicate(timeout=max(0.0, begin + MOST_SECONDS - time.perf_counter()))
            except subprocess.TimeoutExpired:
                cut_off = True
                one.kill()
                one.communicate()
                continue
            if one.returncode != 0 or said:
                reasons.append(process.exit_status(one.returncode, said))
            else:
                reasons.append(runtimes.wrong_runtime(variant.runtime, json.loads(out)))
        seconds = time.perf_counter() - begin
        if reason := next(filter(None, reasons), ""):
            self.failures.append(Failure(variant.name, f"{processes} x {' '.join(command)}", reason))
            return
        taken = MOST_SECONDS if cut_off else min(seconds, MOST_SECONDS)
        self.samples.add(DEFAULT, variant.name, f"share_{processes}", [taken], "s")

    def _hand_over(self) -> None:
        command = [self.program("node_handover"), "20" if self.smoke else "1000"]
        for name, result in self.json_of(WITH_NODE, command).items():
            self.samples.add(DEFAULT, WITH_NODE, name, result["samples"], "us")

    def _reclaim(self, variant: Variant) -> None:
        """Milliseconds until a share that was lent, and the CPUs of a process that was killed, are there."""
        result = self.json_under(
            variant.runtime, [self.program("node_reclaim"), "2" if self.smoke else "20"], variant.variables
        )
        for name in GIVEN_BACK if result else ():
            self.samples.add(DEFAULT, WITH_NODE, name, result[name]["samples"], "ms")

    def _weigh(self, variant: Variant) -> None:
        one_cpu = ["taskset", "--cpu-list", str(min(os.sched_getaffinity(0)))]
        for name, prefix, more in (("weights", [], {}), ("weights_one_cpu", one_cpu, {"WEFT_NUM_CPUS": "2"})):
            self.samples.add(DEFAULT, WITH_NODE, name, self._weights(variant, prefix, more), "ratio")

    def _weights(self, variant: Variant, prefix: list[str], more: Mapping[str, str]) -> list[float]:
        """CPU time of the heavier of two programs over that of the lighter one; both want all CPUs all the time."""
        command = [*prefix, self.program("node_share"), "--regions", "1000000000"]
        running = [self._start(variant, command, {**more, "WEFT_WEIGHT": str(weight)}) for weight in WEIGHTS]
        time.sleep(0.2 if self.smoke else WEIGHED_SECONDS)
        used = []
        for one in running:
            one.send_signal(signal.SIGKILL)
        for one in running:
            _, _, usage = os.wait4(one.pid, 0)
            one.returncode = -signal.SIGKILL
            one.communicate()
            used.append(usage.ru_utime + usage.ru_stime)
        return [used[1] / used[0]] if min(used) > 0 else []

    def show(self, console: Console) -> None:
        names = [variant.name for variant in self.variants]
        console.print(report.medians(self.samples, names, most_seconds=MOST_SECONDS))

    def judge(self) -> list[Verdict]:
        def median(name: str, measure: str) -> float | None:
            return self.samples.median(DEFAULT, name, measure)

        found = []
        if handover := median(WITH_NODE, "handover"):
            found.append(Verdict("a slot changes hands, both awake", "handover", handover, HANDOVER_LIMIT_US, "us"))
        for name, (what, limit) in GIVEN_BACK.items():
            if taken := self.samples.get((DEFAULT, WITH_NODE, name)):
                found.append(Verdict(what, name, summary(taken)["p90"], limit, "ms"))
        for name in ("weights", "weights_one_cpu"):
            if ratio := median(WITH_NODE, name):
                off = 100 * abs(ratio / (WEIGHTS[1] / WEIGHTS[0]) - 1)
                found.append(Verdict("CPU time against weights 1:3, off by", name, off, WEIGHT_LIMIT_PERCENT, "%"))
        alone = median("weft", "share_1")
        for processes in AT_ONCE:
            together = median(WITH_NODE, f"share_{processes}")
            if alone and together:
                what = "alone, --node / without" if processes == 1 else f"{processes} at once / ideal"
                limit = ALONE_LIMIT if processes == 1 else TOGETHER_LIMIT
                found.append(Verdict(what, f"share_{processes}", together / (processes * alone), limit))
        return found
