# SPDX-License-Identifier: Apache-2.0
"""numba's parallel loops, called by several threads at once; its threads come from OpenMP or from TBB."""

import ctypes
import math
import pathlib
import sys

import common
import numba
import numpy as np

REPEATS = 3
LENGTH, QUICK_LENGTH = 400_000, 20_000
CALLS, QUICK_CALLS = 40, 4  # for each CPU


@numba.njit(parallel=True, nogil=True)
def price(spot: np.ndarray, strike: np.ndarray, years: np.ndarray, out: np.ndarray) -> None:
    """European call options by Black and Scholes, rate 2 %, volatility 30 %."""
    for i in numba.prange(len(spot)):
        deviation = 0.3 * math.sqrt(years[i])
        d1 = (math.log(spot[i] / strike[i]) + (0.02 + 0.045) * years[i]) / deviation
        d2 = d1 - deviation
        discounted = strike[i] * math.exp(-0.02 * years[i])
        out[i] = 0.5 * (spot[i] * (1 + math.erf(d1 / math.sqrt(2))) - discounted * (1 + math.erf(d2 / math.sqrt(2))))


def main() -> int:
    arguments = common.parser(__doc__, ("omp", "tbb")).parse_args()
    numba.config.THREADING_LAYER = arguments.case
    if arguments.case == "tbb":
        # The package puts the library where no linker looks.
        ctypes.CDLL(str(pathlib.Path(sys.prefix) / "lib/libtbb.so.12"))
    length, calls = (QUICK_LENGTH, QUICK_CALLS) if arguments.quick else (LENGTH, CALLS)
    workers = max(2, common.cpus())
    random = np.random.default_rng(1)
    spot, strike, years = (random.uniform(low, high, length) for low, high in ((10, 50), (10, 50), (0.5, 3)))
    price(spot[:2], strike[:2], years[:2], np.empty(2))  # compiles

    def call(_: int) -> np.ndarray:
        out = np.empty(length)
        price(spot, strike, years, out)
        return out

    measured = common.Measurement(arguments)
    results = measured.in_threads(call, range(calls * workers), workers, REPEATS)
    expected = np.empty(length)
    price.py_func(spot[:100], strike[:100], years[:100], expected)
    wrong = ""
    if not all(np.allclose(result[:100], expected[:100]) for result in results):
        wrong = "prices differ from those of the loop in Python"
    elif not all(np.array_equal(result, results[0]) for result in results):
        wrong = "calls with the same arguments differ"
    sizes = {"length": length, "calls": len(results), "workers": workers, "layer": numba.threading_layer()}
    return measured.finish(float(results[0].sum()), wrong, sizes)


if __name__ == "__main__":
    sys.exit(main())
