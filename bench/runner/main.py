# SPDX-License-Identifier: Apache-2.0
"""The command line of bench/run."""

import argparse
import importlib
import pathlib
import sys
from typing import Any

from . import (
    blas_calls,
    callers,
    files,
    machine,
    micro,
    nested,
    node,
    programs,
    report,
    runtimes,
    targets,
    terminal,
)
from .process import Session
from .targets import Verdict
from .terminal import positive

# Module of each that has options of its own.
OWN_OPTIONS = {
    "python": "python.main",
    "loops": "loops",
    "engines": "engines",
    "openblas": "openblas",
    "compile-cost": "compile_cost",
    "gauss-seidel": "gauss_seidel",
    "hpl": "hpl",
    "ifsker": "ifsker",
    "mpi": "mpi",
    "collectives": "collectives",
    "kv": "kv",
    "numa": "numa",
    "numa-cost": "numa_cost",
    "rwlock": "rwlock",
    "everything": "everything",
}
# What this module measures.
OWN = ("demo", "callers", "nested-blas", "blas-calls", "micro", "programs", "node", "all")


def parse(root: pathlib.Path) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="bench/run",
        description="Compares weft with other OpenMP runtimes, each measured in turn.",
        epilog="demo: a pool of callers, alone and beside other programs; nested BLAS, two problems; some calls. "
        "callers: the pool alone. nested-blas: every routine and type. "
        "blas-calls: calls of BLAS and LAPACK outside of regions. micro: single constructs. "
        "programs: real ones, under their own runtime too. node: processes at once. "
        "loops, engines, openblas, compile-cost: what weftcc does; gauss-seidel, hpl, ifsker, mpi: programs with MPI; "
        "collectives: the MPI's own and weft's; "
        "numa: a matrix times a vector on NUMA nodes; numa-cost: what weft numa costs; "
        "rwlock, kv: locks and stores between processes; python: Python programs; "
        "everything: one after the other; with options of their own.",
    )
    parser.add_argument("what", choices=OWN)
    parser.add_argument("--smoke", action="store_true", help="one round of little: does it run at all")
    parser.add_argument("--build", type=pathlib.Path, default=root / "build/release", help="the build to measure")
    parser.add_argument(
        "--runtimes",
        default=",".join(runtimes.DEFAULT),
        help=f"names, with commas between; there are {', '.join(runtimes.KNOWN)}",
    )
    parser.add_argument("--before", type=pathlib.Path, help="another build of weft, which is measured too")
    parser.add_argument("--rounds", type=positive, default=3, help="how often each is measured, in turn (default 3)")
    parser.add_argument("--repeat", type=positive, help="samples of each process (default: what suits the measure)")
    parser.add_argument(
        "--only",
        default="",
        help="nested-blas: these problems only, such as dgemm,ztrsm; programs: parts of names",
    )
    parser.add_argument("--openblas", type=pathlib.Path, help="another OpenBLAS: the library, or a folder that has it")
    parser.add_argument("--out", type=pathlib.Path, help="folder of the results (default bench/results/DATE)")
    parser.add_argument("--no-plots", action="store_true")
    return parser.parse_args()


