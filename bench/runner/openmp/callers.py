# SPDX-License-Identifier: Apache-2.0
"""A pool of threads that all call a library which is parallel inside, with and without other programs at work. The gain
is large enough to be seen on any machine, however busy it is."""

from collections.abc import Iterator
from functools import partial

from ..frame.machine import cpus
from ..frame.process import computing
from ..frame.runtimes import Runtime
from ..frame.samples import DEFAULT
from ..frame.study import Turn
from .study import OpenMpStudy

COUNTS, DEMO = (1, 8), (8,)


class Callers(OpenMpStudy):
    name = "callers"

    def turns(self) -> Iterator[Turn]:
        for others in (0, cpus() + 1):
            for callers in DEMO if self.demo or self.smoke else COUNTS:
                name = f"{callers} callers{f', {others} programs beside' if others else ''}"
                for runtime in self.runtimes:
                    yield f"{name}: {runtime.name}", partial(self._measure, name, callers, others, runtime)

    def _measure(self, name: str, callers: int, others: int, runtime: Runtime) -> None:
        what = f"callers_{callers}"
        with computing(others):
            result = self.json_under(runtime, [self.program("callers"), "--repeat", self.repeat(5, 1), what])
        if result:
            self.samples.add(DEFAULT, runtime.name, name, result[what]["samples"], "ms")

    def title(self) -> str:
        return "a pool of threads that call a library, medians" if self.demo else "medians"

    def gains(self) -> dict[str, float]:
        """Each measure of weft over the best other runtime."""
        ratios = {
            measure: self.samples.ratio(self.names, DEFAULT, measure, "best") for _, measure in self.samples.rows()
        }
        return {f"{name} / the best other runtime": value for name, value in ratios.items() if value is not None}
