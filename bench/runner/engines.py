# SPDX-License-Identifier: Apache-2.0
"""The command line of bench/run engines: one program by weftcc under each engine (WEFT_ENGINE), in turn."""

import argparse
import collections
import json
import os
import pathlib
import statistics
import subprocess
from typing import Any

from . import files, machine, report, terminal
from .process import OWN_VARIABLES, TIMEOUT_S, Failure, summary
from .terminal import positive

# In the order of the table. The program by hand is the same loops written for oneTBB, without weft.
ENGINES = ("weft", "serial", "task", "taskloop", "tbb", "taskflow", "argobots")
BY_HAND = "tbb by hand"
# Of bench/loops.
MEASURES = ("flat_10", "flat_50", "8x64", "64x4", "triangle", "power_law")
Samples = dict[str, dict[str, list[float]]]  # by engine and measure: nanoseconds


def parse(root: pathlib.Path, words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="bench/run engines",
        description="Compares the libraries that can run loops of weftcc's programs; see docs/explanation/engines.md.",
    )
    parser.add_argument("--engines", default=",".join(ENGINES), help="names, with commas between (default: all)")
    parser.add_argument("--smoke", action="store_true", help="one round of little: does it run at all")
    parser.add_argument("--build", type=pathlib.Path, default=root / "build/release", help="the build to measure")
    parser.add_argument("--rounds", type=positive, default=5, help="how often each is measured, in turn (default 5)")
    parser.add_argument("--repeat", type=positive, help="samples of each process (default 15)")
    parser.add_argument("--out", type=pathlib.Path, help="folder of the results (default bench/results/DATE)")
    arguments = parser.parse_args(words)
    arguments.build = arguments.build.absolute()
    if not (arguments.build / "bench/loops_weftcc").exists():
        parser.error(f"{arguments.build} has no bench/loops_weftcc: it was built without LLVM 19 (run scripts/setup)")
    unknown = set(arguments.engines.split(",")) - set(ENGINES)
    if unknown:
        parser.error(f"--engines {', '.join(sorted(unknown))}: there are {', '.join(ENGINES)}")
    return arguments


def _rows(arguments: argparse.Namespace) -> tuple[dict[str, pathlib.Path], list[str]]:
    """The program of each row, and the rows that this build does not have."""
    bench, libraries = arguments.build / "bench", arguments.build / "lib/weft"
    rows = {name: bench / "loops_weftcc" for name in arguments.engines.split(",")}
    missing = [name for name in rows if name != "weft" and not (libraries / f"libweft_engine_{name}.so").exists()]
    if "tbb" in rows:
        rows[BY_HAND] = bench / "loops_tbb"
        if not rows[BY_HAND].exists():
            missing.append(BY_HAND)
    return {name: program for name, program in rows.items() if name not in missing}, missing


def _run(arguments: argparse.Namespace, name: str, program: pathlib.Path) -> tuple[dict[str, Any], str]:
    """What the program has measured, or why it is no result."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith(OWN_VARIABLES)}
    if name != BY_HAND:
        environment |= {"WEFT_ENGINE": name, "WEFT_STATS": "true"}
    repeat = arguments.repeat or (2 if arguments.smoke else 15)
    command = [str(program), "--repeat", str(repeat), *(["--milliseconds", "1"] if arguments.smoke else []), *MEASURES]
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
    except subprocess.TimeoutExpired:
        return {}, f"no end after {TIMEOUT_S} s"
    if done.returncode != 0:
        return {}, f"exit status {done.returncode} {done.stderr.strip()[-300:]}".strip()
    if name not in ("weft", BY_HAND) and "regions that the engine has run: " not in done.stderr:
        return {}, "the runtime does not know of engines"
    if "regions that the engine has run: 0\n" in done.stderr or "loops run on weft" in done.stderr:
        return {}, f"the loops ran on weft: {done.stderr.splitlines()[0]}"
    return json.loads(done.stdout), ""


def _table(samples: Samples) -> report.Table:
    measures = list(next(iter(samples.values())))
    columns = [column for measure in measures for column in (measure, "/ weft")]
    table = report.new_table("loops of weftcc's programs by engine: us, medians", "engine", *columns)
    for name, taken in samples.items():
        row = [name]
        for measure in measures:
            median = statistics.median(taken[measure])
            own = samples.get("weft", {}).get(measure)
            ratio = f"{median / statistics.median(own):.2f}" if own else ""
            row += [report.short(1e-3 * median), ratio]
        table.add_row(*row)
    return table


def main(root: pathlib.Path, words: list[str]) -> int:
    arguments = parse(root, words)
    console, stamp = terminal.console(), terminal.stamp()
    folder = terminal.results_folder(root, arguments.out, stamp)
    rows, missing = _rows(arguments)
    rounds = 1 if arguments.smoke else arguments.rounds
    taken: Samples = {name: collections.defaultdict(list) for name in rows}
    failed: dict[str, Failure] = {}
    watch = machine.OthersWatch()
    with terminal.progress(console) as progress:
        task = progress.add_task("", total=rounds * len(rows))
        for _ in range(rounds):
            for name, program in rows.items():
                progress.update(task, advance=1, description=name)
                if name in failed:
                    continue
                result, reason = _run(arguments, name, program)
                if reason:
                    failed[name] = Failure(name, str(program), reason)
                for measure, value in result.items():
                    if isinstance(value, dict) and "samples" in value:
                        taken[name][measure] += value["samples"]
    samples = {name: dict(values) for name, values in taken.items() if values and name not in failed}
    if samples:
        console.print(_table(samples))
    for name in missing:
        why = "this build does not have it; scripts/setup-engines says what it needs"
        console.print(f"No row {name}: {why}.", highlight=False)
    report.failures(console, list(failed.values()))
    others_percent = watch.percent()
    report.trust(console, others_percent)
    about = report.run_of(stamp, others_percent, rounds) | {
        "missing": missing,
        "unit": "ns",
        "failures": [vars(failure) for failure in failed.values()],
        "results": {
            name: {measure: summary(values) | {"all": values} for measure, values in measures.items()}
            for name, measures in samples.items()
        },
    }
    files.write_json(folder, "engines", about)
    return report.finish(console, folder, list(failed.values()))
