# SPDX-License-Identifier: Apache-2.0
"""Each MPI's own collectives, and weft's."""

import argparse
import dataclasses
import json
import pathlib
import statistics
from collections.abc import Iterator
from functools import partial
from typing import Any

from rich.console import Console

from ..frame import machine, report
from ..frame.options import LISTED, Option, numbers, timeout
from ..frame.process import Failure
from ..frame.study import Turn
from ..frame.verdict import Verdict
from . import jobs
from .study import MPI, MpiStudy

WEFT, OWN, SM = "weft", "own", "coll/sm"
# From here on long vectors count.
LONG = 16384


@dataclasses.dataclass(frozen=True)
class Way:
    """Whose collectives are taken."""

    name: str
    mpis: tuple[str, ...]
    prefix: tuple[str, ...] = ()
    variables: tuple[tuple[str, str], ...] = ()


def ways(build: pathlib.Path) -> tuple[Way, ...]:
    weft = (str(build / "bin/weft"), "run", "--collectives")
    return (
        Way(OWN, ("openmpi", "mpich")),
        Way(WEFT, ("openmpi", "mpich"), weft),
        Way(SM, ("openmpi",), (), (("OMPI_MCA_coll_sm_priority", "90"),)),
    )


class Collectives(MpiStudy):
    name = "collectives"
    about = "Compares weft's collectives with the MPI's own; see docs/how-to/benchmark-mpi.md."
    program_name = "mpi_collectives"

    options = (
        MPI,
        timeout(300),
        Option("--ranks", f"numbers of ranks, {LISTED}", numbers, "2,4,8"),
        Option("--only", f"operations, {LISTED} (default: all)", str),
        Option("--osu", "as the OSU benchmarks: the root is rank 0, the mean of ranks"),
    )

    def complete(self, parser: argparse.ArgumentParser) -> None:
        super().complete(parser)
        self.ways = ways(self.arguments.build)

    def turns(self) -> Iterator[Turn]:
        for mpi in self.mpis:
            for ranks in self.arguments.ranks[: 1 if self.smoke else None]:
                for way in self.ways:
                    if mpi in way.mpis:
                        yield f"{mpi}, {ranks} ranks: {way.name}", partial(self._measure, mpi, ranks, way)

    def _measure(self, mpi: str, ranks: int, way: Way) -> None:
        program = self.program(f"{self.program_name}_{mpi}")
        size = ["--samples", "1", "--milliseconds", "1", "--largest", str(LONG)] if self.smoke else []
        only = ["--only", self.arguments.only] if self.arguments.only else []
        osu = ["--osu"] if self.arguments.osu else []
        # Whether a rank that waits gives its CPU away is left to the MPI here.
        as_usual = ["env", "-u", "OMPI_MCA_mpi_yield_when_idle"]
        words = [*as_usual, *way.prefix, program, *only, *osu, *size]
        job = jobs.start(jobs.LAUNCHERS[mpi], ranks, dict(way.variables), words)
        output, reason = jobs.finish(job, self.arguments.timeout)
        policy = f"{mpi}, {ranks} ranks"
        if reason:
            self.failures.append(Failure(way.name, policy, reason))
        else:
            self.samples.take(policy, way.name, json.loads(output))

    def show(self, console: Console) -> None:
        console.print(report.medians(self.samples, [way.name for way in self.ways], policies="ranks"))

    def judge(self) -> list[Verdict]:
        medians = self.samples.medians()
        verdicts = []
        for policy in self.samples.policies():
            # As many ranks as CPUs, or more of them.
            ranks = int(policy.split(", ")[1].split()[0])
            for other, crowded in ((OWN, 0.6), (SM, 0.2)):
                ratios = {
                    measure: value / medians[policy, other, measure]
                    for (where, way, measure), value in medians.items()
                    if (where, way) == (policy, WEFT) and (policy, other, measure) in medians
                }
                if ratios and ranks > machine.cpus():
                    what = f"weft / {other}, median"
                    verdicts.append(Verdict(what, policy, statistics.median(ratios.values()), crowded))
                elif ratios and other == OWN:
                    for measure, ratio in ratios.items():
                        verdicts.append(Verdict(f"weft / {other}", f"{policy}, {measure}", ratio, 1.03))
                    long = [ratio for measure, ratio in ratios.items() if _bytes(measure) >= LONG]
                    if long:
                        what = f"weft / {other}, median from {LONG} bytes on"
                        verdicts.append(Verdict(what, policy, statistics.median(long), 0.8))
        return verdicts

    def results(self) -> dict[str, Any]:
        definition = "osu" if self.arguments.osu else "row"
        return {"definition": definition, "runtimes": [way.name for way in self.ways]} | super().results()

    def draw(self, folder: pathlib.Path) -> None:
        from ..frame import plots  # slow to load

        operations = dict.fromkeys(name.partition("_")[0] for _, _, name in self.samples if "_" in name)
        for policy in self.samples.policies():
            for operation in operations:
                values = self.samples.curves(policy, rf"{operation}_(?P<x>\d+)", 1e-3)
                stem = folder / f"collectives_{operation}_{policy.replace(', ', '_').replace(' ', '')}"
                plots.lines(stem, f"{operation}\n{policy}", "bytes", "us", values, logarithmic=True)


def _bytes(measure: str) -> int:
    _, _, size = measure.partition("_")
    return int(size) if size else 0
