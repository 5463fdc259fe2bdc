# SPDX-License-Identifier: Apache-2.0
"""Stores of keys and values between processes, from Python too, and PMIx's Get by phases."""

import argparse
import collections
import contextlib
import dataclasses
import json
import pathlib
import subprocess
from collections.abc import Iterator
from functools import partial
from typing import Any

from rich.console import Console

from ..frame import options, process, report
from ..frame.options import LISTED, Option, names
from ..frame.report import short
from ..frame.study import Turn, in_turn
from ..frame.verdict import Verdict
from . import redis
from .kv_phases import Phases
from .kv_python import FromPython
from .study import SharedMemoryStudy

STORES = ("weft", "lmdb", "lmdb-begin", "lmdb-held", "rwlock-hash", "redis")
# Its reader looks at one state for ever, and what is put meanwhile fills the file.
HELD = "lmdb-held"
READERS = (1, 2, 4)
SIZES = (16, 256, 1024, 4096, 16384, 65536)
KEYS, MANY_KEYS = 1000, 100_000
SIZE = 64
MOST_BYTES = 16 << 20  # of all values
PUTS_PER_SECOND = 100_000
PARTS = ("stores", "python", "phases")
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


class Kv(SharedMemoryStudy):
    name = "kv"
    about = "Measures stores of keys and values between processes; see docs/how-to/benchmark-shared-memory.md."

    options = (
        *SharedMemoryStudy.options,
        Option("--store", f"names, {LISTED}; there are {', '.join(STORES)} (default: all)", names, ",".join(STORES)),
        Option("--only", f"of {', '.join(PARTS)} (the paper's table 1); default: all", names, ",".join(PARTS)),
    )

    def complete(self, parser: argparse.ArgumentParser) -> None:
        super().complete(parser)
        options.check(parser, "--store", self.arguments.store, STORES)
        options.check(parser, "--only", self.arguments.only, PARTS)
        there = self._there()
        self.stores = [store for store in self.arguments.store if store in there]
        self.python, self.phases = FromPython(self), Phases(self)
        self.socket: pathlib.Path | None = None

    def _there(self) -> list[str]:
        """The stores that are built in."""
        command, clean = [self.program("kv"), "--list"], process.environment()
        listed = subprocess.run(command, capture_output=True, text=True, check=True, env=clean)
        built = json.loads(listed.stdout)
        return [store for store in built if store != "redis" or redis.program()]

    @contextlib.contextmanager
    def surroundings(self) -> Iterator[None]:
        with redis.server() if "redis" in self.stores else contextlib.nullcontext() as self.socket:
            yield

    def plan(self) -> list[Turn]:
        parts = {
            "stores": lambda: in_turn(self.arguments.rounds, self.turns()),
            "python": lambda: in_turn(self.arguments.rounds, self.python.turns()),
            "phases": lambda: list(self.phases.turns()),
        }
        return [turn for part, turns in parts.items() if part in self.arguments.only for turn in turns()]

    def turns(self) -> Iterator[Turn]:
        for case in cases(self.smoke):
            for store in self.stores:
                if store != HELD or case.measure not in ("put", "beside"):
                    yield f"{case.measure}, {case.policy}: {store}", partial(self._measure, store, case)

    def _measure(self, store: str, case: Case) -> None:
        command = [self.program("kv"), "--store", store, "--measure", case.measure, "--readers", case.readers]
        command += ["--size", case.size, "--keys", case.keys, "--milliseconds", self.milliseconds]
        command += ["--puts-per-second", PUTS_PER_SECOND]
        if store == "redis":
            command += ["--socket", self.socket or "none: no server has started"]
        for name, value in self.json_of(store, command).items():
            measure = case.measure if name in ("get", "put") else f"{case.measure}: {name}"
            self.samples.add(case.policy, store, measure, value["samples"], value["unit"])

    def judge(self) -> list[Verdict]:
        verdicts = []
        for case in (Case("get"), Case("get", readers=2), Case("get", keys=MANY_KEYS)):
            own, other = (self.samples.median(case.policy, store, "get") for store in ("weft", "lmdb"))
            if own:
                verdicts.append(Verdict("get, hit", case.policy, own, HIT_LIMIT_NS, "ns"))
            if own and other:
                verdicts.append(Verdict("get, hit / LMDB", case.policy, own / other, HIT_LIMIT))
        case = Case("beside")
        if p99 := self.samples.median(case.policy, "weft", "beside: get_p99"):
            what = f"get beside {PUTS_PER_SECOND:,} puts a second, p99"
            verdicts.append(Verdict(what, case.policy, p99, BESIDE_LIMIT_NS, "ns"))
        return verdicts

    def show(self, console: Console) -> None:
        lacking = [store for store in self.arguments.store if store not in self.stores]
        if lacking:
            console.print(f"Left out: {', '.join(lacking)}: not installed when this was built (scripts/setup-kv)")
        if self.samples:
            self._show_stores(console)
        self.python.show(console)
        self.phases.show(console)

    def _show_stores(self, console: Console) -> None:
        by_readers = [policy for policy in self.samples.policies() if f"{SIZE} B" in policy]
        by_size = [of_size(size).policy for size in SIZES]
        quantiles = [f"beside: get_{name}" for name in ("p50", "p99", "p999")]
        for title, policies, measures in (
            ("ns of one call", by_readers, ["get", "miss", "put"]),
            ("ns of one get, by size", by_size, ["get"]),
            (f"get beside a process that puts {PUTS_PER_SECOND:,} a second, ns", by_readers, quantiles),
            ("puts a second that were reached", by_readers, ["beside: puts"]),
        ):
            # A row for each case, a column for each store.
            rows = [
                (measure, policy, *(short(self.samples.median(policy, store, measure)) for store in self.stores))
                for measure in measures
                for policy in policies
                if (policy, measure) in self.samples.rows()
            ]
            console.print(report.table(f"{title}: medians", ("what", "case", *self.stores), rows, left=2))
        console.print(
            "lmdb: a read transaction renewed for each get; lmdb-begin: begun and aborted; lmdb-held: one for all gets."
        )

    def results(self) -> dict[str, Any]:
        parts = {"phases": self.phases.found, "python": self.python.found}
        return {"milliseconds": self.milliseconds} | parts | super().results()

    def draw(self, folder: pathlib.Path) -> None:
        from ..frame import plots  # slow to load

        values: dict[str, dict[int, list[float]]] = collections.defaultdict(dict)
        for size in (*SIZES, SIZE):
            for store in self.stores:
                if taken := self.samples.get((of_size(size).policy, store, "get")):
                    values[store][size] = taken
        plots.lines(folder / "kv_get_by_size", "one get", "bytes of a value", "ns", values, logarithmic=True)
