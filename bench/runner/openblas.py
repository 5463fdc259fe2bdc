# SPDX-License-Identifier: Apache-2.0
"""bench/run openblas: nested BLAS with the builds of scripts/build-openblas, in turn. It is the source paper's last
table, one level of parallelism against two, for each library."""

import argparse
import collections
import dataclasses
import pathlib
import statistics

from . import files, machine, nested, report, runtimes, terminal
from .nested import Problem, Split
from .process import Session
from .runtimes import Runtime
from .terminal import positive

DEBIAN = "Debian"
BUILDS = ("gcc", "clang", "weftcc")
RATIOS = (("weftcc", "clang"), ("weftcc", "gcc"), ("weftcc", DEBIAN), ("clang", DEBIAN))


@dataclasses.dataclass(frozen=True)
class Variant:
    runtime: Runtime
    blas: str
    split: Split

    @property
    def key(self) -> tuple[str, str, Split]:
        return self.runtime.name, self.blas, self.split


# What counts of each process's samples.
Times = dict[tuple[str, str, Split], list[list[float]]]


def best(processes: list[list[float]]) -> float:
    """The median of the fastest process. On a virtual machine a whole process is slow at times, and
    with as few rounds as these the median of all would often be of such a one."""
    return min(statistics.median(samples) for samples in processes)


def problems(only: str) -> list[Problem]:
    """SYMM, HEMM and TRSM, which are the paper's."""
    found = [problem for problem in nested.every_kind() if problem.routine in ("symm", "hemm", "trsm")]
    if not only:
        return found
    wanted = only.split(",")
    unknown = set(wanted) - {problem.name for problem in found}
    if unknown:
        raise SystemExit(f"bench/run: --only {', '.join(sorted(unknown))}: no such problem")
    return [problem for problem in found if problem.name in wanted]


def _parse(root: pathlib.Path, words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench/run openblas", description=__doc__)
    parser.add_argument("--smoke", action="store_true", help="one round of little: does it run at all")
    parser.add_argument("--build", type=pathlib.Path, default=root / "build/release", help="the build to measure")
    parser.add_argument("--runtimes", default=",".join(runtimes.DEFAULT), help="names, with commas between")
    parser.add_argument(
        "--libraries", default=",".join((DEBIAN, *BUILDS)), help=f"of {DEBIAN} and {', '.join(BUILDS)}, with commas"
    )
    parser.add_argument("--rounds", type=positive, default=3, help="how often each is measured, in turn (default 3)")
    parser.add_argument("--repeat", type=positive, default=nested.REPEATS, help="samples of each process")
    parser.add_argument("--only", default="", help="these problems only, such as dsymm,ztrsm")
    parser.add_argument("--out", type=pathlib.Path, help="folder of the results (default bench/results/DATE)")
    return parser.parse_args(words)


def _library(root: pathlib.Path, build: pathlib.Path, name: str) -> pathlib.Path | None:
    """A folder with it; None: the system's."""
    if name == DEBIAN:
        return None
    if name not in BUILDS:
        raise SystemExit(f"bench/run: --libraries {name}: there are {DEBIAN}, {', '.join(BUILDS)}")
    file = root / "build/openblas" / name / "libopenblas.so.0"
    if not file.exists():
        raise SystemExit(f"bench/run: {file} is not there: run scripts/build-openblas {name}")
    return runtimes.links(build / "bench/openblas-builds" / name, ("libopenblas.so.0",), file.resolve())


def _splits(runtime: Runtime) -> list[Split]:
    """One level, outside or inside, and two: under weft with nothing tuned."""
    count = machine.cpus()
    return [(count, 1), (1, count), nested.UNTUNED if runtime.name == "weft" else (count, count)]


def _plan(chosen: list[Runtime], libraries: list[str]) -> list[Variant]:
    """Every library on weft; the first one, which is Debian's, under the peers too."""
    return [
        Variant(runtime, library, split)
        for runtime in chosen
        for index in range(3)
        for library in libraries
        if runtime.name == "weft" or library == libraries[0]
        for split in [_splits(runtime)[index]]
    ]


def _measure(sessions: dict[str, Session], plan: list[Variant], problem: Problem, rounds: int) -> Times:
    times: Times = collections.defaultdict(list)
    for _ in range(rounds):
        for variant in plan:
            session = sessions[variant.blas]
            session.step(f"{problem.label}: {variant.runtime.name}, {variant.blas}")
            command = [session.program("nested_blas"), *problem.arguments(variant.split, session.repeat or 1)]
            if result := session.run(variant.runtime, command):
                samples = result["time"]["samples"]
                times[variant.key].append(samples[len(samples) // 2 :])  # as bench/run nested-blas has it
    return dict(times)


def ratios(results: list[tuple[Problem, Times]], over: str, under: str) -> dict[str, list[float]]:
    """Time with the library `over` to that with `under`, both on weft, of each problem, by the way it was run."""
    found: dict[str, list[float]] = collections.defaultdict(list)
    for _, times in results:
        for runtime, library, split in times:
            other = times.get((runtime, under, split))
            if runtime == "weft" and library == over and other:
                found[nested.describe(split)].append(best(times[runtime, library, split]) / best(other))
    return dict(found)


def _as_json(results: list[tuple[Problem, Times]]) -> list[dict[str, object]]:
    return [
        {
            "problem": problem.label,
            "runtime": runtime,
            "library": library,
            "split": nested.describe(split),
            "best": best(processes),
            "counted": processes,
        }
        for problem, times in results
        for (runtime, library, split), processes in times.items()
    ]


def main(root: pathlib.Path, words: list[str]) -> int:
    arguments = _parse(root, words)
    arguments.build = arguments.build.absolute()
    console, stamp = terminal.console(), terminal.stamp()
    folder = terminal.results_folder(root, arguments.out, stamp)
    chosen = runtimes.find(root, arguments.build, arguments.runtimes.split(","))
    libraries = arguments.libraries.split(",")
    folders = {name: _library(root, arguments.build, name) for name in libraries}
    asked = problems(arguments.only)[:1] if arguments.smoke else problems(arguments.only)
    rounds = 1 if arguments.smoke else arguments.rounds
    plan = _plan(chosen, libraries)
    machine.raise_limits()
    watch = machine.OthersWatch()
    with terminal.progress(console) as progress:
        task = progress.add_task("", total=len(asked) * rounds * len(plan))
        first = Session(
            build=arguments.build,
            runtimes=chosen,
            rounds=rounds,
            repeat=4 if arguments.smoke else arguments.repeat,
            smoke=arguments.smoke,
            step=lambda text: progress.update(task, advance=1, description=text),
        )
        # One list of failures for all.
        sessions = {name: dataclasses.replace(first, blas=path) for name, path in folders.items()}
        results = [(problem, _measure(sessions, plan, problem, rounds)) for problem in asked]

    table = report.new_table("ratios of time on weft: median (least .. most) of the problems", "libraries", "how", "")
    for over, under in RATIOS:
        for way, values in ratios(results, over, under).items():
            shown = f"{statistics.median(values):.3f} ({min(values):.3f} .. {max(values):.3f})"
            table.add_row(f"{over} / {under}", way, shown)
    console.print(table)
    report.failures(console, first.failures)
    others = watch.percent()
    report.trust(console, others)
    about = report.run_of(stamp, others, rounds) | {
        "runtimes": {runtime.name: str(runtime.file) for runtime in chosen},
        "failures": [dataclasses.asdict(failure) for failure in first.failures],
    }
    files.write_json(folder, "openblas", about | {"results": _as_json(results)})
    return report.finish(console, folder, first.failures)
