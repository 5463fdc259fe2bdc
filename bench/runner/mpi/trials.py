# SPDX-License-Identifier: Apache-2.0
"""Runs of one MPI program in several versions, and what came of them."""

import dataclasses
import statistics

from .jobs import Outcome, Place, Way

UNIT = "Mupdates/s"


@dataclasses.dataclass(frozen=True)
class Trial:
    """One run of a program: a row of the table for each place, share and size, a column for each series."""

    problem: str  # what is computed: all trials of the same one have the same result
    place: Place
    share: str  # of the ranks in it: "even", or "3,1"
    version: str
    size: str  # of blocks; empty: it has none
    way: Way
    words: tuple[object, ...]

    @property
    def series(self) -> str:
        return f"{self.version}, {self.way.name}"

    @property
    def row(self) -> tuple[str, str, str]:
        return self.place.label, self.share, self.size

    @property
    def shown(self) -> str:
        return f"{self.place.label}: {self.series}: {' '.join(map(str, self.words))}"


@dataclasses.dataclass
class Results:
    rates: dict[Trial, list[float]] = dataclasses.field(default_factory=dict)
    hung: dict[Trial, str] = dataclasses.field(default_factory=dict)
    failed: dict[Trial, str] = dataclasses.field(default_factory=dict)
    hashes: dict[str, str] = dataclasses.field(default_factory=dict)  # of each problem, by its first trial

    def rate(self, like: Trial, version: str, threads: int | None = None) -> float | None:
        """The best median of this version where the ranks, their rows and their blocks, if there are, are the same.
        With so many threads; None: with any number."""

        def fits(other: Trial) -> bool:
            places = [dataclasses.replace(trial.place, threads=0) for trial in (like, other)]
            return (
                (other.version, other.problem, other.share) == (version, like.problem, like.share)
                and places[0] == places[1]
                and other.size in ("", like.size)
                and threads in (None, other.place.threads)
            )

        return max((statistics.median(rates) for trial, rates in self.rates.items() if fits(trial)), default=None)

    def hangs(self, trial: Trial) -> bool:
        """In another size too: what hangs is not waited for again."""
        return any(dataclasses.replace(other, size=trial.size, words=trial.words) == trial for other in self.hung)

    def take(self, trial: Trial, outcome: Outcome) -> None:
        reason = outcome.reason
        if outcome.hung:
            self.hung[trial] = reason
            if trial.way.preloaded is None:
                return  # a result, and the reason for task-aware MPI
        if outcome.result is not None:
            found = outcome.result["hash"]
            expected = self.hashes.setdefault(trial.problem, found)
            if found == expected:
                self.rates.setdefault(trial, []).append(1e-6 * outcome.result["updates_per_second"])
                return
            reason = f"the result's hash is {found}, not {expected} as that of the first run"
        self.failed[trial] = reason