def main(root: pathlib.Path) -> int:
    if sys.argv[1:2] and sys.argv[1] in OWN_OPTIONS:
        module = importlib.import_module(f".{OWN_OPTIONS[sys.argv[1]]}", __package__)
        return module.main(root, sys.argv[2:])
    arguments = parse(root)
    arguments.build = arguments.build.absolute()
    console, stamp = terminal.console(), terminal.stamp()
    folder = terminal.results_folder(root, arguments.out, stamp)
    chosen = runtimes.find(root, arguments.build, arguments.runtimes.split(","), arguments.before)
    blas = runtimes.openblas(arguments.build, arguments.openblas) if arguments.openblas else None
    machine.raise_limits()

    watch = machine.OthersWatch()
    with terminal.progress(console) as progress:
        task = progress.add_task("", total=None)
        session = Session(
            build=arguments.build,
            runtimes=chosen,
            rounds=1 if arguments.smoke else arguments.rounds,
            repeat=arguments.repeat,
            smoke=arguments.smoke,
            step=lambda text: progress.update(task, advance=1, description=text),
            blas=blas,
        )
        if arguments.what == "programs":
            programs_found = programs.measure(session, root, [name for name in arguments.only.split(",") if name])
        problems = _problems(session, arguments)
        measures_micro = arguments.what in ("micro", "all")
        measures_node = arguments.what in ("node", "all")
        counts = _callers(arguments)
        routines = _routines(arguments)
        total = (
            callers.count(session, counts)
            + blas_calls.count(session, routines)
            + nested.count(session, problems)
            + (micro.count(session) if measures_micro else 0)
        )
        progress.update(task, total=total + (node.count(session) if measures_node else 0))
        # The demo begins with what shows on every machine.
        pool_samples, pool_units = callers.measure(session, counts)
        results = [nested.measure(session, problem) for problem in problems]
        call_samples, call_units = blas_calls.measure(session, routines)
        samples, units = micro.measure(session) if measures_micro else ({}, {})
        node_samples, node_units = node.measure(session) if measures_node else ({}, {})
    others_percent = watch.percent()

    if arguments.what == "programs":
        programs.table(console, programs_found)

    names = session.names()
    verdicts: list[Verdict] = []
    if counts:
        title = "a pool of threads that call a library, medians" if arguments.what == "demo" else "medians"
        report.micro_table(console, pool_samples, pool_units, names, title=title)
    if problems:
        for result in results:
            report.nested_tables(console, result, names)
        report.untuned_table(console, results)
        verdicts += targets.nested_verdicts(results)
    if routines:
        report.micro_table(console, call_samples, call_units, names)
        verdicts += blas_calls.verdicts(call_samples, names)
    if measures_micro:
        report.micro_table(console, samples, units, names)
        verdicts += targets.micro_verdicts(samples, names)
    if measures_node:
        report.micro_table(console, node_samples, node_units, node.names(session), node.MOST_SECONDS)
        verdicts += node.verdicts(node_samples)
    # Targets are set against other runtimes, of which another version of weft is none.
    if arguments.before:
        verdicts = []
    # The demo shows what there is; targets are for machines that do nothing else.
    elif not arguments.smoke and arguments.what not in ("programs", "demo"):
        report.summary_table(console, verdicts)
    if arguments.what == "demo":
        report.gains_table(console, callers.gains(pool_samples, names) | nested.gains(results))
    report.failures(console, session.failures)
    if arguments.what != "demo":
        report.trust(console, others_percent)
    elif others_percent > report.QUIET_PERCENT:
        console.print(
            f"Other programs used {others_percent:.0f} % of the CPUs. What the pool gains shows all the same; "
            "what nested BLAS gains shows on a machine that is quiet.",
            highlight=False,
        )

    about: dict[str, Any] = {
        "date": stamp,
        "machine": machine.describe(),
        "cpu_percent_of_others": others_percent,
        "rounds": session.rounds,
        "runtimes": {runtime.name: str(runtime.file) for runtime in chosen},
    } | files.judged(verdicts, session.failures)
    if counts:
        files.write_micro(folder, pool_samples, pool_units, about, "callers")
    if problems:
        files.write_nested(folder, results, about)
    if routines:
        files.write_micro(folder, call_samples, call_units, about, "blas_calls")
    if measures_micro:
        files.write_micro(folder, samples, units, about)
    if measures_node:
        files.write_micro(folder, node_samples, node_units, about, "node")
    if arguments.what == "programs":
        files.write_json(folder, "programs", about | {"results": programs.as_json(programs_found)})
    if not arguments.no_plots and arguments.what != "programs":
        from . import plots  # slow to load

        for index, result in enumerate(results):
            plots.nested(folder, index, result)
        if measures_micro:
            plots.micro(folder, samples, units, names)
    console.print(f"Results: {folder}", highlight=False, soft_wrap=True)
    return 1 if session.failures else 0


def _callers(arguments: argparse.Namespace) -> tuple[int, ...]:
    if arguments.what not in ("demo", "callers", "all"):
        return ()
    return callers.DEMO if arguments.what == "demo" or arguments.smoke else callers.COUNTS


def _routines(arguments: argparse.Namespace) -> tuple[str, ...]:
    if arguments.what in ("callers", "nested-blas", "micro", "programs", "node"):
        return ()
    if arguments.smoke:
        return blas_calls.SMOKE
    return blas_calls.DEMO if arguments.what == "demo" else blas_calls.ALL


def _problems(session: Session, arguments: argparse.Namespace) -> list[nested.Problem]:
    if arguments.what in ("callers", "blas-calls", "micro", "programs", "node"):
        return []
    problems = nested.DEMO if arguments.what == "demo" else nested.every_kind()
    if arguments.smoke:
        problems = nested.SMOKE
    if arguments.only:
        wanted = arguments.only.split(",")
        unknown = set(wanted) - {problem.name for problem in nested.every_kind()}
        if unknown:
            raise SystemExit(f"bench/run: --only {', '.join(sorted(unknown))}: no such problem")
        problems = [problem for problem in problems if problem.name in wanted]
    if not pathlib.Path(session.program("nested_blas")).exists():
        raise SystemExit(f"bench/run: {session.build} has no nested_blas: it was built without libopenblas-openmp-dev")
    return problems
