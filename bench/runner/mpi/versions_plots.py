# SPDX-License-Identifier: Apache-2.0
"""Pictures of a study of an MPI program: the versions in each place, over the ranks, and over the sizes of blocks."""

import collections
import pathlib
import statistics
from collections.abc import Callable, Mapping

from ..frame import plots
from .trials import UNIT, Trial

Rates = Mapping[Trial, list[float]]


def draw(folder: pathlib.Path, title: str, program: str, rates: Rates) -> None:
    for mpi, share in dict.fromkeys((trial.place.mpi, trial.share) for trial in rates):
        here = {trial: values for trial, values in rates.items() if (trial.place.mpi, trial.share) == (mpi, share)}
        about = f"{title}\n{mpi}, rows {share}"
        stem = f"{program}_{mpi}_{share.replace(':', '_')}"
        for size in dict.fromkeys(trial.size for trial in here if trial.size) or [""]:
            _by_place(folder / f"{stem}_{size or 'all'}", f"{about}{f', block {size}' if size else ''}", here, size)
        plots.lines(folder / f"{stem}_ranks", about, "ranks", UNIT, _best(here, lambda trial: trial.place.ranks))
        blocks = {trial: values for trial, values in here.items() if trial.size}
        plots.lines(folder / f"{stem}_blocks", about, "block", UNIT, _best(blocks, lambda trial: int(trial.size)))


def _by_place(stem: pathlib.Path, title: str, rates: Rates, size: str) -> None:
    """Versions without blocks stand beside those with blocks of this size."""
    values: dict[str, dict[str, list[float]]] = collections.defaultdict(dict)
    for trial, samples in rates.items():
        if trial.size in ("", size):
            values[trial.series][f"{trial.place.ranks} x {trial.place.threads}"] = samples
    plots.bars(stem, title, "ranks x threads", UNIT, values)


def _best(rates: Rates, number: Callable[[Trial], int]) -> dict[str, dict[int, list[float]]]:
    """Of each version at each number, the samples with the best median."""
    values: dict[str, dict[int, list[float]]] = collections.defaultdict(dict)
    for trial, samples in rates.items():
        best = values[trial.series].get(number(trial))
        if best is None or statistics.median(samples) > statistics.median(best):
            values[trial.series][number(trial)] = samples
    return values
