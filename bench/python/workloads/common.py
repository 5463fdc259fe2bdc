# SPDX-License-Identifier: Apache-2.0
"""What the workloads share: their command line, how parts are timed, and the JSON they print."""

import argparse
import contextlib
import ctypes
import importlib.metadata
import json
import math
import multiprocessing.pool
import os
import pathlib
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

PACKAGES = (
    *("numpy", "scipy", "dask", "scikit-learn", "numba", "torch", "joblib", "threadpoolctl", "polars", "pyarrow"),
    *("onnxruntime", "xllamacpp"),
)
RUNTIMES = ("libgomp", "libomp.", "libomp-", "libiomp")


def cpus() -> int:
    """The CPUs that this process may use: what every size is a multiple of."""
    return len(os.sched_getaffinity(0))


def memory_bytes() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def parser(description: str, cases: Sequence[str]) -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(description=description)
    made.add_argument("case", choices=cases)
    made.add_argument("--quick", action="store_true", help="small sizes: does it work at all")
    made.add_argument(
        "--gate", action="store_true", help="say when ready, wait for a line, and say what each part took"
    )
    return made


class Measurement:
    """Times the parallel parts of a workload, each a step, and prints the result as one line of JSON."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self._arguments = arguments
        self._steps: list[dict[str, Any]] = []
        self._begin = self._end = self._cpu_begin = 0.0

    def ready(self) -> None:
        """What comes before is set-up and is not measured."""
        if self._arguments.gate:
            self._say({"ready": True})
            sys.stdin.readline()
        self._cpu_begin = _cpu_seconds()
        self._begin = time.monotonic()

    @contextlib.contextmanager
    def step(self, name: str, counted: bool = True) -> Iterator[None]:
        begin = time.monotonic()
        yield
        self._end = time.monotonic()
        step = {"name": name, "seconds": self._end - begin, "counted": counted}
        self._steps.append(step)
        if self._arguments.gate:
            self._say({"step": step})

    def in_threads(self, call: Callable[[Any], Any], items: Iterable[Any], workers: int, repeats: int) -> list[Any]:
        """Steps of `call` for each item by a pool of threads; the first does not count. The results of the last."""
        results: list[Any] = []
        with multiprocessing.pool.ThreadPool(workers) as pool:
            self.ready()
            for index in range(repeats):
                with self.step(f"round {index}", counted=index > 0):
                    results = pool.map(call, items, 1)
        return results

    def finish(
        self,
        checksum: float,
        wrong: str,
        sizes: dict[str, Any],
        combine: Callable[[list[float]], float] = statistics.median,
    ) -> int:
        """`combine` makes one time of those of the counted steps. Returns the exit status."""
        counted = [step["seconds"] for step in self._steps if step["counted"]]
        if not wrong and not math.isfinite(checksum):
            wrong = f"the checksum is {checksum}"
        result = {
            "workload": f"{pathlib.Path(sys.argv[0]).stem} {self._arguments.case}",
            "seconds": combine(counted),
            "checksum": checksum,
            "wrong": wrong,
            "steps": self._steps,
            # CLOCK_MONOTONIC, the same for all processes: how long several of them took together.
            "begin": self._begin,
            "end": self._end,
            # Of this process and of children that have ended.
            "cpu_seconds": _cpu_seconds() - self._cpu_begin,
            "threads": len(list(pathlib.Path("/proc/self/task").iterdir())),
            "cpus": cpus(),
            "sizes": sizes,
            "libraries": libraries(),
            "packages": _packages(),
        }
        self._say({"result": result} if self._arguments.gate else result)
        return 1 if wrong else 0

    def _say(self, line: dict[str, Any]) -> None:
        print(json.dumps(line), flush=True)


def libraries() -> dict[str, Any]:
    """The OpenMP runtimes that are mapped, and for each OpenBLAS whether somebody else runs its jobs."""
    lines = pathlib.Path("/proc/self/maps").read_text().splitlines()
    files = dict.fromkeys(line.split(maxsplit=5)[5] for line in lines if line.count("/") and ".so" in line)
    return {
        "openmp": [file for file in files if pathlib.Path(file).name.startswith(RUNTIMES)],
        "tbb": [file for file in files if pathlib.Path(file).name.startswith(("libtbb.", "libtcm."))],
        "openblas": {file: _has_callback(file) for file in files if "openblas" in pathlib.Path(file).name},
    }


def _has_callback(file: str) -> bool:
    """Whether OpenBLAS hands its jobs to a callback; it has the variable since 0.3.28."""
    try:
        return bool(ctypes.c_void_p.in_dll(ctypes.CDLL(file), "openblas_threads_callback_").value)
    except (OSError, ValueError):
        return False


def _packages() -> dict[str, str]:
    found = {}
    for name in PACKAGES:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            found[name] = importlib.metadata.version(name)
    return found


def _cpu_seconds() -> float:
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system
