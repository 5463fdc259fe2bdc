# SPDX-License-Identifier: Apache-2.0
"""Whether a mode of weft is in force in this process: probe.py static|exclusive|counting|node.

Prints one line of JSON; "missing" is empty when it is, else what was expected and not seen. It looks at what the
runtime does, since a variable can be accepted and have no effect.
"""

import ctypes
import json
import multiprocessing
import multiprocessing.pool
import os
import pathlib
import sys
import threading
import time

WAIT_S = 1.0


def cpus() -> int:
    return len(os.sched_getaffinity(0))


def worker_cpus(_: int) -> int:
    return cpus()


def worker_threads(_: int) -> int:
    return ctypes.CDLL("libgomp.so.1").omp_get_max_threads()


def static() -> str:
    """Workers of a pool as large as the machine have a limit: CPUs of their own, or fewer threads."""
    workers = cpus()
    with multiprocessing.Pool(workers) as pool:
        if max(pool.map(worker_cpus, range(workers), 1)) < workers:
            return ""
    with multiprocessing.pool.ThreadPool(workers) as pool:
        if max(pool.map(worker_threads, range(workers), 1)) < workers:
            return ""
    return f"the workers of pools of {workers} have all CPUs and as many threads"


def regions_meet() -> bool:
    """Whether two threads can be inside regions of all CPUs at the same time.

    They look for each other all the time: a process that sleeps is let go on in every mode.
    """
    runtime = ctypes.CDLL("libgomp.so.1")
    inside: set[int] = set()
    met = []

    def region() -> None:
        caller = threading.get_ident()

        def body(_: int | None) -> None:
            if threading.get_ident() != caller or runtime.omp_get_thread_num() != 0:
                return
            inside.add(caller)
            deadline = time.monotonic() + WAIT_S
            while len(inside) < 2 and time.monotonic() < deadline:
                pass
            if len(inside) == 2:
                met.append(True)
            inside.discard(caller)

        function = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(body)
        runtime.GOMP_parallel(function, None, cpus(), 0)

    threads = [threading.Thread(target=region) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return len(met) > 0


def one_at_a_time() -> str:
    if cpus() < 2:
        return "one CPU has no regions to keep apart"
    return "two regions of all CPUs ran at the same time" if regions_meet() else ""


def node() -> str:
    """The budget of a node is a file in shared memory, mapped by each process that takes part."""
    regions_meet()  # the runtime is at work
    lines = pathlib.Path("/proc/self/maps").read_text().splitlines()
    shared = [line for line in lines if "/dev/shm/" in line and "weft" in line.split("/dev/shm/")[1]]
    return "" if shared else "no segment of weft's in /dev/shm is mapped"


PROBES = {"static": static, "exclusive": one_at_a_time, "counting": one_at_a_time, "node": node}

if __name__ == "__main__":
    print(json.dumps({"missing": PROBES[sys.argv[1]]()}))
