# SPDX-License-Identifier: Apache-2.0
"""The command line of bench/run rwlock: reader-writer locks between processes, by several algorithms."""

import argparse
import collections
import pathlib
import statistics

from rich.console import Console
from rich.progress import Progress

from . import files, machine, report, shared_memory, terminal
from .shared_memory_measures import ALONE, LOCK_TABLES, NO_WRITER, NORM, PACED, PACES, READERS, key
from .targets import Key, Samples, Verdict

OWN = ("weft", "weft-portable", "weft-phase-fair")
PAPER = ("2n-mutex", "n-mutex-signal", "n-mcs")
OTHERS = ("pthread-rwlock", "pthread-rwlock-writer", "n-robust-mutex", "seqlock")
# It copies nothing and its readers keep no writer away: for scale.
NO_LOCK = "seqlock"
# The figures of the paper.
FIGURES = {"writer_mean": "figure_6", "reads": "figure_7"}
READ_LIMITS_NS = {"weft": 1.0, "weft-portable": 4.0}
RATE_LIMIT, WRITER_LIMIT = 3.0, 1.0


def parse(root: pathlib.Path, words: list[str]) -> argparse.Namespace:
    known = (*OWN, *PAPER, *OTHERS)
    made = shared_memory.parser(
        "rwlock", "Measures reader-writer locks between processes; see docs/how-to/benchmark-shared-memory.md.", root
    )
    made.add_argument(
        "--algorithm",
        default=",".join(known),
        help=f"names, with commas between; there are {', '.join(known)}, and none, which fails: it does not exclude",
    )
    made.add_argument(
        "--readers", type=shared_memory.numbers, help=f"with commas between (default {','.join(map(str, READERS))})"
    )
    made.add_argument("--free", action="store_true", help="bind no process to a CPU")
    arguments = shared_memory.complete(made.parse_args(words))
    arguments.algorithms = arguments.algorithm.split(",")
    unknown = set(arguments.algorithms) - {*known, "none"}
    if unknown:
        raise SystemExit(f"bench/run rwlock: --algorithm {', '.join(sorted(unknown))}: no such algorithm")
    arguments.readers = arguments.readers or (list(ALONE) if arguments.smoke else list(READERS))
    return arguments


def _measure(
    arguments: argparse.Namespace, programs: shared_memory.Programs, progress: Progress
) -> tuple[dict[Key, list[float]], dict[str, str]]:
    samples: dict[Key, list[float]] = collections.defaultdict(list)
    units: dict[str, str] = {}
    cases = [(NO_WRITER, readers, ["--measure", "read"]) for readers in ALONE]
    for pace, writes in PACES.items():
        words = ["--measure", "writer", "--writes-per-second", writes]
        cases += [(pace, readers, words) for readers in arguments.readers]
    task = progress.add_task("", total=arguments.rounds * len(cases) * len(arguments.algorithms))
    free = ["--free"] if arguments.free else []
    for _ in range(arguments.rounds):
        for pace, readers, words in cases:
            for name in arguments.algorithms:
                progress.update(task, advance=1, description=f"{key(pace, readers)}: {name}")
                command = [programs.path("rwlock"), "--algorithm", name, "--readers", readers, *words, *free]
                result = programs.run(name, [*command, "--milliseconds", arguments.milliseconds])
                for measure, value in result.items():
                    if isinstance(value, dict):
                        samples[pace, name, key(measure, readers)] += value["samples"]
                        units[key(measure, readers)] = value["unit"]
    return samples, units


class Medians:
    def __init__(self, samples: Samples) -> None:
        self._medians = {key: statistics.median(taken) for key, taken in samples.items() if taken}

    def of(self, pace: str, name: str, measure: str, readers: int) -> float | None:
        return self._medians.get((pace, name, key(measure, readers)))


