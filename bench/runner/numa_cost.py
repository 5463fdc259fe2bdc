# SPDX-License-Identifier: Apache-2.0
"""What `weft numa` costs a program with much memory, and how long its report takes."""

import argparse
import os
import pathlib
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

PLAIN = "plain"
# By the options of weft numa.
WAYS = {"--touch off": ["--touch", "off"], "by page faults": [], "--protect": ["--protect"]}
PHASES = ("initialisation", "passes", "program")
SLOWDOWN_LIMIT, REPORT_LIMIT_S = 1.05, 2.0
SMOKE_MEGABYTES, SMOKE_PASSES = 64, 2
TIMEOUT_S = 600

Samples = dict[str, dict[str, list[float]]]


def parse(root: pathlib.Path, words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="bench/run numa-cost",
        description="Runs a program with two arrays alone and under weft numa, in turn: its time, and the report's.",
    )
    parser.add_argument("--smoke", action="store_true", help="one round of little: does it run at all")
    parser.add_argument("--build", type=pathlib.Path, default=root / "build/release", help="the build to measure")
    parser.add_argument("--megabytes", type=positive, default=2048, help="of both arrays together (default 2048)")
    parser.add_argument("--passes", type=positive, default=40, help="over the arrays (default 40)")
    parser.add_argument("--rounds", type=positive, default=9, help="how often each is run, in turn (default 9)")
    parser.add_argument("--out", type=pathlib.Path, help="folder of the results (default bench/results/DATE)")
    arguments = parser.parse_args(words)
    if arguments.smoke:
        arguments.megabytes, arguments.passes, arguments.rounds = SMOKE_MEGABYTES, SMOKE_PASSES, 1
    return arguments


def main(root: pathlib.Path, words: list[str]) -> int:
    arguments = parse(root, words)
    console, stamp = terminal.console(), terminal.stamp()
    program = [str(arguments.build / "bench/numa_cost"), str(arguments.megabytes), str(arguments.passes)]
    weft = str(arguments.build / "bin/weft")
    watch, failed = machine.OthersWatch(), list[Failure]()
    with terminal.progress(console) as progress:
        task = progress.add_task("", total=arguments.rounds * (1 + len(WAYS)))
        step = lambda text: progress.update(task, advance=1, description=text)  # noqa: E731
        samples = measure(program, weft, arguments.rounds, step, failed)
    others_percent = watch.percent()
    table(console, samples)
    verdicts = [] if arguments.smoke or failed else judge(samples)
    report.summary_table(console, verdicts)
    report.failures(console, failed)
    report.trust(console, others_percent)
    folder = terminal.results_folder(root, arguments.out, stamp)
    about = {
        "date": stamp,
        "machine": machine.describe(),
        "cpu_percent_of_others": others_percent,
        "megabytes": arguments.megabytes,
        "passes": arguments.passes,
        "samples": samples,
    }
    files.write_json(folder, "numa_cost", about | files.judged(verdicts, failed))
    console.print(f"Results: {folder}", highlight=False, soft_wrap=True)
    return 1 if failed else 0


def measure(program: list[str], weft: str, rounds: int, step: Callable[[str], None], failed: list[Failure]) -> Samples:
    """By the way to run and the phase; `report` is what the command takes beside the program."""
    samples: Samples = {way: {} for way in (PLAIN, *WAYS)}
    environment = {name: value for name, value in os.environ.items() if not name.startswith("WEFT")}
    with tempfile.TemporaryDirectory() as name:
        for _ in range(rounds):
            for way, found in samples.items():
                step(way)
                reports = ["--json", f"{name}/report.json", "--svg", f"{name}/report.svg"]
                command = program if way == PLAIN else [weft, "numa", *WAYS[way], *reports, "--", *program]
                began = time.perf_counter()
                done = subprocess.run(
                    command, env=environment, check=False, capture_output=True, text=True, timeout=TIMEOUT_S
                )
                passed = time.perf_counter() - began
                if done.returncode != 0:
                    failed.append(Failure(way, " ".join(command), done.stderr.strip()))
                    continue
                seconds = [float(word) for word in done.stdout.split()]
                for phase, value in zip(PHASES, seconds, strict=True):
                    found.setdefault(phase, []).append(value)
                found.setdefault("beside", []).append(passed - seconds[-1])
    return samples


def judge(samples: Samples) -> list[Verdict]:
    median = {
        way: {what: statistics.median(values) for what, values in found.items()} for way, found in samples.items()
    }
    plain = median[PLAIN]
    verdicts = []
    for way in WAYS:
        ratio = median[way]["program"] / plain["program"]
        verdicts.append(Verdict("program / alone", way, ratio, SLOWDOWN_LIMIT, ""))
        beside = median[way]["beside"] - plain["beside"]
        verdicts.append(Verdict("start and report", way, beside, REPORT_LIMIT_S, "s"))
    return verdicts


def table(console: Console, samples: Samples) -> None:
    shown = report.new_table("seconds: median (least to most)", "way", *PHASES, "start, end, report")
    for way, found in samples.items():
        cells = [
            f"{statistics.median(found[what]):.3f} ({min(found[what]):.3f} to {max(found[what]):.3f})"
            for what in (*PHASES, "beside")
            if what in found
        ]
        shown.add_row(way if way == PLAIN else f"weft numa {way}", *cells)
    console.print(shown)
