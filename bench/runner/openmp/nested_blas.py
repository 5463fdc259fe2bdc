# SPDX-License-Identifier: Apache-2.0
"""Nested BLAS: every routine and type, by all splits that one would tune by hand, and untuned under weft."""

import argparse
import dataclasses
import pathlib
from collections.abc import Iterator
from functools import partial
from typing import Any

from rich.console import Console

from ..frame import files, report
from ..frame.machine import cpus
from ..frame.runtimes import Runtime
from ..frame.spread import summary
from ..frame.study import Turn, in_turn
from ..frame.verdict import Verdict
from . import nested
from .nested import TOO_MANY, UNTUNED, Result, Split, describe
from .study import OpenMpStudy

NO_TAIL, TAIL, LIMIT_OF_TOO_MANY = 1.02, 0.97, 1.03
COLUMNS = ("problem", "runtime", "out", "in", "median_s", "p10_s", "p90_s", "gflops", "peak_threads")


class NestedBlas(OpenMpStudy):
    name = "nested-blas"

    def complete(self, parser: argparse.ArgumentParser) -> None:
        super().complete(parser)
        among = nested.SMOKE if self.smoke else nested.DEMO if self.demo else nested.every_kind()
        self.found = [Result(problem) for problem in nested.chosen(parser, self.arguments.only, among)]
        if not pathlib.Path(self.program("nested_blas")).exists():
            parser.error(f"{self.arguments.build} has no nested_blas: it was built without libopenblas-openmp-dev")

    def plan(self) -> list[Turn]:
        rounds = self.arguments.rounds
        return [turn for result in self.found for turn in in_turn(rounds, self._turns_of(result))]

    def _turns_of(self, result: Result) -> Iterator[Turn]:
        tuned = [(runtime, split) for split in nested.hand_tuned(cpus()) for runtime in self.runtimes]
        weft = [runtime for runtime in self.runtimes if runtime.name == "weft"]
        for runtime, split in [*tuned, *((runtime, split) for runtime in weft for split in (UNTUNED, TOO_MANY))]:
            what = f"{result.problem.label}: {runtime.name} {describe(split)}"
            yield what, partial(self._measure, result, runtime, split)

    def _measure(self, result: Result, runtime: Runtime, split: Split) -> None:
        arguments = result.problem.arguments(split, self.repeat(nested.REPEATS, 4))
        if found := self.json_under(runtime, [self.program("nested_blas"), *arguments]):
            result.take(runtime.name, split, found)

    def show(self, console: Console) -> None:
        for result in self.found:
            self._show_splits(console, result)
            self._show_levels(console, result)
        self._show_untuned(console)

    def _show_splits(self, console: Console, result: Result) -> None:
        serial = result.serial()

        def cells(name: str, split: Split) -> tuple[str, str, str]:
            samples = result.times.get((name, split))
            if not samples or not serial:
                return "", "", ""
            times = summary(samples)
            spread = f"{times['p10']:.4f} .. {times['p90']:.4f}"
            return f"{times['median']:.4f}", spread, f"{serial / times['median']:.2f}"

        columns = ("out x in", *(column for name in self.names for column in (name, "p10 .. p90", "speed-up")))
        rows = (
            [describe(split), *(cell for name in self.names for cell in cells(name, split))]
            for split in [*nested.hand_tuned(cpus()), TOO_MANY, UNTUNED]
        )
        console.print(report.table(f"{result.problem.label}, {result.problem.schedule}: seconds", columns, rows))

    def _show_levels(self, console: Console, result: Result) -> None:
        """The source paper's last table: one level of parallelism against two."""
        serial, count = result.serial(), cpus()
        rows = []
        for name in self.names:
            outer, inner = result.median(name, (count, 1)), result.median(name, (1, count))
            both = result.best(name, {(count, 1), (1, count), (1, 1)})
            if serial and outer and inner and both:
                speedups = (f"{serial / time:.2f}" for time in (outer, inner, both.time))
                gain = f"{100 * (min(outer, inner) / both.time - 1):+.1f} %"
                rows.append((name, *speedups, describe(both.split), gain))
        columns = ("runtime", "outer only", "inner only", "nested", "out x in", "gain")
        console.print(report.table("one level against two (speed-up)", columns, rows))

    def _show_untuned(self, console: Console) -> None:
        rows = []
        for result in self.found:
            best, own = result.best_tuned(), result.best_of("weft")
            untuned, many = (result.median("weft", split) for split in (UNTUNED, TOO_MANY))
            if best and own and untuned and many:
                where = f"{best.time:.4f} ({best.runtime} {describe(best.split)})"
                ratios = (f"{untuned / best.time:.3f}", f"{many / own.time:.3f}")
                gflops = f"{1e-9 * result.operations / untuned:.1f}"
                rows.append((result.problem.label, where, f"{untuned:.4f}", gflops, f"{many:.4f}", *ratios))
        if rows:
            title = "weft, nothing tuned, against the best hand-tuned split of any runtime (seconds)"
            columns = ("problem", "best hand-tuned", "untuned", "GFLOP/s", "asked for 16 x 16")
            console.print(report.table(title, (*columns, "untuned / best", "16 x 16 / own best"), rows))

    def judge(self) -> list[Verdict]:
        verdicts = []
        for result in self.found:
            tuned, own = result.best_tuned(), result.best_of("weft")
            untuned, many = result.median("weft", UNTUNED), result.median("weft", TOO_MANY)
            name = result.problem.label
            if tuned and untuned:
                limit = TAIL if result.problem.tail else NO_TAIL
                verdicts.append(Verdict("nested BLAS, untuned / best hand-tuned", name, untuned / tuned.time, limit))
            if own and many:
                what = "nested BLAS, asked for 16 x 16 / own best"
                verdicts.append(Verdict(what, name, many / own.time, LIMIT_OF_TOO_MANY))
        return verdicts

    def gains(self) -> dict[str, float]:
        """Each problem under weft with nothing tuned, over the best split that was tuned by hand."""
        found = {}
        for result in self.found:
            tuned, untuned = result.best_tuned(), result.median("weft", UNTUNED)
            if tuned and untuned is not None:
                found[f"{result.problem.label}, untuned / the best tuned by hand"] = untuned / tuned.time
        return found

    def results(self) -> dict[str, Any]:
        return super().results() | {
            "results": [
                {
                    "problem": dataclasses.asdict(result.problem) | {"label": result.problem.label},
                    "operations": result.operations,
                    "serial": result.serial(),
                    "times": [
                        {"runtime": name, "out": split[0], "in": split[1]}
                        | summary(samples)
                        | {"peak_threads": result.peak_threads[name, split], "counted": samples}
                        | {"not_counted": result.early[name, split]}
                        for (name, split), samples in result.times.items()
                    ],
                }
                for result in self.found
            ]
        }

    def write(self, folder: pathlib.Path, head: dict[str, Any]) -> None:
        super().write(folder, head)
        rows = [
            time
            | {f"{name}_s": time[name] for name in ("median", "p10", "p90")}
            | {"problem": entry["problem"]["label"], "gflops": 1e-9 * entry["operations"] / time["median"]}
            for entry in self.results()["results"]
            for time in entry["times"]
        ]
        files.write_csv(folder, "nested_blas", COLUMNS, rows)

    def draw(self, folder: pathlib.Path) -> None:
        from ..frame import plots  # slow to load

        for index, result in enumerate(self.found):
            serial = result.serial()
            splits = sorted(
                {split for _, split in result.times} - {(1, 1)}, key=lambda split: (split == UNTUNED, split)
            )
            speedups = {
                name: {
                    describe(split): [serial / time for time in result.times[name, split]]
                    for split in splits
                    if (name, split) in result.times
                }
                for name in dict.fromkeys(name for name, _ in result.times)
                if serial
            }
            stem = folder / f"nested_blas_{index}_{result.problem.name}"
            labels = ("threads asked for, outside x inside", "speed-up over one thread")
            plots.bars(stem, result.problem.label, *labels, speedups, [describe(split) for split in splits])