def judge(samples: Samples, readers: list[int]) -> list[Verdict]:
    medians = Medians(samples)
    verdicts = []
    for name, limit in READ_LIMITS_NS.items():
        value = medians.of(NO_WRITER, name, "read", 2)
        if value is not None:
            verdicts.append(Verdict(f"read lock and unlock, {name}", "2 readers", value, limit, "ns"))
    for count in readers:
        rates = [medians.of(PACED, name, "reads", count) for name in PAPER]
        own = medians.of(PACED, "weft", "reads", count)
        if own and any(rates):
            best = max(rate for rate in rates if rate)
            verdicts.append(
                Verdict(f"reads, {PACED}: best of the paper / weft", key("", count)[2:], best / own, 1 / RATE_LIMIT, "")
            )
    for pace in PACES:
        for count in readers:
            own, other = (medians.of(pace, name, "writer_mean", count) for name in ("weft", "n-mcs"))
            if own and other:
                verdicts.append(
                    Verdict(f"writer's time, {pace}: weft / N-MCS", key("", count)[2:], own / other, WRITER_LIMIT, "")
                )
    return verdicts


def _reads_table(console: Console, samples: Samples, algorithms: list[str]) -> None:
    medians = Medians(samples)
    columns = [f"{what}, {count}" for count in ALONE for what in ("ns", "CPU ns", "wake-ups per million")]
    table = report.new_table("one read lock and unlock, no writer: 1 and 2 readers, medians", "algorithm", *columns)
    for name in algorithms:
        cells = []
        for count in ALONE:
            for measure in ("read", "read_cpu", "read_waits"):
                value = medians.of(NO_WRITER, name, measure, count)
                cells.append("" if value is None else report.short(value))
        table.add_row(name, *cells)
    console.print(table)


def _figure(
    console: Console, samples: Samples, arguments: argparse.Namespace, pace: str, measure: str, title: str
) -> None:
    """A figure of the paper as a table: what was measured, and that over 2N-mutex."""
    medians = Medians(samples)
    columns = [column for count in arguments.readers for column in (f"{count}", f"/ {NORM}")]
    table = report.new_table(f"{title}, {pace}: by readers, medians", "algorithm", *columns)
    for name in arguments.algorithms:
        cells = []
        for count in arguments.readers:
            value, norm = (medians.of(pace, one, measure, count) for one in (name, NORM))
            cells += ["" if value is None else report.short(value), f"{value / norm:.3g}" if value and norm else ""]
        table.add_row(name, *cells)
    console.print(table)


def _draw(folder: pathlib.Path, samples: Samples, arguments: argparse.Namespace) -> None:
    from . import plots  # slow to load

    medians = Medians(samples)
    for measure, title in LOCK_TABLES:
        if measure not in FIGURES:
            continue
        for pace in PACES:
            values: dict[str, dict[int, list[float]]] = collections.defaultdict(dict)
            for name in arguments.algorithms:
                for count in arguments.readers:
                    norm = medians.of(pace, NORM, measure, count)
                    taken = samples.get((pace, name, key(measure, count)))
                    if norm and taken:
                        values[name][count] = [value / norm for value in taken]
            if values:
                stem = folder / f"rwlock_{FIGURES[measure]}_{pace.replace(' ', '_')}"
                about = f"{title.split(',')[0]} / {NORM}\n{pace}"
                plots.lines(stem, about, "readers", f"/ {NORM}", values, logarithmic=True)


def main(root: pathlib.Path, words: list[str]) -> int:
    arguments = parse(root, words)
    console, stamp = terminal.console(), terminal.stamp()
    folder = terminal.results_folder(root, arguments.out, stamp)
    programs = shared_memory.Programs(arguments.build)
    watch = machine.OthersWatch()
    with terminal.progress(console) as progress:
        samples, units = _measure(arguments, programs, progress)
    others_percent = watch.percent()
    _reads_table(console, samples, arguments.algorithms)
    for measure, title in LOCK_TABLES:
        for pace in PACES:
            _figure(console, samples, arguments, pace, measure, title)
    if max(arguments.readers) + 1 > machine.cpus():
        console.print(f"With more processes than CPUs ({machine.cpus()}), the system's scheduler is measured as well.")
    verdicts = judge(samples, arguments.readers)
    if not arguments.smoke:
        report.summary_table(console, verdicts)
    report.failures(console, programs.failures)
    report.trust(console, others_percent)
    about = report.run_of(stamp, others_percent, arguments.rounds) | {
        "bound": not arguments.free,
        "milliseconds": arguments.milliseconds,
    }
    files.write_micro(folder, samples, units, about | files.judged(verdicts, programs.failures), "rwlock")
    if not arguments.no_plots:
        _draw(folder, samples, arguments)
    return report.finish(console, folder, programs.failures)
