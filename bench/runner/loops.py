# SPDX-License-Identifier: Apache-2.0
"""The command line of bench/run loops: combined parallel loops by weftcc against all other ways to run them."""

import argparse
import collections
import dataclasses
import pathlib
import statistics
from collections.abc import Iterable, Mapping

from rich.console import Console

from . import files, machine, report, runtimes, terminal
from .process import Session
from .targets import Key, Verdict
from .terminal import positive

FLAT = ("flat_1", "flat_5", "flat_10", "flat_50", "flat_1000", "reduction_10")
NESTS = ("8x8", "64x4", "8x64", "3x64", "triangle", "power_law")
UNBALANCED = ("3x64", "triangle", "power_law")
TINY = ("8x8", "64x4")
SLEEPING = "sleeping_3x16"
SLEEPERS = 8  # CPUs that the sleeping nest is to have, on any machine
SCHEDULES = ("static", "dynamic,1", "guided")
# Splits of the sleeping nest's members that one would try by hand.
SPLITS = ("8,1", "1,8", "3,1", "3,2", "3,3", "2,4")


@dataclasses.dataclass(frozen=True)
class Variant:
    """One way to run a nest or a loop. `group` is its column; the best of a column counts."""

    group: str
    program: str
    runtime: str
    variables: Mapping[str, str]


def parse(root: pathlib.Path, words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="bench/run loops",
        description="Compares programs by weftcc with those by clang and gcc, each on its runtime, and oneTBB.",
    )
    parser.add_argument("--smoke", action="store_true", help="one round of little: does it run at all")
    parser.add_argument("--build", type=pathlib.Path, default=root / "build/release", help="the build to measure")
    parser.add_argument("--rounds", type=positive, default=5, help="how often each is measured, in turn (default 5)")
    parser.add_argument("--repeat", type=positive, help="samples of each process (default 15)")
    parser.add_argument("--only", default="", help="these loops only, with commas between")
    parser.add_argument("--out", type=pathlib.Path, help="folder of the results (default bench/results/DATE)")
    arguments = parser.parse_args(words)
    arguments.build = arguments.build.absolute()
    if not (arguments.build / "bench/loops_weftcc").exists():
        parser.error(f"{arguments.build} has no bench/loops_weftcc: it was built without LLVM 19 (run scripts/setup)")
    unknown = set(filter(None, arguments.only.split(","))) - {*FLAT, *NESTS, SLEEPING}
    if unknown:
        parser.error(f"--only {', '.join(sorted(unknown))}: there are {', '.join((*FLAT, *NESTS, SLEEPING))}")
    return arguments


def variants(measure: str) -> Iterable[Variant]:
    """Every way to run this loop."""
    peers = (("libgomp", "loops_gcc", "libgomp"), ("libiomp5", "loops_clang", "libiomp5"))
    if measure == SLEEPING:
        own = {"WEFT_NUM_CPUS": str(SLEEPERS)}
        for split in SPLITS:
            for name, program, runtime in peers:
                yield Variant(f"{name}, tuned", program, runtime, {"OMP_NUM_THREADS": split})
            yield Variant("weft, tuned", "loops_clang", "weft", own | {"OMP_NUM_THREADS": split})
        yield Variant("weft", "loops_clang", "weft", own)
        yield Variant("weftcc", "loops_weftcc", "weft", own)
        return
    yield Variant("weftcc", "loops_weftcc", "weft", {})
    yield Variant("weft", "loops_clang", "weft", {})
    yield Variant("oneTBB", "loops_tbb", "libgomp", {})
    if measure in FLAT:
        for name, program, runtime in peers:
            yield Variant(name, program, runtime, {"OMP_MAX_ACTIVE_LEVELS": "1"})
        return
    for name, program, runtime in peers:
        yield Variant(f"{name}, nested", program, runtime, {"OMP_SCHEDULE": "static"})
    for schedule in SCHEDULES:
        for name, program, runtime in (*peers, ("weft", "loops_clang", "weft")):
            tuned = {"OMP_SCHEDULE": schedule, "OMP_MAX_ACTIVE_LEVELS": "1"}
            yield Variant(f"{name}, tuned", program, runtime, tuned)


def _key(variant: Variant) -> str:
    words = " ".join(f"{name}={value}" for name, value in variant.variables.items())
    return f"{variant.group}: {words}" if words else variant.group


