# SPDX-License-Identifier: Apache-2.0
"""Single calls of BLAS and LAPACK outside of regions, as a program makes them that is linked in one way or another."""

from collections.abc import Iterator
from functools import partial

from ..frame.runtimes import Runtime
from ..frame.samples import DEFAULT
from ..frame.study import Turn
from ..frame.verdict import Verdict
from .study import OpenMpStudy

# Debian's libblas.so.3 and liblapack.so.3 stand in front of OpenBLAS and ask the runtime too.
LINKED = {"split": "-llapack -lblas", "direct": "-lopenblas"}
VECTORS = (
    *("gemv_100", "gemv_150", "gemv_400", "gemv_t_200", "cblas_gemv_150"),
    *("ger_100", "ger_200", "ger_400", "symv_200"),
)
MATRICES = ("gemm_60", "gemm_200", "geqrf_100", "geqrf_300", "geqrf_600", "getrf_300", "potrf_300")
VALUES = ("gesdd_200", "syev_200", "geev_200")
ALL = (*VECTORS, *MATRICES, *VALUES)
DEMO = ("gemv_150", "ger_200", "geqrf_300", "gesdd_200")
SMOKE = ("gemv_100", "geqrf_100")
LIMIT = 1.02


class BlasCalls(OpenMpStudy):
    name = "blas-calls"

    def turns(self) -> Iterator[Turn]:
        for routine in SMOKE if self.smoke else DEMO if self.demo else ALL:
            # Another OpenBLAS has no such libraries in front of it.
            for way in ["direct"] if self.blas else LINKED:
                name = f"{routine}, {LINKED[way]}"
                for runtime in self.runtimes:
                    yield f"{name}: {runtime.name}", partial(self._measure, name, routine, way, runtime)

    def _measure(self, name: str, routine: str, way: str, runtime: Runtime) -> None:
        command = [self.program(f"blas_calls_{way}"), "--repeat", self.repeat(15, 3), routine]
        if result := self.json_under(runtime, command):
            values = [1e-3 * ns for ns in result[routine]["samples"]]
            self.samples.add(DEFAULT, runtime.name, name, values, "us")

    def judge(self) -> list[Verdict]:
        ratios = {name: self.samples.ratio(self.names, DEFAULT, name, "libgomp") for _, name in self.samples.rows()}
        return [
            Verdict("call of a library / libgomp", name, value, LIMIT)
            for name, value in ratios.items()
            if value is not None
        ]
