# SPDX-License-Identifier: Apache-2.0
"""What weftcc costs against the clang under it: time to compile a source, and bytes of machine code in its object."""

import argparse
import os
import pathlib
import resource
import statistics
import subprocess
import tempfile
import time
from functools import partial
from typing import Any

from rich.console import Console

from ..frame import process, report
from ..frame.options import Option, names
from ..frame.process import Failure
from ..frame.study import Study, Turn, in_turn
from ..frame.verdict import Verdict

# Programs with OpenMP that are there for another reason than to be compiled.
SOURCES = (
    "bench/kernels/*.c",
    "bench/micro/*.c",
    "tests/compiler/*.c*",
    "tests/compiler/pass/programs/*.c*",
    "tests/openmp/constructs/*.c*",
)
INCLUDES = ("include", "bench", "tests/openmp")
STANDARDS = {".c": "-std=gnu11", ".cpp": "-std=c++20"}
SMOKE_SOURCES = 2
PLAIN = "clang"
TEXT_LIMIT, TIME_LIMIT = 1.30, 1.15
SECONDS, CPU_SECONDS, TEXT = KINDS = ("seconds", "cpu_seconds", "text")
# What is judged: how it is called, what it is, and how much more than clang's it may be.
JUDGED = (
    ("machine code / clang", TEXT, TEXT_LIMIT),
    ("time to compile / clang", SECONDS, TIME_LIMIT),
    ("CPU time to compile / clang", CPU_SECONDS, TIME_LIMIT),
)


class Cost:
    def __init__(self) -> None:
        # Of each kind, by each way to compile.
        self.taken: dict[str, dict[str, list[float]]] = {kind: {} for kind in KINDS}
        self.failed = False

    def of(self, kind: str, way: str) -> float:
        return statistics.median(self.taken[kind][way])


class CompileCost(Study):
    name = "compile-cost"
    about = "Compiles sources by clang and by weftcc, in turn: time, and size of the machine code."

    options = (
        Option("--clang", "the compiler under weftcc", str, "clang-19"),
        Option("--clangxx", "the same for C++", str, "clang++-19"),
        Option("--flags", "with blanks between", str, "-O2"),
        Option("--lower", "ways of weftcc", names, "hint,range"),
        Option("sources", "default: benchmarks and tests of weft", pathlib.Path, several=True),
    )

    def complete(self, parser: argparse.ArgumentParser) -> None:
        self.ways = self.arguments.lower
        sources = [path.absolute() for path in self.arguments.sources] or [
            path for pattern in SOURCES for path in sorted(self.root.glob(pattern)) if path.suffix in STANDARDS
        ]
        self.costs = {source: Cost() for source in (sources[:SMOKE_SOURCES] if self.smoke else sources)}

    def _command(self, way: str, source: pathlib.Path) -> list[str]:
        cxx = source.suffix == ".cpp"
        if way == PLAIN:
            compiler = [self.arguments.clangxx if cxx else self.arguments.clang]
        else:
            compiler = [str(self.arguments.build / "bin" / ("weftc++" if cxx else "weftcc")), f"--weft-lower={way}"]
        includes = [f"-I{self.root / folder}" for folder in INCLUDES]
        flags = ["-D_GNU_SOURCE", "-w", *includes, *self.arguments.flags.split()]
        return [*compiler, *filter(None, [STANDARDS.get(source.suffix, ""), *flags]), "-fopenmp", "-c", str(source)]

    def plan(self) -> list[Turn]:
        ways = [PLAIN, *self.ways]
        rounds = self.arguments.rounds
        return [
            turn
            for source in self.costs
            for turn in in_turn(rounds, ((source.name, partial(self._measure, source, way)) for way in ways))
        ]

    def _measure(self, source: pathlib.Path, way: str) -> None:
        cost = self.costs[source]
        if cost.failed:
            return
        environment = process.environment(("WEFT",))
        with tempfile.TemporaryDirectory() as name:
            built = pathlib.Path(name) / "object.o"
            try:
                words = [*self._command(way, source), "-o", str(built)]
                began, used = time.perf_counter(), cpu_seconds()
                subprocess.run(words, env=environment, check=True, capture_output=True, text=True)
                passed, used = time.perf_counter() - began, cpu_seconds() - used
                for kind, value in zip(KINDS, (passed, used, text_of(built)), strict=True):
                    cost.taken[kind].setdefault(way, []).append(value)
            except subprocess.CalledProcessError as problem:
                cost.failed = True
                self.failures.append(Failure(way, " ".join(problem.cmd), problem.stderr.strip()))

    def _found(self) -> dict[str, Cost]:
        return {os.path.relpath(source, self.root): cost for source, cost in self.costs.items() if not cost.failed}

    def show(self, console: Console) -> None:
        ratios = [f"{way} / clang" for way in self.ways]
        columns = ("source", *(column for unit in ("seconds", "CPU s", "text") for column in (unit, *ratios)))
        rows = []
        for name, cost in self._found().items():
            row = [name]
            for kind in KINDS:
                plain = cost.of(kind, PLAIN)
                shown = f"{plain:,.0f}" if kind == TEXT else f"{plain:.3f}"
                row += [shown, *(f"{cost.of(kind, way) / plain:.2f}" for way in self.ways)]
            rows.append(row)
        console.print(report.table("clang, and weftcc against it: medians", columns, rows))

    def judge(self) -> list[Verdict]:
        """Of all sources together, and of the ones that gain code: the others hardly meet the pass."""
        verdicts = []
        costs = list(self._found().values())
        for way in [] if self.smoke else self.ways:
            touched = [cost for cost in costs if cost.of(TEXT, way) != cost.of(TEXT, PLAIN)]
            for which, chosen in (("all", costs), ("with loops", touched)):
                for what, kind, limit in JUDGED if chosen else ():
                    own, plain = (sum(cost.of(kind, one) for cost in chosen) for one in (way, PLAIN))
                    verdicts.append(Verdict(what, f"{which}, {way}", own / plain, limit))
        return verdicts

    def results(self) -> dict[str, Any]:
        found = [
            {"source": name} | cost.taken | {TEXT: {way: int(cost.of(TEXT, way)) for way in cost.taken[TEXT]}}
            for name, cost in self._found().items()
        ]
        return {"flags": self.arguments.flags, "results": found}


def cpu_seconds() -> float:
    """Of all processes that have been waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def text_of(built: pathlib.Path) -> int:
    """Bytes of machine code: the sections of the text alone."""
    listing = subprocess.run(["size", "-A", "-d", built], check=True, capture_output=True, text=True).stdout
    return sum(int(line.split()[1]) for line in listing.splitlines() if line.startswith(".text"))
