# SPDX-License-Identifier: Apache-2.0
"""What has been measured: of each operation, size and way all times. It is kept as JSON beside the decision file."""

from __future__ import annotations

import json
import pathlib
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

from .faults import Fault
from .results import replace
from .stats import Estimate, estimate
from .ways import Way

FORMAT = "weft tune 3"
Place = tuple[int, str, int]  # ranks, operation, bytes
Turn = dict[str, list[float]]


@dataclass
class Samples:
    times: list[float] = field(default_factory=list)
    skew: float = 0.0
    fault: str = ""


@dataclass
class Record:
    about: dict[str, Any] = field(default_factory=dict)
    levels: list[dict[str, Any]] = field(default_factory=list)
    ways: dict[Place, dict[str, Way]] = field(default_factory=dict)
    samples: dict[Place, dict[str, Samples]] = field(default_factory=dict)
    # By place the turns behind everything else: the times with the decision file, without it, and so on. No times: the
    # call failed.
    verified: dict[Place, list[Turn]] = field(default_factory=dict)
    pruned: dict[Place, list[str]] = field(default_factory=dict)

    def add(self, place: Place, way: Way, times: list[float], skew: float, fault: str) -> None:
        self.ways.setdefault(place, {})[way.name] = way
        samples = self.samples.setdefault(place, {}).setdefault(way.name, Samples())
        samples.times += times
        samples.skew = max(samples.skew, skew)
        samples.fault = samples.fault or fault

    def estimates(self, place: Place) -> dict[str, Estimate]:
        found = self.samples.get(place, {})
        return {name: estimate(s.times) for name, s in found.items() if s.times and not s.fault}

    def sizes(self, ranks: int, operation: str) -> list[int]:
        return sorted(size for count, name, size in self.samples if (count, name) == (ranks, operation))

    def faults(self) -> Iterator[tuple[Place, str, str]]:
        for place, ways in self.samples.items():
            for name, samples in ways.items():
                if samples.fault:
                    yield place, name, samples.fault

    def write(self, file: pathlib.Path) -> None:
        measured = [
            {**_place(place), "way": asdict(self.ways[place][name]), **asdict(samples)}
            for place, ways in sorted(self.samples.items())
            for name, samples in ways.items()
        ]
        verified = [{**_place(place), "turns": turns} for place, turns in sorted(self.verified.items())]
        pruned = [{**_place(place), "ways": names} for place, names in sorted(self.pruned.items())]
        whole = {
            "format": FORMAT,
            **self.about,
            "levels": self.levels,
            "measured": measured,
            "verified": verified,
            "pruned": pruned,
        }
        replace(file, json.dumps(whole) + "\n")


def _place(place: Place) -> dict[str, Any]:
    ranks, operation, size = place
    return {"ranks": ranks, "operation": operation, "size": size}


def read(file: pathlib.Path) -> Record:
    try:
        whole = json.loads(file.read_text(encoding="utf-8"))
        if whole["format"] != FORMAT:
            raise KeyError("format")
        known = ("format", "levels", "measured", "verified", "pruned")
        record = Record({k: v for k, v in whole.items() if k not in known}, whole["levels"])
        for line in whole["measured"]:
            place = (line["ranks"], line["operation"], line["size"])
            way = Way(**{**line["way"], "settings": tuple((n, v) for n, v in line["way"]["settings"])})
            record.add(place, way, line["times"], line["skew"], line["fault"])
        for line in whole["verified"]:
            place = (line["ranks"], line["operation"], line["size"])
            record.verified[place] = line["turns"]
        return record
    except OSError as error:
        raise Fault(f"{file}: {error.strerror}") from None
    except (ValueError, KeyError, TypeError) as error:
        raise Fault(f"{file}: no measurements of weft tune, or damaged ({error!r})") from None
