# SPDX-License-Identifier: Apache-2.0
"""Python programs in several modes."""

import argparse
import itertools
import pathlib
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any

from rich.console import Console

from ..frame import machine, options, process, report
from ..frame.options import LISTED, Option, names, only, positive
from ..frame.study import Study, Turn
from . import modes, results, tables, workloads
from .session import Limits, Session
from .workloads import Workload

VENV = "build/python/bench-venv/bin/python"


def which_modes(usual: Sequence[str]) -> Option:
    return Option("--modes", f"of {', '.join(modes.BY_NAME)}; default: {', '.join(usual)}", names)


RUNS = (
    Option("--python", f"that has the packages (default {VENV})", pathlib.Path),
    Option("--factor", "times the best at which a run is cut", positive, 20),
    Option("--timeout", "seconds at which the first run is cut", positive, 600),
)


class Python(Study):
    name = "python"
    about = "Compares ways to share CPUs in Python programs; see docs/how-to/benchmark-python.md."
    rounds = 3
    smoke_names = ("--quick", "--smoke")

    options = (
        only(f"of {', '.join(workloads.families(1, quick=True))}; {LISTED}"),
        Option("--short", f"{', '.join(workloads.SHORT)} under {', '.join(modes.SHORT)}: some ten minutes on 2 CPUs"),
        which_modes(modes.NAMES),
        *RUNS,
    )

    def usual(self) -> tuple[Sequence[str], Iterable[str]]:
        """The modes, and the workloads."""
        if self.arguments.short:
            return modes.SHORT, workloads.SHORT
        return modes.QUICK if self.arguments.smoke else modes.NAMES, self.offered()

    def offered(self) -> dict[str, list[Workload]]:
        """What --only can name."""
        return workloads.families(machine.cpus(), self.arguments.smoke)

    def complete(self, parser: argparse.ArgumentParser) -> None:
        given = self.arguments
        there = self.offered()
        usual_modes, usual = self.usual()
        wanted_modes, wanted = given.modes or usual_modes, given.only or usual
        options.check(parser, "--modes", wanted_modes, modes.BY_NAME)
        options.check(parser, "--only", wanted, there)
        python = given.python or self.root / VENV
        if not python.exists():
            lacking = f"{python} is not there: run scripts/setup-bench-python, or name another with --python"
            parser.error(lacking)
        if not (given.build / "bin/weft").exists():
            parser.error(f"{given.build}/bin/weft is not there: build weft, or name another build with --build")
        package, reason = process.make_python_package(given.build)
        if reason:
            parser.error(f"the Python package cannot be made: {reason}")
        # A virtual environment is known by the path it is called by: links stay.
        self.session = Session(
            places=modes.Places(self.root, given.build, python.absolute(), package),
            modes=[mode for mode in modes.BY_NAME.values() if mode.name in wanted_modes],
            workloads=[workload for name in wanted for workload in there[name]],
            quick=given.smoke,
            limits=Limits(set_up=180, first=given.timeout, factor=given.factor, least=20),
        )

    def turns(self) -> Iterator[Turn]:
        for workload, plan in itertools.groupby(self.session.plan(), key=lambda step: step[0]):
            here = [mode for _, mode in plan]
            for mode in here:
                yield f"{workload.name}, {mode.title}", partial(self._measure, workload, mode, mode is here[-1])

    def _measure(self, workload: Workload, mode: modes.Mode, last: bool) -> None:
        self.session.measure(workload, mode)
        if last:
            self.save()  # a run that is stopped keeps what it has measured

    def show(self, console: Console) -> None:
        data = self.results()
        for title, (head, rows) in (
            ("seconds, medians", tables.main_table(data, spread=False)),
            ("several processes at once: time over one after the other", tables.node_table(data)),
        ):
            if rows:
                console.print(report.table(title, head, rows))
        for reason in tables.reasons(data):
            console.print(reason, markup=False, soft_wrap=True)

    def failed(self) -> bool:
        return any(cell.failed for cell in self.session.cells.values())

    def results(self) -> dict[str, Any]:
        return {"quick": self.session.quick} | results.collect(self.session)

    def write(self, folder: pathlib.Path, head: dict[str, Any]) -> None:
        super().write(folder, head)
        (folder / f"{self.name}.md").write_text(tables.page(head | self.results()))

    def draw(self, folder: pathlib.Path) -> None:
        from . import figures  # slow to load

        figures.draw(folder, self.name, self.results())
