# SPDX-License-Identifier: Apache-2.0
"""`weft tune explain`: the model of this machine, what it would take, and how far it is from what is measured."""

from __future__ import annotations

import argparse
import os
import pathlib
import statistics
from collections.abc import Mapping

from . import units
from .collectives import parse_ranks, parse_sizes
from .console import Progress, say
from .family import find_launcher
from .faults import Fault
from .jobs import Jobs
from .measuring import Measuring
from .model import Level, Model, level_of
from .mpis import examine
from .operations import check_sizes, choose
from .record import Record
from .record import read as read_record
from .table import table

# Of memory of queues, for which the best fragments are shown.
_MEMORY = (64 << 10, 256 << 10, 1 << 20)
_PAGE = 4096
_SIZES = (8, 2048, 131072)


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
        for operation in sorted({place[1] for place in record.samples if place[0] == ranks}):
            _say_algorithms(record, model, ranks, operation)


def _models_of(record: Record) -> dict[int, Model]:
    counts = sorted({line["ranks"] for line in record.levels})
    cpus = record.about.get("cpus", len(os.sched_getaffinity(0)))
    return {
        ranks: Model([level_of(line) for line in record.levels if line["ranks"] == ranks], ranks, cpus)
        for ranks in counts
    }


def _measured(options: argparse.Namespace, folder: str) -> tuple[Record, dict[int, Model]]:
    operations = choose(options.only)
    counts = parse_ranks(options.ranks)
    sizes = parse_sizes(options.sizes, _SIZES)
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
            measuring.measure(wanted, ranks, max(share * 0.8, 0.5), rounds=1)
    return record, models


def _say_levels(ranks: int, model: Model) -> None:
    say(f"\nMessages between two of {ranks} ranks take alpha + beta x bytes")
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
