# SPDX-License-Identifier: Apache-2.0
"""A study that compares OpenMP runtimes."""

import argparse
import pathlib
from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console

from . import report, runtimes
from .runtimes import Runtime
from .study import Study


class Comparison(Study):
    def __init__(self, root: pathlib.Path) -> None:
        super().__init__(root)
        self.runtimes: list[Runtime] = []
        self.blas: pathlib.Path | None = None  # directory of the OpenBLAS to use, else the system's

    def complete(self, parser: argparse.ArgumentParser) -> None:
        """By the options --runtimes and --before, where there are."""
        before = getattr(self.arguments, "before", None)
        wanted = getattr(self.arguments, "runtimes", list(runtimes.DEFAULT))
        self.runtimes = runtimes.find(self.root, self.arguments.build, wanted, before)

    @property
    def names(self) -> list[str]:
        return [runtime.name for runtime in self.runtimes]

    def repeat(self, usual: int, smoke: int) -> int:
        """Samples of each process."""
        return self.arguments.repeat or (smoke if self.smoke else usual)

    def json_under(
        self, runtime: Runtime, command: Sequence[object], variables: Mapping[str, str] | None = None
    ) -> dict[str, Any]:
        """The JSON of a program under a runtime, which must be the one that was meant."""

        def check(_: object, result: Mapping[str, Any]) -> str:
            return runtimes.wrong_libraries(runtime, self.blas, result)

        return self.json_of(runtime.name, command, variables, check, runtime.variables(self.blas))

    def title(self) -> str:
        return "medians"

    def show(self, console: Console) -> None:
        console.print(report.medians(self.samples, self.names, title=self.title()))

    def results(self) -> dict[str, Any]:
        return {"runtimes": {runtime.name: str(runtime.file) for runtime in self.runtimes}} | super().results()
