# SPDX-License-Identifier: Apache-2.0
"""All samples of a study, each in its place."""

import re
import statistics
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from .spread import summary

DEFAULT = "default"  # where threads wait as the runtime has it, and where nothing else differs


class Samples(dict[tuple[str, str, str], list[float]]):
    """By policy (how threads wait, or where a program ran), series (a runtime, or another thing compared), measure."""

    def __init__(self) -> None:
        super().__init__()
        self.units: dict[str, str] = {}  # of each measure

    def add(self, policy: str, series: str, measure: str, values: Iterable[float], unit: str) -> None:
        self.setdefault((policy, series, measure), []).extend(values)
        self.units[measure] = unit

    def take(self, policy: str, series: str, result: Mapping[str, Any]) -> None:
        """All measures of what a program has written."""
        for measure, value in result.items():
            if isinstance(value, dict) and "samples" in value:
                self.add(policy, series, measure, value["samples"], value["unit"])

    def median(self, policy: str, series: str, measure: str) -> float | None:
        taken = self.get((policy, series, measure))
        return statistics.median(taken) if taken else None

    def medians(self) -> dict[tuple[str, str, str], float]:
        return {key: statistics.median(taken) for key, taken in self.items() if taken}

    def policies(self) -> list[str]:
        return list(dict.fromkeys(policy for policy, _, _ in self))

    def rows(self) -> list[tuple[str, str]]:
        """Each policy and measure."""
        return list(dict.fromkeys((policy, measure) for policy, _, measure in self))

    def ratio(self, names: Collection[str], policy: str, measure: str, against: str) -> float | None:
        """weft's median over that of the series `against`, or of the "best" of the others; alone if `against` is empty.
        None: one of them was not measured."""
        medians = {name: self.median(policy, name, measure) for name in names}
        own = medians.pop("weft", None)
        if own is None or not against:
            return own
        peers = [value for name, value in medians.items() if value is not None and against in ("best", name)]
        return own / min(peers) if peers and min(peers) > 0 else None

    def curves(self, policy: str, pattern: str, scale: float) -> dict[str, dict[int, list[float]]]:
        """For a picture: of each series, the measures of this pattern by the number `x` in them. What else the pattern
        holds makes a series of its own."""
        found: dict[str, dict[int, list[float]]] = {}
        for (where, series, measure), taken in self.items():
            match = re.fullmatch(pattern, measure)
            if where == policy and match:
                name = ", ".join([series, *(text for key, text in match.groupdict().items() if key != "x")])
                found.setdefault(name, {})[int(match["x"])] = [scale * value for value in taken]
        return found

    def as_json(self) -> list[dict[str, Any]]:
        return [
            {"measure": measure, "policy": policy, "runtime": series, "unit": self.units[measure]}
            | summary(taken)
            | {"counted": taken}
            for (policy, series, measure), taken in self.items()
            if taken
        ]


# The columns of samples as CSV.
COLUMNS = ("measure", "policy", "runtime", "unit", "median", "p10", "p90")
