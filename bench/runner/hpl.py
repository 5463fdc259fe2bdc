# SPDX-License-Identifier: Apache-2.0
"""The command line of bench/run hpl: High Performance Linpack by ranks and threads, with several BLAS and runtimes."""

import argparse
import pathlib
import shutil
from collections.abc import Iterator

from . import hpl_job, hpl_report, hpl_ways, machine, mpi_jobs, terminal
from .hpl_job import Problem
from .hpl_report import Results
from .hpl_ways import BINDINGS, Place, Trial, Way
from .process import Failure
from .terminal import positive

RANKS = (1, 2, 4)
DEFAULT = 0  # threads: what the runtime takes by itself


def parse(root: pathlib.Path, words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="bench/run hpl",
        description="High Performance Linpack (Debian's hpcc, Open MPI) by ranks and threads; see "
        "docs/how-to/benchmark-mpi.md.",
    )
    parser.add_argument("--smoke", action="store_true", help="one round of little: does it run, and is it right")
    parser.add_argument("--build", type=pathlib.Path, default=root / "build/release", help="the build to measure")
    parser.add_argument("--order", type=positive, default=4000, help="of the system of equations (default 4000)")
    parser.add_argument("--block", type=positive, default=128, help="of its distribution (default 128)")
    parser.add_argument("--ranks", type=_numbers, default=RANKS, help="with commas between (default 1,2,4)")
    parser.add_argument(
        "--threads", type=_numbers, help="with commas between; 0: the default (default: 1, the CPUs, and 0)"
    )
    parser.add_argument(
        "--bind", default="none", help="of none (the default), and core, which is what mpirun does by itself"
    )
    parser.add_argument("--ways", default="", help="parts of their names, with commas between (default: all)")
    parser.add_argument("--rounds", type=positive, default=5, help="how often each is measured, in turn (default 5)")
    parser.add_argument("--timeout", type=positive, default=120, help="seconds after which a job fails (default 120)")
    parser.add_argument("--out", type=pathlib.Path, help="folder of the results (default bench/results/DATE)")
    parser.add_argument("--no-plots", action="store_true")
    arguments = parser.parse_args(words)
    arguments.build = arguments.build.absolute()
    arguments.bind = arguments.bind.split(",")
    if unknown := set(arguments.bind) - set(BINDINGS):
        parser.error(f"--bind {', '.join(sorted(unknown))}: there are {', '.join(BINDINGS)}")
    for program, package in ((hpl_job.PROGRAM, "hpcc"), (mpi_jobs.LAUNCHERS["openmpi"][0], "openmpi-bin")):
        if not shutil.which(program):
            parser.error(f"{program} is not there: run scripts/setup-hpl (Debian's package {package})")
    if arguments.threads is None:
        arguments.threads = tuple(dict.fromkeys((1, machine.cpus(), DEFAULT)))
    if arguments.smoke:
        arguments.order, arguments.rounds, arguments.ranks, arguments.threads = 300, 1, (2,), (DEFAULT,)
    return arguments


def _numbers(text: str) -> tuple[int, ...]:
    numbers = tuple(int(word) for word in text.split(","))
    if min(numbers) < 0:
        raise argparse.ArgumentTypeError("numbers from 0 are wanted")
    return numbers


def trials(arguments: argparse.Namespace, ways: list[Way]) -> Iterator[Trial]:
    """The ways in the innermost loop: a slow moment of the machine meets all of them."""
    for binding in arguments.bind:
        for ranks in arguments.ranks:
            for threads in arguments.threads:
                for way in ways:
                    yield Trial(Place(ranks, threads, binding), way)


def main(root: pathlib.Path, words: list[str]) -> int:
    arguments = parse(root, words)
    console, stamp = terminal.console(), terminal.stamp()
    folder = terminal.results_folder(root, arguments.out, stamp)
    ways, skipped = hpl_ways.find(root, arguments.build, [part for part in arguments.ways.split(",") if part])
    for name, reason in skipped.items():
        console.print(f"Skipped: {name}: {reason}", highlight=False, style="yellow")
    problem = Problem(arguments.order, arguments.block)
    plan = list(trials(arguments, ways))
    results = Results(problem, skipped)
    watch = machine.OthersWatch()
    with terminal.progress(console) as progress:
        task = progress.add_task("", total=arguments.rounds * len(plan))
        for _ in range(arguments.rounds):
            for trial in plan:
                progress.update(task, advance=1, description=f"{trial.place.label}: {trial.way.name}")
                if trial not in results.failed:
                    _measure(arguments, trial, results)
    return hpl_report.finish(console, folder, results, plan, arguments, stamp, watch.percent())


def _measure(arguments: argparse.Namespace, trial: Trial, results: Results) -> None:
    place, way = trial.place, trial.way
    solved = hpl_job.run(
        [*mpi_jobs.LAUNCHERS["openmpi"], *BINDINGS[place.binding]],
        place.ranks,
        way.variables | ({"OMP_NUM_THREADS": str(place.threads)} if place.threads else {}),
        way.words,
        results.problem,
        way.libraries,
        arguments.timeout,
    )
    if solved.reason:
        results.failed[trial] = Failure(way.name, f"hpcc, {place.label}", solved.reason)
        return
    results.seconds.setdefault(trial, []).append(solved.seconds)
    results.residuals.setdefault(trial, []).append(solved.residual)
