# SPDX-License-Identifier: Apache-2.0
"""The command line of bench/run."""
import argparse
import datetime
import pathlib

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from . import micro, nested, process, report, runtimes


def parse(root: pathlib.Path) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench/run", description="Compares weft with other OpenMP runtimes.")
    parser.add_argument("what", choices=("demo", "nested-blas", "micro", "all"))
    parser.add_argument("--smoke", action="store_true", help="one round of little: does it run at all")
    parser.add_argument("--build", type=pathlib.Path, default=root / "build/release", help="the build to measure")
    parser.add_argument("--runtimes", default="weft,libgomp,libiomp5", help="names, with commas between")
    parser.add_argument("--rounds", type=int, default=3, help="how often each is measured, in turn (default 3)")
    parser.add_argument("--out", type=pathlib.Path, help="folder of the results (default bench/results/DATE)")
    parser.add_argument("--no-plots", action="store_true")
    arguments = parser.parse_args()
    if arguments.rounds < 1:
        parser.error("--rounds must be at least 1")
    return arguments


def main(root: pathlib.Path) -> int:
    arguments = parse(root)
    console = Console()
    if not console.is_terminal:
        console = Console(width=150)
    chosen = runtimes.find(root, arguments.build, arguments.runtimes.split(","))
    names = [runtime.name for runtime in chosen]
    stamp = datetime.datetime.now(tz=datetime.timezone.utc).strftime("%Y-%m-%d-%H%M%S")
    folder = arguments.out or root / "bench/results" / stamp
    rounds = 1 if arguments.smoke else arguments.rounds
    repeat = 4 if arguments.smoke else 24
    columns = (TextColumn("{task.description:60.60}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    try:
        if arguments.what in ("demo", "nested-blas", "all"):
            problems = nested.every_kind() if arguments.what == "nested-blas" and not arguments.smoke else nested.DEMO
            run_nested(console, columns, arguments, problems, chosen, names, folder, rounds, repeat)
        if arguments.what in ("micro", "all"):
            run_micro(console, columns, arguments, chosen, names, folder, rounds)
    except process.Wrong as wrong:
        console.print(f"bench/run: {wrong}", style="bold", highlight=False)
        return 1
    console.print(f"Results: {folder}")
    return 0


def run_nested(console, columns, arguments, problems, chosen, names, folder, rounds, repeat) -> None:
    program = arguments.build / "bench/nested_blas"
    if not program.exists():
        raise process.Wrong(f"{program} is not there: the build found no OpenBLAS (libopenblas-openmp-dev)")
    cpus = micro.cpus()
    results = []
    with Progress(*columns, console=console, transient=True) as progress:
        total = nested.processes(len(problems), len(chosen), cpus, rounds, "weft" in names)
        task = progress.add_task("nested BLAS", total=total)
        for problem in problems:
            step = lambda text: progress.update(task, advance=1, description=text)  # noqa: E731
            results.append(nested.measure(problem, program, chosen, cpus, rounds, repeat, step))
    for result in results:
        report.nested_tables(console, result, names, cpus)
    report.write_nested(folder, results, report.nested_verdicts(console, results), not arguments.no_plots)


def run_micro(console, columns, arguments, chosen, names, folder, rounds) -> None:
    micro.raise_limits()
    each = sum(len(micro.names(policy)) for policy in micro.POLICIES) + 1
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("constructs", total=rounds * len(chosen) * each)
        step = lambda text: progress.update(task, advance=1, description=text)  # noqa: E731
        samples = micro.measure(arguments.build, chosen, rounds, step)
    rows = micro.verdicts(samples, names)
    report.micro_table(console, rows, names)
    report.write_micro(folder, samples, rows)
