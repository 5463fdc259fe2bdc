# SPDX-License-Identifier: Apache-2.0
"""A study of one MPI program in several versions: trials in turn, results compared, a table."""

import pathlib
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

from rich.console import Console

from ..frame import report
from ..frame.process import Failure
from ..frame.spread import with_range
from ..frame.study import Turn
from .study import RuntimesStudy
from .trials import UNIT, Results, Trial

BLOCKING, EVENTS = "interop-blk", "interop-nonblk"


class VersionsStudy(RuntimesStudy):
    versions: tuple[str, ...] = ()  # in the order of columns

    def __init__(self, root: pathlib.Path) -> None:
        super().__init__(root)
        self.found = Results()

    def title(self) -> str:
        """Of tables and pictures."""
        return self.name

    def trials(self) -> Iterable[Trial]:
        """The first one of each problem is the one that the others must agree with."""
        return ()

    def _chosen(self) -> list[Trial]:
        """Tasks with blocking calls may hang where no task-aware MPI lets others run; --smoke leaves them out."""

        def may_hang(trial: Trial) -> bool:
            return trial.version == BLOCKING and trial.place.ranks > 1 and trial.way.preloaded is None

        return [trial for trial in self.trials() if not (self.smoke and may_hang(trial))]

    def turns(self) -> Iterator[Turn]:
        for trial in self._chosen():
            yield f"{trial.place.label}: {trial.series} {trial.size}", partial(self._measure, trial)

    def _measure(self, trial: Trial) -> None:
        if trial in self.found.failed or self.found.hangs(trial):
            return
        self.found.take(trial, self.run(trial.place, trial.way, self.program_name, trial.words))
        if reason := self.found.failed.get(trial):
            self.failures.append(Failure(trial.way.name, trial.shown, reason))
        if rates := self.found.rates.get(trial):
            # In weak scaling, of sequential sweeps of several sizes the last one stays.
            measure = f"rows {trial.share} block {trial.size or 'none'}"
            self.samples[trial.place.label, trial.series, measure] = rates
            self.samples.units[measure] = UNIT

    def show(self, console: Console) -> None:
        """One table for each way: all versions beside each other under all runtimes are too wide."""
        for way in dict.fromkeys(trial.way for trial in self._chosen()):
            here = [trial for trial in self._chosen() if trial.way == way]
            shown = [version for version in self.versions if any(trial.version == version for trial in here)]
            cells = {(trial.row, trial.version): self._cell(trial) for trial in here}
            rows = [
                (*row, *(cells.get((row, version), "") for version in shown))
                for row in dict.fromkeys(trial.row for trial in here)
            ]
            with_library = ", task-aware MPI" if way.preloaded else ""
            title = f"{self.title()}, by {way.name}{with_library}: {UNIT}, median (p10 .. p90)"
            console.print(report.table(title, ("ranks x threads", "rows", "block", *shown), rows, left=3))

    def _cell(self, trial: Trial) -> str:
        if trial in self.found.hung:
            return f"hangs ({self.found.hung[trial]})"
        if trial in self.found.rates:
            return with_range(self.found.rates[trial], ".0f")
        return "failed" if trial in self.found.failed else "not tried again"

    def results(self) -> dict[str, Any]:
        hung = [{"what": trial.shown, "reason": reason} for trial, reason in self.found.hung.items()]
        return {"hashes": self.found.hashes, "hung": hung} | super().results()

    def draw(self, folder: pathlib.Path) -> None:
        from . import versions_plots  # slow to load

        versions_plots.draw(folder, self.title(), self.program_name, self.found.rates)
