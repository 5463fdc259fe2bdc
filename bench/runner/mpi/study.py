# SPDX-License-Identifier: Apache-2.0
"""What the studies of MPI programs share: which MPIs run them, and on which OpenMP runtimes."""

import argparse
import pathlib
from collections.abc import Sequence
from typing import Any

from ..frame.options import LISTED, Option, names, timeout
from ..frame.study import Study
from . import jobs
from .jobs import Way

MPI = Option("--mpi", f"MPIs, {LISTED} (default: those that are there)", names, "")


class MpiStudy(Study):
    program_name = ""  # the program is bench/PROGRAM_MPI in the build

    def complete(self, parser: argparse.ArgumentParser) -> None:
        build: pathlib.Path = self.arguments.build
        there = jobs.found_mpis(build, self.program_name)
        self.mpis: list[str] = self.arguments.mpi or there
        missing = [name for name in self.mpis if name not in there]
        if missing or not there:
            lacking = ", ".join(missing) or "an MPI that is installed"
            parser.error(f"{build}/bench has no {self.program_name} for {lacking}")


class RuntimesStudy(MpiStudy):
    """Each program runs on several OpenMP runtimes: on weft with task-aware MPI."""

    options = (
        MPI,
        timeout(20),
        Option("--runtimes", f"{LISTED} (default: weft, with task-aware MPI, and libgomp)", names, ""),
    )

    def complete(self, parser: argparse.ArgumentParser) -> None:
        super().complete(parser)
        build: pathlib.Path = self.arguments.build
        names = self.arguments.runtimes or jobs.there_by_default(build)
        self.ways: list[Way] = jobs.find_ways(self.root, build, names)

    def run(self, place: jobs.Place, way: Way, program: str, words: Sequence[object]) -> jobs.Outcome:
        return jobs.run(self.arguments.build, place, way, program, words, self.arguments.timeout)

    def results(self) -> dict[str, Any]:
        return {"runtimes": {way.name: str(way.runtime.file) for way in self.ways}} | super().results()