def _measure(session: Session, chosen: list[str]) -> dict[str, dict[Variant | str, list[float]]]:
    taken: dict[str, dict[str, list[float]]] = {name: collections.defaultdict(list) for name in chosen}
    known = {runtime.name: runtime for runtime in session.runtimes}
    repeat = session.repeat or (2 if session.smoke else 15)
    for _ in range(session.rounds):
        for measure in chosen:
            for variant in variants(measure):
                session.step(f"{measure}: {_key(variant)}")
                program = session.program(variant.program)
                if not pathlib.Path(program).exists():
                    continue  # oneTBB's, where it is not installed; the table has no such column then
                fill = ["--milliseconds", 1] if session.smoke else []
                command = [program, "--repeat", repeat, *fill, measure]
                result = session.run(known[variant.runtime], command, variant.variables)
                if result:
                    taken[measure][_key(variant)] += result[measure]["samples"]
    return taken


def _columns(measure: str, taken: Mapping[str, list[float]]) -> dict[str, float]:
    """Of each group, the median of its best variant."""
    best: dict[str, float] = {}
    for variant in variants(measure):
        samples = taken.get(_key(variant))
        if samples:
            median = statistics.median(samples)
            best[variant.group] = min(best.get(variant.group, median), median)
    return best


def verdicts(measure: str, best: Mapping[str, float]) -> list[Verdict]:
    own = best.get("weftcc")
    if own is None:
        return []
    found = []

    def judge(what: str, peers: Iterable[str], limit: float) -> None:
        values = [best[name] for name in peers if name in best]
        if values:
            found.append(Verdict(what, measure, own / min(values), limit, ""))

    judge("by weftcc / by clang, on weft", ["weft"], 0.8 if measure in TINY else 1.02)
    if measure in FLAT:
        judge("flat loop / best peer", ["libgomp", "libiomp5", "oneTBB"], 1.0)
    if measure == "8x64":
        judge("nest / oneTBB by hand", ["oneTBB"], 0.9)
        judge("nest / best peer, nested", ["libgomp, nested", "libiomp5, nested"], 0.4)
    if measure in (*UNBALANCED, SLEEPING):
        judge("unbalanced nest, untuned / best by hand", [name for name in best if name not in ("weftcc", "weft")], 1.0)
    return found


def _table(console: Console, found: Mapping[str, Mapping[str, float]]) -> None:
    groups = list(dict.fromkeys(group for best in found.values() for group in best))
    table = report.new_table("combined parallel loops: us, medians", "loop", *groups)
    for measure, best in found.items():
        table.add_row(measure, *(report.short(1e-3 * best[group]) if group in best else "" for group in groups))
    console.print(table)


def main(root: pathlib.Path, words: list[str]) -> int:
    arguments = parse(root, words)
    console, stamp = terminal.console(), terminal.stamp()
    folder = terminal.results_folder(root, arguments.out, stamp)
    chosen = [name for name in arguments.only.split(",") if name] or [*FLAT, *NESTS, SLEEPING]
    watch = machine.OthersWatch()
    with terminal.progress(console) as progress:
        task = progress.add_task("", total=None)
        session = Session(
            build=arguments.build,
            runtimes=runtimes.find(root, arguments.build, list(runtimes.DEFAULT)),
            rounds=1 if arguments.smoke else arguments.rounds,
            repeat=arguments.repeat,
            smoke=arguments.smoke,
            step=lambda text: progress.update(task, advance=1, description=text),
        )
        progress.update(task, total=session.rounds * sum(len(list(variants(measure))) for measure in chosen))
        taken = _measure(session, chosen)
    others_percent = watch.percent()
    found = {measure: _columns(measure, taken[measure]) for measure in chosen}
    _table(console, found)
    judged = [verdict for measure in chosen for verdict in verdicts(measure, found[measure])]
    if not arguments.smoke:
        report.summary_table(console, judged)
    report.failures(console, session.failures)
    report.trust(console, others_percent)
    samples: dict[Key, list[float]] = {
        ("default", name, measure): values for measure in chosen for name, values in taken[measure].items()
    }
    about = (
        report.run_of(stamp, others_percent, session.rounds)
        | {
            "runtimes": {runtime.name: str(runtime.file) for runtime in session.runtimes},
        }
        | files.judged(judged, session.failures)
    )
    files.write_micro(folder, samples, dict.fromkeys(chosen, "ns"), about, "loops")
    return report.finish(console, folder, session.failures)
