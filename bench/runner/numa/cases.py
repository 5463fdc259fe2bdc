# SPDX-License-Identifier: Apache-2.0
"""What `bench/run numa` measures."""

import dataclasses
from typing import Any

INTERLEAVED = "interleaved"
FIRST_TOUCHES = ("serial", "parallel", INTERLEAVED)


@dataclasses.dataclass(frozen=True)
class Case:
    rows: int
    first_touch: str
    threads: int
    bound: bool
    balanced: bool  # automatic balancing is on
    repetitions: str  # as dgemv takes them

    def command(self, program: str) -> list[str]:
        return [program, *map(str, (self.rows, self.rows, self.repetitions, self.first_touch, self.threads))]

    def variables(self) -> dict[str, str]:
        bound = {"OMP_PROC_BIND": "spread", "OMP_PLACES": "cores"} if self.bound else {}
        return {"OMP_NUM_THREADS": str(self.threads), "OMP_DYNAMIC": "false", **bound}

    def label(self) -> str:
        return f"{self.rows} rows, {self.first_touch}, {self.threads} threads, {self.ways()}"

    def ways(self) -> str:
        return f"{'bound' if self.bound else 'not bound'}{', balancing' if self.balanced else ''}"


# What dgemv printed, by runtime and case.
Samples = dict[tuple[str, Case], list[dict[str, Any]]]
