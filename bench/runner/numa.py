# SPDX-License-Identifier: Apache-2.0
"""A matrix times a vector on NUMA nodes: speed by threads, and which share of the matrix is read from other nodes.

On this machine, or in a guest with two nodes (--guest), whose times say little: its nodes have one memory."""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

from rich.console import Console

from . import files, machine, report, runtimes, terminal
from .process import Failure
from .targets import Verdict
from .terminal import positive

TOUCHES = ("serial", "parallel")
# Threads are where the system has them, or one on each core, the nodes in turn.
BINDINGS = {"free": {}, "bound": {"OMP_PROC_BIND": "spread", "OMP_PLACES": "cores"}}
SERIAL_REMOTE, SERIAL_TOLERANCE, PARALLEL_REMOTE_LIMIT = 0.5, 0.02, 0.02
SMOKE_SIZE, GUEST_SIZE, GUEST_CPUS = 256, 1600, 4
TIMEOUT_S = 600

Row = dict[str, Any]


def parse(root: pathlib.Path, words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench/run numa", description=__doc__)
    parser.add_argument("--smoke", action="store_true", help="one round of little: does it run at all")
    parser.add_argument("--guest", action="store_true", help="in a machine with two nodes, made by an emulator")
    parser.add_argument("--build", type=pathlib.Path, default=root / "build/release", help="the build to measure")
    parser.add_argument("--size", type=positive, help="rows and columns (default 12000; in a guest 1600)")
    parser.add_argument("--repetitions", type=positive, default=10, help="products of a run (default 10)")
    parser.add_argument("--rounds", type=positive, default=5, help="how often each is run, in turn (default 5)")
    parser.add_argument("--runtimes", default=",".join(runtimes.DEFAULT), help="names, with commas between")
    parser.add_argument("--out", type=pathlib.Path, help="folder of the results (default bench/results/DATE)")
    arguments = parser.parse_args(words)
    if arguments.size is None:
        arguments.size = GUEST_SIZE if arguments.guest else 12000
    if arguments.guest:
        arguments.rounds, arguments.repetitions = 1, 3
    if arguments.smoke:
        arguments.size, arguments.repetitions, arguments.rounds = SMOKE_SIZE, 2, 1
    return arguments


def main(root: pathlib.Path, words: list[str]) -> int:
    arguments = parse(root, words)
    console, stamp = terminal.console(), terminal.stamp()
    watch, failed = machine.OthersWatch(), list[Failure]()
    found = runtimes.find(root, arguments.build, arguments.runtimes.split(","))
    runner = in_guest if arguments.guest else on_this_machine
    rows = runner(console, arguments, found, failed)
    others_percent = watch.percent()
    table(console, rows)
    nodes = {node for row in rows for node in row["pages"]}
    if not arguments.guest and len(nodes) < 2:
        console.print("This machine has one NUMA node: nothing is remote. --guest runs it on two.")
    verdicts = judge(rows) if arguments.guest and not failed else []
    report.summary_table(console, verdicts)
    report.failures(console, failed)
    report.trust(console, others_percent)
    folder = terminal.results_folder(root, arguments.out, stamp)
    about = {
        "date": stamp,
        "machine": machine.describe(),
        "cpu_percent_of_others": others_percent,
        "guest": arguments.guest,
        "rows": rows,
    }
    files.write_json(folder, "numa", about | files.judged(verdicts, failed))
    console.print(f"Results: {folder}", highlight=False, soft_wrap=True)
    return 1 if failed else 0


def cases(found: list[runtimes.Runtime], cpus: int) -> Iterator[tuple[runtimes.Runtime, str, int, str]]:
    """Runtime, binding, threads, first touch."""
    counts = sorted({1, *range(2, cpus + 1, 2), cpus})
    for touch in TOUCHES:
        for threads in counts:
            for binding in BINDINGS:
                for runtime in found:
                    yield runtime, binding, threads, touch


def words_of(arguments: argparse.Namespace, touch: str) -> list[str]:
    return [str(arguments.size), str(arguments.size), str(arguments.repetitions), touch]


def on_this_machine(
    console: Console, arguments: argparse.Namespace, found: list[runtimes.Runtime], failed: list[Failure]
) -> list[Row]:
    cpus = len(os.sched_getaffinity(0))
    every = list(cases(found, cpus)) * arguments.rounds
    rows = []
    with terminal.progress(console) as progress:
        task = progress.add_task("", total=len(every))
        for runtime, binding, threads, touch in every:
            progress.update(task, advance=1, description=f"{runtime.name}, {threads}, {touch}")
            environment = os.environ | BINDINGS[binding] | {
                "OMP_NUM_THREADS": str(threads),
                "LD_LIBRARY_PATH": str(runtime.directory),
            }
            command = [str(arguments.build / "bench/dgemv"), *words_of(arguments, touch)]
            done = subprocess.run(
                command, env=environment, check=False, capture_output=True, text=True, timeout=TIMEOUT_S
            )
            if done.returncode != 0:
                failed.append(Failure(f"{runtime.name}, {threads} threads", " ".join(command), done.stderr.strip()))
                continue
            rows.append({"runtime": runtime.name, "binding": binding, **json.loads(done.stdout)})
    return rows


def in_guest(
    console: Console, arguments: argparse.Namespace, found: list[runtimes.Runtime], failed: list[Failure]
) -> list[Row]:
    """All in one guest. Threads are bound, as first touch needs; with interleaved memory beside."""
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests/numa/guest"))
    import guest  # noqa: PLC0415: only where it is asked for

    program, weft = arguments.build / "bench/dgemv", arguments.build / "bin/weft"
    libraries = arguments.build / "lib/weft"
    commands, about = [], []
    for runtime, binding, threads, touch in cases(found, GUEST_CPUS):
        if binding != "bound" or (threads != GUEST_CPUS and arguments.smoke):
            continue
        variables = " ".join(f"{name}={value}" for name, value in BINDINGS[binding].items())
        line = f"LD_LIBRARY_PATH={runtime.directory} OMP_NUM_THREADS={threads} {variables}"
        commands.append(f"env {line} {program} {' '.join(words_of(arguments, touch))}")
        about.append({"runtime": runtime.name, "binding": binding})
    commands.append(f"{weft} run --numa interleave -- {program} {' '.join(words_of(arguments, 'serial'))}")
    about.append({"runtime": "weft", "binding": "--numa interleave"})
    held = [path for runtime in found for path in runtime.directory.iterdir()]
    audit = [libraries / "libgomp.so.1", libraries / "libweft_audit.so"]
    console.print(f"{len(commands)} runs in a guest ...")
    try:
        code, printed = guest.run("\n".join(commands), [program, weft, *audit, *held], cpus=GUEST_CPUS, timeout=TIMEOUT_S)
    except guest.NoGuest as missing:
        raise SystemExit(f"bench/run numa --guest: {missing}") from missing
    lines = printed.splitlines()
    if code != 0 or len(lines) != len(commands):
        failed.append(Failure("guest", "; ".join(commands), printed))
        return []
    return [row | json.loads(line) for row, line in zip(about, lines, strict=True)]


def judge(rows: list[Row]) -> list[Verdict]:
    verdicts = []
    for row in rows:
        if row["threads"] < GUEST_CPUS or row["binding"] != "bound":
            continue
        if row["first_touch"] == "serial":
            off = abs(row["remote_before"] - SERIAL_REMOTE)
            verdicts.append(Verdict("remote share, off one half", f"{row['runtime']}, serial", off, SERIAL_TOLERANCE, ""))
        else:
            share = row["remote_before"]
            verdicts.append(Verdict("remote share", f"{row['runtime']}, parallel", share, PARALLEL_REMOTE_LIMIT, ""))
    return verdicts


def table(console: Console, rows: list[Row]) -> None:
    shown = report.new_table(
        "c = A b, by first touch: median seconds, speed-up over one thread's, share read from other nodes",
        "runtime", "threads", "first touch", "seconds", "speed-up", "GFLOP/s", "remote", "pages by node",
        left=3,
    )
    groups: dict[tuple[str, int, str], list[Row]] = {}
    for row in rows:
        key = (f"{row['runtime']}, {row['binding']}", row["threads"], row["first_touch"])
        groups.setdefault(key, []).append(row)
    median: Callable[[list[Row], str], float] = lambda group, what: statistics.median(row[what] for row in group)  # noqa: E731
    for (name, threads, touch), group in sorted(groups.items()):
        seconds = median(group, "together_s")
        flops = 2 * group[0]["rows"] * group[0]["columns"]
        pages = group[0]["pages"]
        shown.add_row(
            name, str(threads), touch, f"{seconds:.4f}", f"{median(group, 'alone_s') / seconds:.2f}",
            f"{flops / seconds / 1e9:.2f}", f"{100 * median(group, 'remote_before'):.1f} %",
            ", ".join(f"{node}: {100 * count / sum(pages.values()):.0f} %" for node, count in pages.items()),
        )
    console.print(shown)
