# SPDX-License-Identifier: Apache-2.0
"""What is measured: the programs that run at once, what weft must take over in them, and how results compare."""

import dataclasses
import itertools

from . import modes
from .modes import Mode

NODE = "node"
SCALING_MODES = (modes.DEFAULT, "one-thread", modes.OWN, "weft-static")
NODE_MODES = (modes.DEFAULT, "one-thread", modes.OWN, "weft-node")


@dataclasses.dataclass(frozen=True)
class Program:
    script: str  # in bench/python/workloads
    arguments: tuple[str, ...]
    callers: int = 0  # threads that call the libraries at once; 0: nobody has counted them


@dataclasses.dataclass(frozen=True)
class Workload:
    name: str
    title: str
    programs: tuple[Program, ...]  # started together; the time of several is from the common start to the last end
    # What weft has to take over for its modes to be what they are called: openmp, openblas, tbb.
    needs: tuple[str, ...]
    tolerance: float = 1e-6  # relative, of the checksums of two modes
    packages: tuple[str, ...] = ()  # not among the required ones
    study: str = ""  # the figure of several workloads that this one is a point of
    x: int = 0  # where it is there
    modes: tuple[str, ...] = ()  # empty: all
    quota: float = 1  # the part of the CPUs' time that all programs may have together

    def takes(self, mode: Mode) -> bool:
        return not self.modes or mode.name in self.modes


QR = Program("qr.py", ("balanced",))
EIGENVALUES = Program("eigenvalues.py", ("balanced",))
KMEANS = Program("learn.py", ("kmeans",))
UNBALANCED_QR, UNBALANCED = (Program(script, ("unbalanced",)) for script in ("qr.py", "eigenvalues.py"))
PROCESSES, THREADS = (Program("learn.py", (f"cross-validation-{by}",)) for by in ("processes", "threads"))
ALTERNATION, BOOSTING = (Program("learn.py", (case,), 1) for case in ("alternation", "boosting"))
LOOPS, LOOPS_BY_TBB = (Program("loops.py", (layer,)) for layer in ("omp", "tbb"))
TRANSFORMER = Program("inference.py", ("transformer",))
BLAS, OPENMP = ("openblas",), ("openmp",)

SINGLE = (
    Workload("qr-balanced", "QR, balanced (Dask)", (QR,), BLAS),
    Workload("qr-unbalanced", "QR, unbalanced (Dask)", (UNBALANCED_QR,), BLAS),
    Workload("eigenvalues-balanced", "Eigenvalues, balanced (ThreadPool)", (EIGENVALUES,), BLAS),
    Workload("eigenvalues-unbalanced", "Eigenvalues, unbalanced (ThreadPool)", (UNBALANCED,), BLAS),
    # Sums of a loop are in another order with another number of threads.
    Workload("kmeans", "KMeans in a ThreadPool", (KMEANS,), OPENMP, 1e-3),
    Workload(
        "cross-validation-processes", "Gradient boosting, cross-validated by processes", (PROCESSES,), OPENMP, 1e-2
    ),
    Workload("cross-validation-threads", "Gradient boosting, cross-validated by threads", (THREADS,), OPENMP, 1e-2),
    Workload("numba-openmp", "numba (OpenMP) in a ThreadPool", (LOOPS,), OPENMP),
    Workload("numba-tbb", "numba (TBB) in a ThreadPool", (LOOPS_BY_TBB,), ("tbb",)),
    Workload("inference", "Transformer in a ThreadPool (PyTorch)", (TRANSFORMER,), OPENMP, 1e-3, packages=("torch",)),
    Workload("mix", "KMeans beside eigenvalues, two processes", (KMEANS, EIGENVALUES), (*OPENMP, *BLAS), 1e-3),
    # Of scikit-learn's issues: members that wait should spin for the one and sleep for the other; too many threads.
    Workload("alternation", "Gradient boosting and eigenvalues in turn", (ALTERNATION,), (*OPENMP, *BLAS), 1e-2),
    Workload("boosting", "Gradient boosting, four processes at once", (BOOSTING,) * 4, OPENMP, 1e-2),
)

# Libraries that each bring a thread for every CPU, called by so many threads.
STACKS = {
    "products": ("NumPy", BLAS, "numpy"),
    "frames": ("Polars, NumPy, KMeans", (*OPENMP, *BLAS), "polars"),
    "columns": ("Arrow, pandas, numba's workqueue, NumPy", BLAS, "pyarrow"),
    # OpenCV's wheel has an OpenBLAS too, 0.3.15, which weft leaves alone.
    "images": ("OpenCV, NumPy", (), "cv2"),
    "sessions": ("onnxruntime, KMeans", OPENMP, "onnxruntime"),
}
CALLERS = (2, 8)

# One of each kind: BLAS in threads, with few of them at the end, OpenMP, both, a compiler's loops, two processes.
SHORT = ("qr-balanced", "eigenvalues-unbalanced", "kmeans", "cross-validation-threads", "numba-openmp", "mix")


def _powers_of_two(last: int) -> list[int]:
    return [*itertools.takewhile(lambda count: count < last, (2**k for k in range(20))), last]


def scaling(kind: str, cpus: int, quick: bool) -> list[Workload]:
    """The paper's section 3.5: the balanced eigenvalues by 1 to as many workers as there are CPUs, at least to 8."""
    return [
        Workload(
            f"scaling-{kind}-{workers}",
            f"Eigenvalues by {workers} {kind}",
            (Program("eigenvalues.py", ("balanced", "--pool", kind, "--workers", str(workers))),),
            BLAS,
            study=f"scaling-{kind}",
            x=workers,
            modes=SCALING_MODES,
        )
        for workers in ([1, 4] if quick else _powers_of_two(max(8, cpus)))
    ]


def stacks(name: str) -> list[Workload]:
    title, needs, package = STACKS[name]
    return [
        Workload(
            f"{name}-{callers}",
            f"{title}: {callers} callers",
            (Program("stacks.py", (name, "--callers", str(callers)), callers),),
            needs,
            tolerance=1e-3,
            packages=(package,),
        )
        for callers in CALLERS
    ]


def node(quick: bool) -> list[Workload]:
    """The same program several times at once; the ideal is that many times what it takes alone."""
    return [
        Workload(
            f"node-{count}",
            f"KMeans, {count} process{'es' if count > 1 else ''} at once",
            (KMEANS,) * count,
            OPENMP,
            tolerance=1e-3,
            study=NODE,
            x=count,
            modes=NODE_MODES,
        )
        for count in ([1, 2] if quick else [1, 2, 4, 8])
    ]


def families(cpus: int, quick: bool) -> dict[str, list[Workload]]:
    """What --only can name: each workload, and the studies."""
    found = {workload.name: [workload] for workload in SINGLE}
    found |= {name: stacks(name) for name in STACKS}
    return found | {
        "scaling-threads": scaling("threads", cpus, quick),
        "scaling-processes": scaling("processes", cpus, quick),
        NODE: node(quick),
    }
