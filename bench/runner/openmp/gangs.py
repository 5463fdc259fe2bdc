# SPDX-License-Identifier: Apache-2.0
"""A BLAS that is told a number of threads, called from several places: whether it ends, and its time against that with
the best number."""

import argparse
import json
import pathlib
import platform
import subprocess
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

from rich.console import Console

from ..frame import process, report
from ..frame.machine import cpus
from ..frame.options import Option, names, numbers, positive
from ..frame.process import Failure
from ..frame.samples import DEFAULT
from ..frame.study import Study, Turn
from ..frame.verdict import Verdict

PLACES = ("flat", "region", "task", "threads")
SERIES = ("weft", "alone")
LIMIT = 1.1
DEBIANS = pathlib.Path(f"/usr/lib/{platform.machine()}-linux-gnu/openblas-openmp/libopenblas.so.0")


class Gangs(Study):
    name = "gangs"
    about = "Products of a BLAS that is told a number of threads, under weft run and alone, from several places."
    rounds = 3
    options = (
        Option("--blas", "the file of an OpenBLAS or BLIS", pathlib.Path, DEBIANS),
        Option("--threads", "numbers to tell it (default 1, the CPUs, one more, and 2, 4, 16 times as many)", numbers),
        Option("--places", f"some of {', '.join(PLACES)}", names, ",".join(PLACES)),
        Option("--timeout", "seconds after which a run counts as one without an end", positive, 10),
    )

    def complete(self, parser: argparse.ArgumentParser) -> None:
        given, most = self.arguments, cpus()
        if not given.blas.exists():
            parser.error(f"--blas {given.blas}: there is no such file; name a BLAS, or install libopenblas0-openmp")
        if unknown := [place for place in given.places if place not in PLACES]:
            parser.error(f"--places {', '.join(unknown)}: there are {', '.join(PLACES)}")
        usual = [1, most] if self.smoke else [1, most, most + 1, 2 * most, 4 * most, 16 * most]
        self.numbers = given.threads or sorted(set(usual))
        self.endless: set[tuple[str, str]] = set()  # series and measure

    def turns(self) -> Iterator[Turn]:
        for place in self.arguments.places:
            for number in self.numbers:
                for series in SERIES:
                    yield f"{place}, {number}: {series}", partial(self._measure, place, number, series)

    def _measure(self, place: str, number: int, series: str) -> None:
        measure = f"{place}, {number} threads"
        if (series, measure) in self.endless:
            return
        program = [self.program("gangs"), str(self.arguments.blas), place, str(number)]
        words = [str(self.arguments.build / "bin/weft"), "run", *program] if series == "weft" else program
        try:
            told = {"BLIS_NUM_THREADS": str(number)}  # OpenBLAS is told by a call
            done = process.run(words, process.environment() | told, self.arguments.timeout)
        except subprocess.TimeoutExpired:
            self.endless.add((series, measure))
            return
        if done.returncode != 0:
            self.failures.append(Failure(series, " ".join(words), process.exit_status(done.returncode, done.stderr)))
            return
        self.samples.take(DEFAULT, series, {measure: json.loads(done.stdout)["product"]})

    def _best(self, place: str) -> float | None:
        """weft's time with the number that suits it best."""
        medians = [self.samples.median(DEFAULT, "weft", f"{place}, {number} threads") for number in self.numbers]
        return min((value for value in medians if value is not None), default=None)

    def _ratios(self, told: Iterable[int]) -> dict[str, float]:
        found = {}
        for place in self.arguments.places:
            best = self._best(place)
            for number in told:
                own = self.samples.median(DEFAULT, "weft", f"{place}, {number} threads")
                if best and own is not None:
                    found[f"{place}, {number} threads"] = own / best
        return found

    def judge(self) -> list[Verdict]:
        if self.smoke:
            return []
        title = "time / with the best number"
        # One thread cannot be as fast as all CPUs.
        enough = [number for number in self.numbers if number >= cpus()]
        verdicts = [Verdict(title, what, ratio, LIMIT) for what, ratio in self._ratios(enough).items()]
        endless = sum(series == "weft" for series, _ in self.endless)
        return [*verdicts, Verdict("runs without an end", "all", endless, 0)]

    def show(self, console: Console) -> None:
        ratios = self._ratios(self.numbers)

        def cell(series: str, measure: str) -> str:
            median = self.samples.median(DEFAULT, series, measure)
            if median is not None:
                return f"{median:.1f}"
            return f"no end in {self.arguments.timeout} s" if (series, measure) in self.endless else ""

        measures = [f"{place}, {number} threads" for place in self.arguments.places for number in self.numbers]
        rows = [(what, *(cell(series, what) for series in SERIES), f"{ratios.get(what, 0):.2f}") for what in measures]
        console.print(report.table("milliseconds: medians", ("call", "weft", "alone", "weft / its best number"), rows))

    def results(self) -> dict[str, Any]:
        endless = [{"runtime": series, "measure": measure} for series, measure in sorted(self.endless)]
        return {"blas": str(self.arguments.blas), "without_end": endless} | super().results()
