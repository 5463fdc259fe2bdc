# SPDX-License-Identifier: Apache-2.0
"""What weftcc costs against the clang under it: time to compile a source, and bytes of machine code in its object."""

import argparse
import dataclasses
import os
import pathlib
import resource
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable

from rich.console import Console

from . import files, machine, report, terminal
from .process import Failure
from .targets import Verdict
from .terminal import positive

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


@dataclasses.dataclass
class Cost:
    """By each way to compile."""

    seconds: dict[str, list[float]] = dataclasses.field(default_factory=dict)
    cpu_seconds: dict[str, list[float]] = dataclasses.field(default_factory=dict)
    text: dict[str, int] = dataclasses.field(default_factory=dict)


def parse(root: pathlib.Path, words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="bench/run compile-cost",
        description="Compiles sources by clang and by weftcc, in turn: time, and size of the machine code.",
    )
    parser.add_argument("sources", nargs="*", type=pathlib.Path, help="default: benchmarks and tests of weft")
    parser.add_argument("--smoke", action="store_true", help="one round of little: does it run at all")
    parser.add_argument("--build", type=pathlib.Path, default=root / "build/release", help="the build to measure")
    parser.add_argument("--clang", default="clang-19", help="the compiler under weftcc (default clang-19)")
    parser.add_argument("--clangxx", default="clang++-19", help="the same for C++ (default clang++-19)")
    parser.add_argument("--flags", default="-O2", help="with blanks between (default -O2)")
    parser.add_argument("--lower", default="hint,range", help="ways of weftcc (default hint,range)")
    parser.add_argument("--rounds", type=positive, default=5, help="how often each is compiled, in turn (default 5)")
    parser.add_argument("--out", type=pathlib.Path, help="folder of the results (default bench/results/DATE)")
    return parser.parse_args(words)


def main(root: pathlib.Path, words: list[str]) -> int:
    arguments = parse(root, words)
    console, stamp = terminal.console(), terminal.stamp()
    ways = [PLAIN, *arguments.lower.split(",")]
    sources = [path.absolute() for path in arguments.sources] or [
        path for pattern in SOURCES for path in sorted(root.glob(pattern)) if path.suffix in STANDARDS
    ]
    rounds = 1 if arguments.smoke else arguments.rounds
    if arguments.smoke:
        sources = sources[:SMOKE_SOURCES]

    def command(way: str, source: pathlib.Path) -> list[str]:
        cxx = source.suffix == ".cpp"
        if way == PLAIN:
            compiler = [arguments.clangxx if cxx else arguments.clang]
        else:
            driver = arguments.build / "bin" / ("weftc++" if cxx else "weftcc")
            compiler = [str(driver.absolute()), f"--weft-lower={way}"]
        includes = [f"-I{root / folder}" for folder in INCLUDES]
        options = [STANDARDS.get(source.suffix, ""), "-D_GNU_SOURCE", "-w", *includes, *arguments.flags.split()]
        return [*compiler, *filter(None, options), "-fopenmp", "-c", str(source)]

    watch, failed = machine.OthersWatch(), list[Failure]()
    with terminal.progress(console) as progress:
        task = progress.add_task("", total=len(sources))
        step = lambda text: progress.update(task, advance=1, description=text)  # noqa: E731
        costs = measure(sources, ways, command, rounds, step, failed)
    others_percent = watch.percent()
    names = {source: os.path.relpath(source, root) for source in costs}
    table(console, {names[source]: cost for source, cost in costs.items()}, ways[1:])
    verdicts = [] if arguments.smoke else judge(costs, ways[1:])
    report.summary_table(console, verdicts)
    report.failures(console, failed)
    report.trust(console, others_percent)
    folder = terminal.results_folder(root, arguments.out, stamp)
    about = {
        "date": stamp,
        "machine": machine.describe(),
        "cpu_percent_of_others": others_percent,
        "rounds": rounds,
        "flags": arguments.flags,
    }
    results = [{"source": names[source]} | dataclasses.asdict(cost) for source, cost in costs.items()]
    files.write_json(folder, "compile_cost", about | {"results": results} | files.judged(verdicts, failed))
    console.print(f"Results: {folder}", highlight=False, soft_wrap=True)
    return 1 if failed else 0


