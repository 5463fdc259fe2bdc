# SPDX-License-Identifier: Apache-2.0
"""One program by weftcc under each engine (WEFT_ENGINE), in turn."""

import argparse
import pathlib
from collections.abc import Iterator
from functools import partial
from typing import Any

from rich.console import Console

from ..frame import options, report
from ..frame.options import LISTED, Option, names, repeat
from ..frame.process import Done
from ..frame.samples import DEFAULT
from ..frame.spread import summary
from ..frame.study import Study, Turn
from .loops import refuse_without_weftcc

# In the order of the table. The program by hand is the same loops written for oneTBB, without weft.
ENGINES = ("weft", "serial", "task", "taskloop", "tbb", "taskflow", "argobots")
BY_HAND = "tbb by hand"
# Of bench/loops.
MEASURES = ("flat_10", "flat_50", "8x64", "64x4", "triangle", "power_law")


class Engines(Study):
    name = "engines"
    about = "Compares the libraries that can run loops of weftcc's programs; see docs/explanation/engines.md."

    options = (Option("--engines", f"names, {LISTED} (default: all)", names, ",".join(ENGINES)), repeat("15"))

    def complete(self, parser: argparse.ArgumentParser) -> None:
        refuse_without_weftcc(parser, self.arguments.build)
        options.check(parser, "--engines", self.arguments.engines, ENGINES)
        bench, libraries = self.arguments.build / "bench", self.arguments.build / "lib/weft"
        needs = {name: libraries / f"libweft-engine-{name}.so" for name in self.arguments.engines if name != "weft"}
        self.programs = dict.fromkeys(self.arguments.engines, bench / "loops_weftcc")
        if "tbb" in self.programs:
            self.programs[BY_HAND] = needs[BY_HAND] = bench / "loops_tbb"
        self.missing = [name for name, file in needs.items() if not file.exists()]

    def turns(self) -> Iterator[Turn]:
        for name, program in self.programs.items():
            if name not in self.missing:
                yield name, partial(self._measure, name, program)

    def _measure(self, name: str, program: pathlib.Path) -> None:
        def check(done: Done, _: object) -> str:
            if name not in ("weft", BY_HAND) and "regions that the engine has run: " not in done.stderr:
                return "the runtime does not know of engines"
            if "regions that the engine has run: 0\n" in done.stderr or "loops run on weft" in done.stderr:
                return f"the loops ran on weft: {done.stderr.splitlines()[0]}"
            return ""

        count = self.arguments.repeat or (2 if self.smoke else 15)
        fill = ["--milliseconds", "1"] if self.smoke else []
        variables = {} if name == BY_HAND else {"WEFT_ENGINE": name, "WEFT_STATS": "all"}
        result = self.json_of(name, [program, "--repeat", count, *fill, *MEASURES], check=check, hidden=variables)
        self.samples.take(DEFAULT, name, result)

    def _names(self) -> list[str]:
        failed = {failure.runtime for failure in self.failures}
        return [name for name in self.programs if name not in failed and (DEFAULT, name, MEASURES[0]) in self.samples]

    def show(self, console: Console) -> None:
        rows = []
        for name in self._names():
            row = [name]
            for measure in MEASURES:
                median, own = (self.samples.median(DEFAULT, one, measure) or 0.0 for one in (name, "weft"))
                row += [report.short(1e-3 * median), f"{median / own:.2f}" if own else ""]
            rows.append(row)
        if rows:
            columns = ("engine", *(column for measure in MEASURES for column in (measure, "/ weft")))
            console.print(report.table("loops of weftcc's programs by engine: us, medians", columns, rows))
        for name in self.missing:
            why = "this build does not have it; scripts/setup-engines says what it needs"
            console.print(f"No row {name}: {why}.")

    def results(self) -> dict[str, Any]:
        return {
            "missing": self.missing,
            "unit": "ns",
            "results": {
                name: {
                    measure: summary(taken) | {"all": taken}
                    for measure in MEASURES
                    for taken in [self.samples[DEFAULT, name, measure]]
                }
                for name in self._names()
            },
        }
