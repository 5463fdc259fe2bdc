# SPDX-License-Identifier: Apache-2.0
"""What an algorithm should cost on this machine, by what messages cost there. The model only says what need not be
measured."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .formulas import Call, formula_of
from .messages import Messages, is_pattern, messages_of

_SMALL = 64
_LARGE = 32768


@dataclass(frozen=True)
class Level:
    """Two ranks that are so near, alone: a message of m bytes takes alpha + beta m. For people, and for queues."""

    name: str
    pairs: int
    alpha: float  # nanoseconds
    beta: float  # nanoseconds for a byte
    flag: float  # tW: until another rank sees a flag; 0: ranks share no memory
    copy: float  # t: to copy a byte out of shared memory

    def fragment(self, memory: int) -> tuple[float, float]:
        """The bytes f of a buffer of a queue in that many bytes of memory, and how many there are: s."""
        size = math.sqrt(memory * self.flag / self.copy)
        return size, memory / size


def level_of(line: Mapping[str, Any]) -> Level:
    points = line["points"]
    alpha = statistics.median(time for count, time in points if count <= _SMALL)
    slopes = [(time - alpha) / count for count, time in points if count >= _LARGE]
    beta = max(statistics.median(slopes), 1e-4)
    if line["flag"] > 0 and line["copy"] <= 0:
        raise ValueError("copy")
    return Level(line["level"], line["pairs"], alpha, beta, line["flag"], line["copy"])


class Model:
    """Of one number of ranks."""

    def __init__(self, levels: Sequence[Level], messages: Messages, ranks: int) -> None:
        self.levels = list(levels)
        self.messages = messages
        self._ranks = ranks

    def predict(self, operation: str, name: str, size: int, segment: int = 0) -> float | None:
        """Nanoseconds. None: there is no formula for it."""
        formula = formula_of(operation, name)
        if formula is None or self._ranks < 2:
            return None
        return formula(Call(self._ranks, size, segment, self.messages))


def model_of(lines: Sequence[Mapping[str, Any]], ranks: int) -> Model:
    """Of what the measuring program writes of levels and messages."""
    return Model([level_of(line) for line in lines if not is_pattern(line)], messages_of(lines), ranks)
