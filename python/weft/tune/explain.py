# SPDX-License-Identifier: Apache-2.0
"""`weft tune explain`: the model of this machine, what it would take, and how far it is from what is measured."""

from __future__ import annotations

import argparse
import pathlib
import statistics
from collections.abc import Mapping

from . import crossings, units
from .collectives import parse_ranks, parse_sizes
from .console import Progress, say
from .family import find_launcher
from .faults import Fault
from .jobs import Jobs
from .measuring import Measuring
from .messages import Messages
from .model import Level, Model, model_of
from .mpis import examine
from .operations import check_sizes, choose
from .record import Record
from .record import read as read_record
from .table import table

# Of memory of queues, for which the best fragments are shown.
_MEMORY = (64 << 10, 256 << 10, 1 << 20)
_PAGE = 4096
# What is further apart is no noise.
_MOST_NOISE = 0.3
# Of messages.
_SHOWN = (8, 2048, 8192, 32768, 131072, 524288)


def run(options: argparse.Namespace, folder: str) -> int:
    if not options.record:
        _say(*_measured(options, folder))
        return 0
    record = read_record(pathlib.Path(options.record))
    try:
        _say(record, _models_of(record))
    except (ArithmeticError, AttributeError, KeyError, TypeError, ValueError) as error:
        raise Fault(f"{options.record}: damaged: {error!r}; measure again") from None
    return 0


def _say(record: Record, models: Mapping[int, Model]) -> None:
    for ranks, model in models.items():
        _say_levels(ranks, model)
        _say_messages(ranks, model.messages)
        for operation in sorted({place[1] for place in record.samples if place[0] == ranks}):
            _say_algorithms(record, model, ranks, operation)


def _models_of(record: Record) -> dict[int, Model]:
    counts = sorted({line["ranks"] for line in record.levels})
    return {ranks: model_of([line for line in record.levels if line["ranks"] == ranks], ranks) for ranks in counts}


def _measured(options: argparse.Namespace, folder: str) -> tuple[Record, dict[int, Model]]:
    operations = choose(options.only)
    counts = parse_ranks(options.ranks)
    sizes = parse_sizes(options.sizes)
    if options.sizes:
        check_sizes(operations, sizes, counts)
    budget = units.parse_seconds(options.budget)
    jobs = Jobs(find_launcher(options.mpi, options.launcher, max(counts)), folder)
    record = Record()
    models = {}
    with Progress(budget) as progress:
        jobs.tick = progress.tick
        progress.stage("the MPI's algorithms")
        mpi = examine(jobs, operations)
        measuring = Measuring(jobs, mpi, record, progress)
        for index, ranks in enumerate(counts):
            share = progress.left() / (len(counts) - index)
            models[ranks] = measuring.levels(ranks)
            wanted = measuring.all_ways(operations, sizes, ranks, None)
            measuring.measure_all(wanted, ranks, max(share * 0.8, 0.5))
    return record, models


