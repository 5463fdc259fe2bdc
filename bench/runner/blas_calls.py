# SPDX-License-Identifier: Apache-2.0
"""Single calls of BLAS and LAPACK outside of regions, as a program makes them that is linked in one way or another."""

import collections

from .process import Session
from .targets import Key, Samples, Verdict, ratio

# Debian's libblas.so.3 and liblapack.so.3 stand in front of OpenBLAS and ask the runtime too.
LINKED = {"split": "-llapack -lblas", "direct": "-lopenblas"}
VECTORS = (
    "gemv_100",
    "gemv_150",
    "gemv_400",
    "gemv_t_200",
    "cblas_gemv_150",
    "ger_100",
    "ger_200",
    "ger_400",
    "symv_200",
)
MATRICES = ("gemm_60", "gemm_200", "geqrf_100", "geqrf_300", "geqrf_600", "getrf_300", "potrf_300")
VALUES = ("gesdd_200", "syev_200", "geev_200")
ALL = (*VECTORS, *MATRICES, *VALUES)
DEMO = ("gemv_150", "ger_200", "geqrf_300", "gesdd_200")
SMOKE = ("gemv_100", "geqrf_100")
LIMIT = 1.02


def _linked(session: Session) -> list[str]:
    # Another OpenBLAS has no such libraries in front of it.
    return ["direct"] if session.blas else list(LINKED)


def count(session: Session, routines: tuple[str, ...]) -> int:
    return session.rounds * len(session.runtimes) * len(_linked(session)) * len(routines)


def measure(session: Session, routines: tuple[str, ...]) -> tuple[dict[Key, list[float]], dict[str, str]]:
    """All samples, and the unit of each measure."""
    samples: dict[Key, list[float]] = collections.defaultdict(list)
    units = {}
    repeat = session.repeat or (3 if session.smoke else 15)
    for _ in range(session.rounds):
        for routine in routines:
            for way in _linked(session):
                name = f"{routine}, {LINKED[way]}"
                for runtime in session.runtimes:
                    session.step(f"{name}: {runtime.name}")
                    result = session.run(runtime, [session.program(f"blas_calls_{way}"), "--repeat", repeat, routine])
                    if result:
                        samples["default", runtime.name, name] += [1e-3 * ns for ns in result[routine]["samples"]]
                        units[name] = "us"
    return dict(samples), units


def verdicts(samples: Samples, runtimes: list[str]) -> list[Verdict]:
    found = []
    for measure_name in dict.fromkeys(name for _, _, name in samples):
        value = ratio(samples, runtimes, "default", measure_name, "libgomp")
        if value is not None and "libgomp" in runtimes:
            found.append(Verdict("call of a library / libgomp", measure_name, value, LIMIT, ""))
    return found
