# SPDX-License-Identifier: Apache-2.0
"""The command line of bench/run collectives: each MPI's own collectives, and weft's."""

import argparse
import collections
import dataclasses
import json
import pathlib
import statistics

from rich.console import Console

from . import files, machine, mpi_jobs, report, terminal
from .process import Failure
from .targets import Key, Verdict
from .terminal import positive

PROGRAM = "mpi_collectives"
WEFT, OWN, SM = "weft", "own", "coll/sm"
# From here on long vectors count.
LONG = 16384


@dataclasses.dataclass(frozen=True)
class Way:
    """Whose collectives are taken."""

    name: str
    mpis: tuple[str, ...]
    prefix: tuple[str, ...] = ()
    variables: tuple[tuple[str, str], ...] = ()


def ways(build: pathlib.Path) -> tuple[Way, ...]:
    weft = (str(build / "bin/weft"), "run", "--collectives")
    return (
        Way(OWN, ("openmpi", "mpich")),
        Way(WEFT, ("openmpi", "mpich"), weft),
        Way(SM, ("openmpi",), (), (("OMPI_MCA_coll_sm_priority", "90"),)),
    )


@dataclasses.dataclass
class Measured:
    samples: dict[Key, list[float]] = dataclasses.field(default_factory=lambda: collections.defaultdict(list))
    units: dict[str, str] = dataclasses.field(default_factory=dict)
    failures: list[Failure] = dataclasses.field(default_factory=list)


def _parse(words: list[str], root: pathlib.Path) -> argparse.Namespace:
    made = argparse.ArgumentParser(
        prog="bench/run collectives",
        description="Compares weft's collectives with the MPI's own; see docs/how-to/benchmark-mpi.md.",
    )
    made.add_argument("--smoke", action="store_true", help="one round of little: does it run, is the data right")
    made.add_argument("--build", type=pathlib.Path, default=root / "build/release", help="the build to measure")
    made.add_argument("--mpi", default="", help="MPIs, with commas between (default: those that are there)")
    made.add_argument("--ranks", default="2,4,8", help="numbers of ranks, with commas between (default 2,4,8)")
    made.add_argument("--only", help="operations, with commas between (default: all)")
    made.add_argument("--osu", action="store_true", help="as the OSU benchmarks: the root is rank 0, the mean of ranks")
    made.add_argument("--rounds", type=positive, default=5, help="how often each is measured, in turn (default 5)")
    made.add_argument("--timeout", type=positive, default=300, help="seconds after which a job hangs (default 300)")
    made.add_argument("--out", type=pathlib.Path, help="folder of the results (default bench/results/DATE)")
    made.add_argument("--no-plots", action="store_true")
    arguments = made.parse_args(words)
    arguments.build = arguments.build.absolute()
    arguments.mpi = mpi_jobs.chosen_mpis(made, arguments, PROGRAM)
    arguments.ranks = [positive(word) for word in arguments.ranks.split(",")]
    if arguments.smoke:
        arguments.rounds, arguments.ranks = 1, arguments.ranks[:1]
    return arguments


def _run(arguments: argparse.Namespace, mpi: str, ranks: int, way: Way, measured: Measured) -> None:
    program = str(arguments.build / "bench" / f"{PROGRAM}_{mpi}")
    size = ["--samples", "1", "--milliseconds", "1", "--largest", str(LONG)] if arguments.smoke else []
    only = ["--only", arguments.only] if arguments.only else []
    if arguments.osu:
        only.append("--osu")
    # Whether a rank that waits gives its CPU away is left to the MPI here.
    as_usual = ["env", "-u", "OMPI_MCA_mpi_yield_when_idle"]
    words = [*as_usual, *way.prefix, program, *only, *size]
    job = mpi_jobs.start(mpi_jobs.LAUNCHERS[mpi], ranks, dict(way.variables), words)
    output, reason = mpi_jobs.finish(job, arguments.timeout)
    policy = f"{mpi}, {ranks} ranks"
    if reason:
        measured.failures.append(Failure(way.name, policy, reason))
        return
    for name, value in json.loads(output).items():
        if isinstance(value, dict) and "samples" in value:
            measured.samples[policy, way.name, name] += value["samples"]
            measured.units[name] = value["unit"]


