# SPDX-License-Identifier: Apache-2.0
"""What `weft numa` costs a program with much memory, and how long its report takes."""

import argparse
import statistics
import tempfile
import time
from collections.abc import Iterator
from functools import partial
from typing import Any

from rich.console import Console

from ..frame import process, report
from ..frame.options import Option, positive
from ..frame.process import Failure
from ..frame.spread import with_extremes
from ..frame.study import Study, Turn
from ..frame.verdict import Verdict

PLAIN = "plain"
# By the options of weft numa.
WAYS = {"--touch off": ["--touch", "off"], "by page faults": [], "--protect": ["--protect"]}
PHASES = ("initialisation", "passes", "program")
SLOWDOWN_LIMIT, REPORT_LIMIT_S = 1.05, 2.0
SMOKE_MEGABYTES, SMOKE_PASSES = 64, 2
TIMEOUT_S = 600


class NumaCost(Study):
    name = "numa-cost"
    about = "Runs a program with two arrays alone and under weft numa, in turn: its time, and the report's."
    rounds = 9

    options = (
        Option("--megabytes", "of both arrays together", positive, 2048),
        Option("--passes", "over the arrays", positive, 40),
    )

    def complete(self, parser: argparse.ArgumentParser) -> None:
        given = self.arguments
        self.size = (SMOKE_MEGABYTES, SMOKE_PASSES) if self.smoke else (given.megabytes, given.passes)
        # By the way to run and the phase; `beside` is what the command takes beside the program.
        self.seconds: dict[str, dict[str, list[float]]] = {way: {} for way in (PLAIN, *WAYS)}

    def turns(self) -> Iterator[Turn]:
        for way in self.seconds:
            yield way, partial(self._measure, way)

    def _measure(self, way: str) -> None:
        command = [self.program("numa_cost"), *map(str, self.size)]
        clean = process.environment(("WEFT",))
        with tempfile.TemporaryDirectory() as name:
            if way != PLAIN:
                reports = ["--json", f"{name}/report.json", "--svg", f"{name}/report.svg"]
                command = [str(self.arguments.build / "bin/weft"), "numa", *WAYS[way], *reports, "--", *command]
            began = time.perf_counter()
            done = process.run(command, clean, TIMEOUT_S)
            passed = time.perf_counter() - began
        if done.returncode != 0:
            self.failures.append(Failure(way, " ".join(command), done.stderr.strip()))
            return
        seconds = [float(word) for word in done.stdout.split()]
        for phase, value in zip((*PHASES, "beside"), (*seconds, passed - seconds[-1]), strict=True):
            self.seconds[way].setdefault(phase, []).append(value)

    def judge(self) -> list[Verdict]:
        if self.smoke or self.failures:
            return []
        verdicts = []
        for way in WAYS:
            (own, beside), (alone, start) = (
                (statistics.median(self.seconds[one][what]) for what in ("program", "beside")) for one in (way, PLAIN)
            )
            verdicts.append(Verdict("program / alone", way, own / alone, SLOWDOWN_LIMIT))
            verdicts.append(Verdict("start and report", way, beside - start, REPORT_LIMIT_S, "s"))
        return verdicts

    def show(self, console: Console) -> None:
        rows = (
            (
                way if way == PLAIN else f"weft numa {way}",
                *(with_extremes(found[what]) for what in (*PHASES, "beside") if what in found),
            )
            for way, found in self.seconds.items()
        )
        columns = ("way", *PHASES, "start, end, report")
        console.print(report.table("seconds: median (least .. most)", columns, rows))

    def results(self) -> dict[str, Any]:
        megabytes, passes = self.size
        return {"megabytes": megabytes, "passes": passes, "samples": self.seconds}