def _say_levels(ranks: int, model: Model) -> None:
    say(f"\nMessages between two of {ranks} ranks, alone, take alpha + beta x bytes")
    rows = [_level_row(level) for level in model.levels]
    head = ["ranks on the", "pairs", "alpha", "beta", "flag tW", "copy t"]
    say(table(head, rows))
    shared = [level for level in model.levels if level.flag > 0]
    if not shared:
        return
    say("\nQueues in shared memory: b bytes in s buffers of f = sqrt(b tW / t), up to whole pages")
    rows = []
    for level in shared:
        for memory in _MEMORY:
            size, _ = level.fragment(memory)
            paged = min(max(_PAGE, -(-int(size) // _PAGE) * _PAGE), memory)
            rows.append(
                [level.name, units.size(memory), units.size(round(size)), units.size(paged), f"{memory // paged}"]
            )
    say(table(["ranks on the", "b", "f", "in pages", "s"], rows))


def _say_messages(ranks: int, by: Messages) -> None:
    say(f"\nA message while all {ranks} ranks are in the same operation")
    rows = [
        [
            units.size(size),
            *(units.time(curve(size)) for curve in (by.ping, by.round, by.flood, by.gap, by.copy, by.add)),
        ]
        for size in _SHOWN
    ]
    say(table(["bytes", "one pair", "all in rounds", "all at once", "one more", "own copy", "sum"], rows))


def _level_row(level: Level) -> list[str]:
    beta = f"{level.beta:.3f} ns ({1 / level.beta:.1f} GB/s)"
    if level.flag <= 0:
        return [level.name, str(level.pairs), units.time(level.alpha), beta, "-", "-"]
    copy = f"{level.copy:.3f} ns ({1 / level.copy:.1f} GB/s)"
    return [level.name, str(level.pairs), units.time(level.alpha), beta, units.time(level.flag), copy]


def _say_algorithms(record: Record, model: Model, ranks: int, operation: str) -> None:
    rows = []
    errors = []
    for size in record.sizes(ranks, operation):
        place = (ranks, operation, size)
        estimates = {n: e for n, e in record.estimates(place).items() if record.ways[place][n].algorithm}
        predicted = {}
        for name, way in record.ways[place].items():
            cost = model.predict(operation, name, size, way.segment)
            if cost is not None and way.algorithm:
                predicted[name] = cost
        if not predicted or not estimates:
            continue
        taken = min(predicted, key=lambda name: predicted[name])
        best = min(estimates, key=lambda name: estimates[name].median)
        own = [predicted[name] / estimates[name].median - 1 for name in predicted if name in estimates]
        errors += [abs(error) for error in own]
        real = estimates.get(taken)
        rows.append(
            [
                units.size(size),
                f"{taken}: {units.time(predicted[taken])}",
                units.time(real.median) if real else "-",
                f"{best}: {units.time(estimates[best].median)}",
                f"{100 * statistics.median(abs(e) for e in own):.0f} %" if own else "-",
            ]
        )
    if not rows:
        return
    say(f"\n{operation}, {ranks} ranks")
    say(table(["bytes", "model takes", "measured", "measured best", "error"], rows))
    say(f"  The model is off by {100 * statistics.median(errors):.0f} % (median over sizes and algorithms).")
    _say_changes(*_curves(record, model, ranks, operation), _noise(record, ranks, operation))


def _curves(record: Record, model: Model, ranks: int, operation: str) -> tuple[crossings.Times, crossings.Times]:
    """By algorithm, whatever its segments: the times of the model, and what was measured."""
    by_model: dict[str, dict[int, float]] = {}
    measured: dict[str, dict[int, float]] = {}
    for size in record.sizes(ranks, operation):
        place = (ranks, operation, size)
        for name, estimate in record.estimates(place).items():
            way = record.ways[place][name]
            cost = model.predict(operation, name, size, way.segment)
            if cost is None or not way.algorithm:
                continue
            for times, time in ((by_model, cost), (measured, estimate.median)):
                of = times.setdefault(name.split(",")[0], {})
                of[size] = min(time, of.get(size, time))
    return by_model, measured


def _noise(record: Record, ranks: int, operation: str) -> float:
    """Half of an interval, as a share of its median."""
    halves = [
        (estimate.high - estimate.low) / 2 / estimate.median
        for size in record.sizes(ranks, operation)
        for estimate in record.estimates((ranks, operation, size)).values()
    ]
    return min(max(statistics.median(halves), crossings.LEAST_NOISE), _MOST_NOISE)


def _say_changes(by_model: crossings.Times, measured: crossings.Times, noise: float) -> None:
    found = crossings.verdicts(by_model, measured, noise)
    if not found:
        say("  The best algorithm is the same at all sizes, by the model and as measured.")
        return
    rows = []
    for verdict in found:
        own = units.about(verdict.change.size)
        other = units.about(verdict.other) if verdict.other is not None else "nowhere"
        sides = [own, other] if verdict.by_model else [other, own]
        rows.append([f"{verdict.change.before} to {verdict.change.after}", *sides, _words(verdict)])
    say("\n  Where the best algorithm changes:")
    say(table(["from and to", "model", "measured", "so"], rows, words=1))
    right = sum(verdict.right for verdict in found)
    say(
        f"  {right} of {len(found)} within one doubling, or between algorithms that are as good as each other there "
        f"(less than {100 * noise:.0f} % apart)."
    )


def _words(verdict: crossings.Verdict) -> str:
    side = "measured" if verdict.by_model else "by the model"
    if verdict.right:
        near = verdict.other is not None and 0.5 <= verdict.other / verdict.change.size <= 2
        return "within one doubling" if near else f"as good as each other ({units.percent(verdict.apart)} {side})"
    return f"wrong: the later one takes {units.percent(verdict.apart)} {side}"
