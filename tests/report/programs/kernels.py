# SPDX-License-Identifier: Apache-2.0
"""kernels.c for Python: its path is the program's argument."""

import ctypes
import sys
import time


def load() -> ctypes.CDLL:
    library = ctypes.CDLL(sys.argv[1])
    for name, arguments in (
        ("balanced", [ctypes.c_double]),
        ("triangle", [ctypes.c_double]),
        ("shared_total", [ctypes.c_int]),
        ("many_regions", [ctypes.c_int, ctypes.c_double]),
    ):
        function = library[name]
        function.argtypes = arguments
        function.restype = ctypes.c_double
        setattr(library, name, function)
    library.start()
    return library


def fixed(library: ctypes.CDLL) -> bool:
    return bool(ctypes.c_int.in_dll(library, "fixed").value)


def work(steps: int) -> float:
    """Python's own work. Returns 1."""
    value = 1.0
    for _ in range(steps):
        value = value * 0.5 + 0.5
    return value


def steps_of(milliseconds: float) -> int:
    """Of work(). By the best of many tries, which is one that nothing disturbed."""
    steps = 20000
    best = float("inf")
    for _ in range(10):
        start = time.perf_counter()
        work(steps)
        best = min(best, time.perf_counter() - start)
    return int(milliseconds * 1e-3 / best * steps)


def print_checksum(total: float) -> None:
    print(f"checksum {total:.0f}")