def judge(samples: dict[Key, list[float]], cpus: int) -> list[Verdict]:
    medians = {key: statistics.median(values) for key, values in samples.items()}
    verdicts = []
    for policy in dict.fromkeys(policy for policy, _, _ in samples):
        # As many ranks as CPUs, or more of them.
        ranks = int(policy.split(", ")[1].split()[0])
        for other, crowded in ((OWN, 0.6), (SM, 0.2)):
            ratios = {
                measure: value / medians[policy, other, measure]
                for (where, way, measure), value in medians.items()
                if (where, way) == (policy, WEFT) and (policy, other, measure) in medians
            }
            if not ratios:
                continue
            if ranks > cpus:
                verdicts.append(
                    Verdict(f"weft / {other}, median", policy, statistics.median(ratios.values()), crowded, "")
                )
            elif other == OWN:
                for measure, ratio in ratios.items():
                    verdicts.append(Verdict(f"weft / {other}", f"{policy}, {measure}", ratio, 1.03, ""))
                long = [ratio for measure, ratio in ratios.items() if _bytes(measure) >= LONG]
                if long:
                    name = f"weft / {other}, median from {LONG} bytes on"
                    verdicts.append(Verdict(name, policy, statistics.median(long), 0.8, ""))
    return verdicts


def _bytes(measure: str) -> int:
    _, _, size = measure.partition("_")
    return int(size) if size else 0


def _draw(folder: pathlib.Path, measured: Measured) -> None:
    from . import plots  # slow to load

    operations = dict.fromkeys(name.partition("_")[0] for _, _, name in measured.samples if "_" in name)
    for policy in dict.fromkeys(policy for policy, _, _ in measured.samples):
        for operation in operations:
            values: dict[str, dict[int, list[float]]] = collections.defaultdict(dict)
            for (where, way, name), samples in measured.samples.items():
                if where == policy and name.startswith(f"{operation}_"):
                    values[way][_bytes(name)] = [1e-3 * value for value in samples]
            stem = folder / f"collectives_{operation}_{policy.replace(', ', '_').replace(' ', '')}"
            plots.lines(stem, f"{operation}\n{policy}", "bytes", "us", values, logarithmic=True)


def _tell(console: Console, measured: Measured, verdicts: list[Verdict], names: list[str], smoke: bool) -> None:
    report.micro_table(console, measured.samples, measured.units, names, policies="ranks")
    if not smoke:
        report.summary_table(console, verdicts)
    report.failures(console, measured.failures)


def main(root: pathlib.Path, words: list[str]) -> int:
    arguments = _parse(words, root)
    console, stamp = terminal.console(), terminal.stamp()
    folder = terminal.results_folder(root, arguments.out, stamp)
    known = ways(arguments.build)
    watch = machine.OthersWatch()
    measured = Measured()
    cases = [
        (mpi, ranks, way) for mpi in arguments.mpi for ranks in arguments.ranks for way in known if mpi in way.mpis
    ]
    with terminal.progress(console) as progress:
        task = progress.add_task("", total=arguments.rounds * len(cases))
        for _ in range(arguments.rounds):
            for mpi, ranks, way in cases:
                progress.update(task, advance=1, description=f"{mpi}, {ranks} ranks: {way.name}")
                _run(arguments, mpi, ranks, way, measured)
    others_percent = watch.percent()
    verdicts = judge(measured.samples, machine.cpus())
    names = [way.name for way in known]
    _tell(console, measured, verdicts, names, arguments.smoke)
    report.trust(console, others_percent)
    about = {
        "date": stamp,
        "machine": machine.describe(),
        "cpu_percent_of_others": others_percent,
        "rounds": arguments.rounds,
        "definition": "osu" if arguments.osu else "row",
        "runtimes": names,
    } | files.judged(verdicts, measured.failures)
    files.write_micro(folder, measured.samples, measured.units, about, "collectives")
    if not arguments.no_plots:
        _draw(folder, measured)
    console.print(f"Results: {folder}", highlight=False, soft_wrap=True)
    return 1 if measured.failures else 0
