# SPDX-License-Identifier: Apache-2.0
"""A matrix times a vector on NUMA nodes: by who initialises it, threads, binding and automatic balancing."""

import argparse
import pathlib

from . import files, machine, numa_places, numa_tables, report, runtimes, terminal
from .numa_cases import FIRST_TOUCHES, INTERLEAVED, Case, Samples
from .process import Session
from .targets import Verdict
from .terminal import positive

# Of the largest matrix's memory, as the source paper's sizes: 3, 12 and 18 GiB.
PARTS_OF_MEMORY = (1 / 6, 2 / 3, 1.0)
MOST_THREAD_COUNTS = 8
SMOKE_ROWS, GUEST_ROWS = 300, 1600
REPETITIONS, BALANCED = "5", "8s"  # balancing looks at a process once a second at most
GUEST_REPETITIONS, SMOKE_REPETITIONS = "3", "2"
SERIAL_REMOTE, SERIAL_TOLERANCE, PARALLEL_REMOTE = 50.0, 2.0, 2.0  # percent


def parse(root: pathlib.Path, words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="bench/run numa",
        description="Multiplies a matrix and a vector row by row: time and speed-up by threads, and what they access "
        "on other NUMA nodes; with serial and parallel first touch, bound or not, and automatic balancing on and off.",
    )
    parser.add_argument("--guest", action="store_true", help="in an emulated machine with two nodes")
    parser.add_argument("--smoke", action="store_true", help="one round of little: does it run at all")
    parser.add_argument("--build", type=pathlib.Path, default=root / "build/release", help="the build to measure")
    parser.add_argument(
        "--runtimes",
        default=",".join(runtimes.DEFAULT),
        help=f"names, with commas between; there are {', '.join(runtimes.KNOWN)}",
    )
    parser.add_argument("--rows", help="of the square matrices, with commas between (default: from --megabytes)")
    parser.add_argument("--megabytes", type=positive, help="of the largest matrix (default: an eighth of what is free)")
    parser.add_argument("--threads", help="how many, with commas between (default: 1 to all CPUs)")
    parser.add_argument("--rounds", type=positive, help="how often each is measured, in turn (default 3; in a guest 1)")
    parser.add_argument("--accelerator", choices=("kvm", "tcg"), help="of the guest (default: KVM where it works)")
    parser.add_argument("--cpus", type=positive, default=4, help="of the guest (default 4)")
    parser.add_argument("--out", type=pathlib.Path, help="folder of the results (default bench/results/DATE)")
    return parser.parse_args(words)


def main(root: pathlib.Path, words: list[str]) -> int:
    arguments = parse(root, words)
    arguments.build = arguments.build.absolute()
    chosen = runtimes.find(root, arguments.build, arguments.runtimes.split(","))
    if not (arguments.build / "bench/dgemv").exists():
        raise SystemExit(f"bench/run: {arguments.build} has no bench/dgemv; build the target dgemv")
    console, stamp = terminal.console(), terminal.stamp()
    nodes = 2 if arguments.guest else numa_places.nodes_here()
    if nodes == 1:
        console.print(
            "This machine has one NUMA node: every access is local, and first touch, interleaving and balancing change "
            "nothing. bench/run numa --guest takes a machine with two.",
            highlight=False,
        )
    cases = cases_of(arguments, nodes)
    rounds = 1 if arguments.smoke else arguments.rounds or (1 if arguments.guest else 3)
    watch = machine.OthersWatch()
    with terminal.progress(console) as progress:
        task = progress.add_task("", total=len(cases) * len(chosen) * rounds)
        session = Session(
            build=arguments.build,
            runtimes=chosen,
            rounds=rounds,
            repeat=None,
            smoke=arguments.smoke,
            step=lambda text: progress.update(task, advance=1, description=text),
        )
        if arguments.guest:
            place = numa_places.Guest(root, arguments.cpus, arguments.accelerator)
            samples = numa_places.measure_in_guest(session, cases, place)
        else:
            samples = numa_places.measure(session, cases)
    others_percent = watch.percent()

    numa_tables.speedups(console, samples, session.names())
    numa_tables.accesses(console, samples, session.names())
    verdicts = [] if arguments.smoke or nodes == 1 else judge(samples, session.names())
    report.summary_table(console, verdicts)
    report.failures(console, session.failures)
    report.trust(console, others_percent)
    folder = terminal.results_folder(root, arguments.out, stamp)
    about = report.run_of(stamp, others_percent, rounds) | {
        "guest": arguments.guest,
        "nodes": nodes,
        "results": numa_tables.as_json(samples),
    }
    files.write_json(folder, "numa", about | files.judged(verdicts, session.failures))
    return report.finish(console, folder, session.failures)


def cases_of(arguments: argparse.Namespace, nodes: int) -> list[Case]:
    cpus = arguments.cpus if arguments.guest else machine.cpus()
    every = numbers("--threads", arguments.threads) if arguments.threads else thread_counts(cpus)
    repetitions = GUEST_REPETITIONS if arguments.guest else REPETITIONS
    sizes = numbers("--rows", arguments.rows) if arguments.rows else sizes_of(arguments)
    if arguments.smoke:
        repetitions = SMOKE_REPETITIONS
    cases = [
        Case(rows, first_touch, threads, bound, False, repetitions)
        for rows in sizes
        for first_touch in FIRST_TOUCHES
        if first_touch != INTERLEAVED or nodes > 1
        for bound in (False, True)
        for threads in every
    ]
    if nodes == 1 or not (arguments.guest or numa_places.may_balance()):
        return cases
    # Pages move in a program that goes on for long enough: with all threads only.
    return cases + [
        Case(rows, first_touch, every[-1], bound, True, BALANCED)
        for rows in sizes
        for first_touch in ("serial", "parallel")
        for bound in (False, True)
    ]


def numbers(option: str, text: str) -> list[int]:
    try:
        return [positive(word) for word in text.split(",")]
    except (ValueError, argparse.ArgumentTypeError):
        raise SystemExit(f"bench/run: {option} {text}: numbers from 1 are wanted, with commas between") from None


def thread_counts(cpus: int) -> list[int]:
    """1 to all, some of them where there are many."""
    most = min(cpus, MOST_THREAD_COUNTS)
    return sorted({1, *(round(cpus * step / most) for step in range(1, most + 1))})


def sizes_of(arguments: argparse.Namespace) -> list[int]:
    if arguments.smoke:
        return [SMOKE_ROWS]
    if arguments.guest and not arguments.megabytes:
        return [GUEST_ROWS]
    most = arguments.megabytes << 20 if arguments.megabytes else numa_places.free_bytes() / 8
    return sorted({int((most * part / 8) ** 0.5) for part in PARTS_OF_MEMORY})


def judge(samples: Samples, names: list[str]) -> list[Verdict]:
    """What all bound threads access on other nodes, without balancing."""
    verdicts = []
    most = max((case.threads for _, case in samples), default=0)
    for (name, case), results in samples.items():
        if name not in names or not case.bound or case.balanced or case.threads != most:
            continue
        share = 100 * numa_tables.median_of(results, "remote")
        text = f"{name}, {case.rows} rows"
        if case.first_touch == "serial":
            verdicts.append(
                Verdict("serial first touch: off 50 % remote", text, abs(share - SERIAL_REMOTE), SERIAL_TOLERANCE, "%")
            )
        elif case.first_touch == "parallel":
            verdicts.append(Verdict("parallel first touch: remote", text, share, PARALLEL_REMOTE, "%"))
    return verdicts
