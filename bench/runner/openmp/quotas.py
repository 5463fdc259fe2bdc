# SPDX-License-Identifier: Apache-2.0
"""Steps of a parallel loop in a control group with a quota of CPUs: what a container with a limit is."""

import argparse
from collections.abc import Iterator
from functools import partial
from typing import Any

from rich.console import Console

from ..frame import machine, quota, report
from ..frame.comparison import Comparison
from ..frame.options import BEFORE, RUNTIMES
from ..frame.process import Failure
from ..frame.runtimes import Runtime
from ..frame.spread import short, summary
from ..frame.study import Turn
from ..frame.verdict import Verdict

PARTS = (0.25, 0.5, 0.75, 1.0)  # of the CPUs
# Several periods of a quota, which are 0.1 s.
SAMPLES, MILLISECONDS = 3, 500
LIMIT = 1.05


class Quotas(Comparison):
    name = "quotas"
    about = "Steps of a parallel loop under quotas of CPUs, as in containers; nothing is set."
    rounds = 3
    options = (RUNTIMES, BEFORE)

    def complete(self, parser: argparse.ArgumentParser) -> None:
        super().complete(parser)
        if not quota.possible():
            self.failures.append(Failure("quotas", "control groups", "none can be made here: root makes them"))
        self.parts = [part for part in PARTS if part == 1 or quota.possible()]

    def turns(self) -> Iterator[Turn]:
        for part in self.parts:
            for runtime in self.runtimes:
                yield f"{self._row(part)}: {runtime.name}", partial(self._measure, part, runtime)

    def _row(self, part: float) -> str:
        return f"{part * machine.cpus():g} of {machine.cpus()} CPUs"

    def _measure(self, part: float, runtime: Runtime) -> None:
        milliseconds = 20 if self.smoke else MILLISECONDS
        with quota.limited(part) as words:
            command = [*words, self.program("micro_steps"), "--repeat", SAMPLES, "--milliseconds", milliseconds]
            result = self.json_under(runtime, command)
        if result:
            found = result["steps"]
            self.samples.add(self._row(part), runtime.name, "steps", found["samples"], found["unit"])

    def show(self, console: Console) -> None:
        def cells(row: str, measure: str, name: str) -> tuple[str, ...]:
            taken = self.samples.get((row, name, measure))
            return (short(summary(taken)["median"]), short(summary(taken)["p90"])) if taken else ("", "")

        columns = [f"{name}{what}" for name in self.names for what in ("", " p90")]
        rows = (
            (row, *(cell for name in self.names for cell in cells(row, measure, name)))
            for row, measure in self.samples.rows()
        )
        console.print(report.table("nanoseconds of a step", ("quota", *columns), rows, left=1))

    def judge(self) -> list[Verdict]:
        verdicts = []
        for row, measure in self.samples.rows():
            medians = {
                name: summary(taken)["median"]
                for name in self.names
                if (taken := self.samples.get((row, name, measure)))
            }
            own = medians.pop("weft", None)
            if own is not None and medians:
                verdicts.append(Verdict("weft / best other", row, own / min(medians.values()), LIMIT))
        return verdicts

    def results(self) -> dict[str, Any]:
        return {"quotas": [self._row(part) for part in self.parts]} | super().results()
