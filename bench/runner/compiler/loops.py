# SPDX-License-Identifier: Apache-2.0
"""Combined parallel loops by weftcc against all other ways to run them."""

import argparse
import dataclasses
import pathlib
from collections.abc import Iterable, Iterator, Mapping
from functools import partial

from rich.console import Console

from ..frame import options, report
from ..frame.comparison import Comparison
from ..frame.options import LISTED, only, repeat
from ..frame.samples import DEFAULT
from ..frame.study import Turn
from ..frame.verdict import Verdict

FLAT = ("flat_1", "flat_5", "flat_10", "flat_50", "flat_1000", "reduction_10")
NESTS = ("8x8", "64x4", "8x64", "3x64", "triangle", "power_law")
UNBALANCED = ("3x64", "triangle", "power_law")
TINY = ("8x8", "64x4")
SLEEPING = "sleeping_3x16"
ALL = (*FLAT, *NESTS, SLEEPING)
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

    @property
    def name(self) -> str:
        words = " ".join(f"{name}={value}" for name, value in self.variables.items())
        return f"{self.group}: {words}" if words else self.group


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


class Loops(Comparison):
    name = "loops"
    about = "Compares programs by weftcc with those by clang and gcc, each on its runtime, and oneTBB."

    options = (repeat("15"), only(f"these loops only, {LISTED}"))

    def complete(self, parser: argparse.ArgumentParser) -> None:
        super().complete(parser)
        refuse_without_weftcc(parser, self.arguments.build)
        options.check(parser, "--only", self.arguments.only, ALL)
        self.chosen = self.arguments.only or ALL

    def turns(self) -> Iterator[Turn]:
        for measure in self.chosen:
            for variant in variants(measure):
                # oneTBB's is not there where it is not installed; the table has no such column then.
                if pathlib.Path(self.program(variant.program)).exists():
                    yield f"{measure}: {variant.name}", partial(self._measure, measure, variant)

    def _measure(self, measure: str, variant: Variant) -> None:
        fill = ["--milliseconds", 1] if self.smoke else []
        command = [self.program(variant.program), "--repeat", self.repeat(15, 2), *fill, measure]
        runtime = next(runtime for runtime in self.runtimes if runtime.name == variant.runtime)
        if result := self.json_under(runtime, command, variant.variables):
            self.samples.add(DEFAULT, variant.name, measure, result[measure]["samples"], "ns")

    def _best(self, measure: str) -> dict[str, float]:
        """Of each group, the median of its best variant."""
        best: dict[str, float] = {}
        for variant in variants(measure):
            median = self.samples.median(DEFAULT, variant.name, measure)
            if median is not None:
                best[variant.group] = min(best.get(variant.group, median), median)
        return best

    def show(self, console: Console) -> None:
        found = {measure: self._best(measure) for measure in self.chosen}
        groups = list(dict.fromkeys(group for best in found.values() for group in best))
        rows = (
            (measure, *(report.short(1e-3 * best[group]) if group in best else "" for group in groups))
            for measure, best in found.items()
        )
        console.print(report.table("combined parallel loops: us, medians", ("loop", *groups), rows))

    def judge(self) -> list[Verdict]:
        return [verdict for measure in self.chosen for verdict in verdicts(measure, self._best(measure))]


def refuse_without_weftcc(parser: argparse.ArgumentParser, build: pathlib.Path) -> None:
    if not (build / "bench/loops_weftcc").exists():
        parser.error(f"{build} has no bench/loops_weftcc: it was built without LLVM 19 (run scripts/setup)")


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
