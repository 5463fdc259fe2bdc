#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times a Python thread pool whose threads call LAPACK: the wheels' own threads, one thread each, weft. For a quiet machine.

usage: balance.py WEFT PYTHON [--size N] [--repeat N] [--smoke]

Balanced: as many equal tasks for every thread; unbalanced: the last tasks are four times as long, so that few threads are left.
"""

import argparse
import os
import re
import statistics
import subprocess

WORK = """
import sys, time, numpy as np
from multiprocessing.pool import ThreadPool
kind, threads, size, unbalanced = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4] == "unbalanced"
call = {"eig": np.linalg.eigvals, "qr": np.linalg.qr, "solve": lambda a: np.linalg.solve(a, a), "gemm": lambda a: a @ a}[kind]
rng = np.random.default_rng(0)
sizes = [size] * (2 * threads) + ([int(size * 1.6)] * 3 if unbalanced else [])
tasks = [rng.standard_normal((n, n)) for n in sizes]
with ThreadPool(threads) as pool:
    pool.map(call, tasks[:threads], chunksize=1)
    start = time.perf_counter()
    pool.map(call, tasks, chunksize=1)
    print(time.perf_counter() - start)
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("weft")
    parser.add_argument("python")
    parser.add_argument("--size", type=int, default=300)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--smoke", action="store_true", help="small and once, to see that it works")
    options = parser.parse_args()
    if options.smoke:
        options.size, options.repeat = 60, 1
    ways = {
        "default": ({}, []),
        "one each": ({"OPENBLAS_NUM_THREADS": "1"}, []),
        "weft": ({"WEFT_STATS": "all"}, [options.weft, "run", "--"]),
    }
    print(f"{'case':24}" + "".join(f"{way:>12}" for way in ways) + "   weft's calls, lent, lowered, raised")
    for kind in "eig", "qr", "solve", "gemm":
        for balance in "balanced", "unbalanced":
            for threads in (1, 4) if options.smoke else (1, 2, 4, 16):
                line, counts = f"{kind} {balance} {threads}", ""
                times = {way: [] for way in ways}
                for _ in range(options.repeat):
                    for way, (settings, prefix) in ways.items():
                        done = subprocess.run(
                            [*prefix, options.python, "-c", WORK, kind, str(threads), str(options.size), balance],
                            env=os.environ | settings,
                            capture_output=True,
                            text=True,
                            check=True,
                        )
                        times[way].append(float(done.stdout))
                        counts = (
                            " ".join(re.findall(r"(?:, calls|to them|lowered|raised): (\d+)", done.stderr)) or counts
                        )
                print(
                    f"{line:24}" + "".join(f"{statistics.median(times[way]):12.3f}" for way in ways) + f"   {counts}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
