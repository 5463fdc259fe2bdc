# SPDX-License-Identifier: Apache-2.0
"""The command line of bench/run kv: stores of keys and values between processes, and PMIx's Get by phases."""

import argparse
import collections
import contextlib
import dataclasses
import json
import pathlib
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Iterator
from typing import Any

from rich.console import Console
from rich.progress import Progress

from . import files, kv_phases, kv_python, machine, report, shared_memory, terminal
from .targets import Key, Samples, Verdict

STORES = ("weft", "lmdb", "lmdb-begin", "lmdb-held", "rwlock-hash", "redis")
# Its reader looks at one state for ever, and what is put meanwhile fills the file.
HELD = "lmdb-held"
READERS = (1, 2, 4)
SIZES = (16, 256, 1024, 4096, 16384, 65536)
KEYS, MANY_KEYS = 1000, 100_000
SIZE = 64
MOST_BYTES = 16 << 20  # of all values
PUTS_PER_SECOND = 100_000
HIT_LIMIT, HIT_LIMIT_NS, BESIDE_LIMIT_NS = 0.2, 100.0, 1000.0


@dataclasses.dataclass(frozen=True)
class Case:
    measure: str
    readers: int = 1
    size: int = SIZE
    keys: int = KEYS

    @property
    def policy(self) -> str:
        readers = "1 reader" if self.readers == 1 else f"{self.readers} readers"
        return f"{readers}, {self.size} B, {self.keys} keys"