def measure(
    sources: list[pathlib.Path],
    ways: list[str],
    command: Callable[[str, pathlib.Path], list[str]],
    rounds: int,
    step: Callable[[str], None],
    failed: list[Failure],
) -> dict[pathlib.Path, Cost]:
    costs = {}
    environment = {name: value for name, value in os.environ.items() if not name.startswith("WEFT")}
    with tempfile.TemporaryDirectory() as name:
        built = pathlib.Path(name) / "object.o"
        for source in sources:
            step(source.name)
            cost = Cost()
            try:
                for _ in range(rounds):
                    for way in ways:
                        words = [*command(way, source), "-o", str(built)]
                        began, used = time.perf_counter(), cpu_seconds()
                        subprocess.run(words, env=environment, check=True, capture_output=True, text=True)
                        cost.seconds.setdefault(way, []).append(time.perf_counter() - began)
                        cost.cpu_seconds.setdefault(way, []).append(cpu_seconds() - used)
                        cost.text[way] = text_of(built)
                costs[source] = cost
            except subprocess.CalledProcessError as problem:
                failed.append(Failure(way, " ".join(problem.cmd), problem.stderr.strip()))
    return costs


def cpu_seconds() -> float:
    """Of all processes that have been waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def text_of(built: pathlib.Path) -> int:
    """Bytes of machine code: the sections of the text alone."""
    listing = subprocess.run(["size", "-A", "-d", built], check=True, capture_output=True, text=True).stdout
    return sum(int(line.split()[1]) for line in listing.splitlines() if line.startswith(".text"))


def median_seconds(cost: Cost, way: str) -> float:
    return statistics.median(cost.seconds[way])


def median_cpu(cost: Cost, way: str) -> float:
    return statistics.median(cost.cpu_seconds[way])


def text(cost: Cost, way: str) -> float:
    return cost.text[way]


# What is judged: how it is called, its value, and how much more than clang's it may be.
JUDGED = (
    ("machine code / clang", text, TEXT_LIMIT),
    ("time to compile / clang", median_seconds, TIME_LIMIT),
    ("CPU time to compile / clang", median_cpu, TIME_LIMIT),
)


def judge(costs: dict[pathlib.Path, Cost], ways: list[str]) -> list[Verdict]:
    """Of all sources together, and of the ones that gain code: the others hardly meet the pass."""
    verdicts = []
    for way in ways:
        touched = {source: cost for source, cost in costs.items() if cost.text[way] != cost.text[PLAIN]}
        for which, chosen in (("all", costs), ("with loops", touched)):
            for what, value, limit in JUDGED if chosen else ():
                plain = sum(value(cost, PLAIN) for cost in chosen.values())
                ratio = sum(value(cost, way) for cost in chosen.values()) / plain
                verdicts.append(Verdict(what, f"{which}, {way}", ratio, limit, ""))
    return verdicts


def table(console: Console, costs: dict[str, Cost], ways: list[str]) -> None:
    columns = [
        column for unit in ("seconds", "CPU s", "text") for column in (unit, *(f"{way} / clang" for way in ways))
    ]
    shown = report.new_table("clang, and weftcc against it: medians", "source", *columns)
    for name, cost in costs.items():
        cells = []
        for value, form in ((median_seconds, ".3f"), (median_cpu, ".3f"), (text, ",")):
            plain = value(cost, PLAIN)
            cells += [format(plain, form), *(f"{value(cost, way) / plain:.2f}" for way in ways)]
        shown.add_row(name, *cells)
    console.print(shown)