def of_size(size: int) -> Case:
    return Case("get", size=size, keys=min(KEYS, MOST_BYTES // size))


def cases(smoke: bool) -> list[Case]:
    found = [Case(measure, readers) for measure in ("get", "miss") for readers in READERS[: 1 if smoke else None]]
    found += [Case("put"), *(Case("beside", readers) for readers in READERS[: 1 if smoke else None])]
    if smoke:
        return found
    found += [Case("get", keys=MANY_KEYS)]
    return found + [of_size(size) for size in SIZES]


def parse(root: pathlib.Path, words: list[str]) -> argparse.Namespace:
    made = shared_memory.parser(
        "kv", "Measures stores of keys and values between processes; see docs/how-to/benchmark-shared-memory.md.", root
    )
    made.add_argument(
        "--store", default=",".join(STORES), help=f"names, with commas between; there are {', '.join(STORES)}"
    )
    made.add_argument(
        "--only",
        default="stores,python,phases",
        help="parts, with commas between: stores, python, phases (table 1 of the paper); default: all",
    )
    arguments = shared_memory.complete(made.parse_args(words))
    arguments.stores, arguments.parts = arguments.store.split(","), arguments.only.split(",")
    for option, given, known in (
        ("store", arguments.stores, STORES),
        ("only", arguments.parts, ("stores", "python", "phases")),
    ):
        if set(given) - set(known):
            raise SystemExit(f"bench/run kv: --{option} {', '.join(sorted(set(given) - set(known)))}: not known")
    return arguments


def _redis_program() -> str | None:
    # Debian's package redis-tools has the server under the second name, and starts no daemon.
    return shutil.which("redis-server") or shutil.which("redis-check-rdb")


@contextlib.contextmanager
def redis_server() -> Iterator[pathlib.Path | None]:
    """The socket of a server of our own, in memory alone; None: there is none."""
    program = _redis_program()
    if program is None:
        yield None
        return
    with tempfile.TemporaryDirectory(prefix="weft-bench-redis-") as name:
        socket = pathlib.Path(name) / "socket"
        options = ["--port", "0", "--unixsocket", str(socket), "--save", "", "--appendonly", "no", "--dir", name]
        server = subprocess.Popen(
            ["redis-server", *options], executable=program, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        try:
            end = time.monotonic() + 10
            while not socket.exists() and server.poll() is None and time.monotonic() < end:
                time.sleep(0.01)
            yield socket if socket.exists() else None
        finally:
            server.kill()
            server.wait()


def _there(arguments: argparse.Namespace) -> list[str]:
    """The stores that are asked for and built in."""
    listed = subprocess.run(
        [arguments.build / "bench/kv", "--list"],
        capture_output=True,
        text=True,
        check=True,
        env=shared_memory.environment(),
    )
    built = json.loads(listed.stdout)
    if _redis_program() is None:
        built = [store for store in built if store != "redis"]
    return [store for store in arguments.stores if store in built]


def _measure(
    arguments: argparse.Namespace, programs: shared_memory.Programs, progress: Progress
) -> tuple[dict[Key, list[float]], dict[str, str]]:
    samples: dict[Key, list[float]] = collections.defaultdict(list)
    units: dict[str, str] = {}
    chosen = cases(arguments.smoke)
    task = progress.add_task("", total=arguments.rounds * len(chosen) * len(arguments.stores))
    with redis_server() as socket:
        for _ in range(arguments.rounds):
            for case in chosen:
                for store in arguments.stores:
                    progress.update(task, advance=1, description=f"{case.measure}, {case.policy}: {store}")
                    if store == HELD and case.measure in ("put", "beside"):
                        continue
                    for name, value in _one(arguments, programs, store, case, socket).items():
                        measure = case.measure if name in ("get", "put") else f"{case.measure}: {name}"
                        samples[case.policy, store, measure] += value["samples"]
                        units[measure] = value["unit"]
    return samples, units


def _one(
    arguments: argparse.Namespace,
    programs: shared_memory.Programs,
    store: str,
    case: Case,
    socket: pathlib.Path | None,
) -> dict[str, Any]:
    command = [programs.path("kv"), "--store", store, "--measure", case.measure, "--readers", case.readers]
    command += ["--size", case.size, "--keys", case.keys, "--milliseconds", arguments.milliseconds]
    command += ["--puts-per-second", PUTS_PER_SECOND]
    if store == "redis":
        command += ["--socket", socket or "none: no server has started"]
    return programs.run(store, command)


def judge(samples: Samples) -> list[Verdict]:
    medians = {key: statistics.median(taken) for key, taken in samples.items() if taken}
    verdicts = []
    for case in (Case("get"), Case("get", readers=2), Case("get", keys=MANY_KEYS)):
        own, other = (medians.get((case.policy, store, "get")) for store in ("weft", "lmdb"))
        if own:
            verdicts.append(Verdict("get, hit", case.policy, own, HIT_LIMIT_NS, "ns"))
        if own and other:
            verdicts.append(Verdict("get, hit / LMDB", case.policy, own / other, HIT_LIMIT, ""))
    case = Case("beside")
    p99 = medians.get((case.policy, "weft", "beside: get_p99"))
    if p99:
        what = f"get beside {PUTS_PER_SECOND:,} puts a second, p99"
        verdicts.append(Verdict(what, case.policy, p99, BESIDE_LIMIT_NS, "ns"))
    return verdicts


def _table(
    console: Console, samples: Samples, stores: list[str], policies: list[str], title: str, measures: list[str]
) -> None:
    """A row for each case, a column for each store."""
    medians = {key: statistics.median(taken) for key, taken in samples.items() if taken}
    table = report.new_table(f"{title}: medians", "what", "case", *stores, left=2)
    for measure in measures:
        for policy in policies:
            values = [medians.get((policy, store, measure)) for store in stores]
            if any(value is not None for value in values):
                table.add_row(measure, policy, *("" if value is None else report.short(value) for value in values))
    console.print(table)


def _tables(console: Console, samples: Samples, stores: list[str]) -> None:
    policies = list(dict.fromkeys(policy for policy, _, _ in samples))
    by_readers = [policy for policy in policies if f"{SIZE} B" in policy]
    _table(console, samples, stores, by_readers, "ns of one call", ["get", "miss", "put"])
    by_size = [of_size(size).policy for size in SIZES]
    _table(console, samples, stores, by_size, "ns of one get, by size", ["get"])
    title = f"get beside a process that puts {PUTS_PER_SECOND:,} a second, ns"
    quantiles = [f"beside: get_{name}" for name in ("p50", "p99", "p999")]
    _table(console, samples, stores, by_readers, title, quantiles)
    _table(console, samples, stores, by_readers, "puts a second that were reached", ["beside: puts"])


def _draw(folder: pathlib.Path, samples: Samples, stores: list[str]) -> None:
    from . import plots  # slow to load

    values: dict[str, dict[int, list[float]]] = collections.defaultdict(dict)
    for size in (*SIZES, SIZE):
        case = of_size(size)
        for store in stores:
            taken = samples.get((case.policy, store, "get"))
            if taken:
                values[store][size] = taken
    if values:
        plots.lines(folder / "kv_get_by_size", "one get", "bytes of a value", "ns", values, logarithmic=True)


def main(root: pathlib.Path, words: list[str]) -> int:
    arguments = parse(root, words)
    console, stamp = terminal.console(), terminal.stamp()
    folder = terminal.results_folder(root, arguments.out, stamp)
    programs = shared_memory.Programs(arguments.build)
    lacking = [store for store in arguments.stores if store not in _there(arguments)]
    arguments.stores = _there(arguments)
    if lacking:
        console.print(f"Left out: {', '.join(lacking)}: not installed when this was built (scripts/setup-kv)")
    watch = machine.OthersWatch()
    samples: Samples = {}
    units: dict[str, str] = {}
    phases: dict[str, Any] = {}
    with terminal.progress(console) as progress:
        if "stores" in arguments.parts:
            samples, units = _measure(arguments, programs, progress)
        python_samples = kv_python.measure(root, arguments, programs, progress) if "python" in arguments.parts else {}
        if "phases" in arguments.parts:
            phases = kv_phases.measure(arguments, programs, progress)
    others_percent = watch.percent()
    verdicts = judge(samples)
    if samples:
        _tables(console, samples, arguments.stores)
        console.print(
            "lmdb: a read transaction renewed for each get; lmdb-begin: begun and aborted; lmdb-held: one for all gets."
        )
    kv_python.table(console, python_samples)
    kv_phases.table(console, phases)
    if not arguments.smoke:
        report.summary_table(console, verdicts)
    report.failures(console, programs.failures)
    report.trust(console, others_percent)
    about = report.run_of(stamp, others_percent, arguments.rounds) | {
        "milliseconds": arguments.milliseconds,
        "phases": phases,
        "python": python_samples,
    }
    files.write_micro(folder, samples, units, about | files.judged(verdicts, programs.failures), "kv")
    if not arguments.no_plots:
        _draw(folder, samples, arguments.stores)
    return report.finish(console, folder, programs.failures)
