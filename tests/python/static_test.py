# SPDX-License-Identifier: Apache-2.0
"""Mode static: the workers of each kind of pool get their share, by each start method."""

from __future__ import annotations

import importlib.util
import os
import unittest

from support import ProgramTest

JOBLIB, NUMPY = (importlib.util.find_spec(name) is not None for name in ("joblib", "numpy"))

# What a worker sees: threads of an OpenMP region, and its CPUs. The machine is taken for one of 8 CPUs where only
# threads count (WEFT_NUM_CPUS): omp_get_max_threads says what a region would get.
WORKER = """
    import os, sys, time
    def worker(i=0):
        from weft import _runtime
        time.sleep(0.2)
        return _runtime.load().omp_get_max_threads(), tuple(sorted(os.sched_getaffinity(0)))
"""


class Formula(unittest.TestCase):
    def test_formula(self) -> None:
        from weft._static import threads_of_worker

        for cpus, workers, factor, threads in (
            (8, 2, 1, 4), (8, 3, 1, 3), (8, 8, 1, 1), (8, 32, 1, 1), (8, 2, 2, 8), (8, 1, 2, 8), (8, 4, 0.5, 1),
            (88, 44, 1, 2), (88, 88, 2, 2), (1, 1, 1, 1), (2, 4, 4, 2),
        ):  # fmt: skip
            with self.subTest(cpus=cpus, workers=workers, factor=factor):
                self.assertEqual(threads_of_worker(cpus, workers, factor), threads)


class Threads(ProgramTest):
    """Thread pools. WEFT_NUM_CPUS bounds only from above, so the shares are those of this machine's CPUs."""

    def shares(self, code: str, *options: str) -> set[str]:
        out = self.succeed(WORKER + code, "--mode", "static", *options)
        return set(out.splitlines())

    def expected(self, workers: int, factor: float = 1) -> str:
        from weft._static import threads_of_worker

        return str(threads_of_worker(len(os.sched_getaffinity(0)), workers, factor))

    def test_thread_pools(self) -> None:
        for workers in (1, 2, 5):
            for label, code in (
                ("ThreadPool", f"""
    from multiprocessing.pool import ThreadPool
    with ThreadPool({workers}) as pool:
        print(*{{n for n, cpus in pool.map(worker, range(8))}}, sep="\\n")
"""),
                ("ThreadPoolExecutor", f"""
    from concurrent.futures import ThreadPoolExecutor
    with ThreadPoolExecutor({workers}) as pool:
        print(*{{n for n, cpus in pool.map(worker, range(8))}}, sep="\\n")
"""),
                ("joblib", f"""
    import joblib
    with joblib.parallel_config(backend="threading", n_jobs={workers}):
        print(*{{n for n, cpus in joblib.Parallel()(joblib.delayed(worker)(i) for i in range(8))}}, sep="\\n")
"""),
            ):  # fmt: skip
                if label == "joblib" and (workers == 1 or not JOBLIB):
                    continue  # one job runs in the main thread
                for factor in (1, 2):
                    with self.subTest(pool=label, workers=workers, factor=factor):
                        self.assertEqual(self.shares(code, "-f", str(factor)), {self.expected(workers, factor)})

    @unittest.skipUnless(NUMPY, "numpy is not installed")
    def test_openblas_has_the_share_while_a_pool_lives(self) -> None:
        code = """
    import numpy
    from concurrent.futures import ThreadPoolExecutor
    from weft import _runtime
    runtime, blas = _runtime.load(), _runtime.blas()
    def limits():
        return [blas.num_threads(path) for path in blas.copies()]
    if blas is None:
        print("none")
    else:
        before = limits()
        with ThreadPoolExecutor(2) as pool:
            worker_limits = pool.submit(limits).result()
            inner = ThreadPoolExecutor(4)
            print(worker_limits, limits(), before == limits())
        del inner, pool
        print(limits() == before)
"""
        first, *rest = self.succeed(code, "--mode", "static").splitlines()
        if first == "none":
            self.skipTest("this build of weft leaves OpenBLAS on pthreads alone")
        same = len(os.sched_getaffinity(0)) == 1
        self.assertEqual([first, *rest], [f"[{self.expected(2)}] [{self.expected(4)}] {same}", "True"])

    def test_the_programs_own_initializer_runs_after(self) -> None:
        code = """
    from concurrent.futures import ThreadPoolExecutor
    import threading
    local = threading.local()
    def begin(a, b):
        local.sum = a + b, worker()[0]
    with ThreadPoolExecutor(2, initializer=begin, initargs=(1, 2)) as pool:
        print(*{pool.submit(lambda: local.sum).result() for _ in range(4)})
"""
        self.assertEqual(self.shares(code), {f"(3, {self.expected(2)})"})

    def test_mistakes_are_the_constructors(self) -> None:
        code = """
    from concurrent.futures import ThreadPoolExecutor, ProcessPoolExecutor
    from multiprocessing.pool import ThreadPool
    for pool, arguments in (
        (ThreadPoolExecutor, {"max_workers": 0}), (ThreadPoolExecutor, {"initializer": 3}),
        (ThreadPoolExecutor, {"frob": 3}), (ThreadPool, {"processes": 0}), (ThreadPool, {"initializer": 3}),
        (ProcessPoolExecutor, {"max_workers": -1}),
    ):
        try:
            pool(**arguments)
        except (TypeError, ValueError) as error:
            print(type(error).__name__, error)
"""
        app = WORKER + code
        self.assertEqual(self.succeed(app, "--mode", "static"), self.succeed(app, weft=False))

    def test_other_modes_leave_pools_alone(self) -> None:
        code = (
            WORKER
            + """
    from concurrent.futures import ThreadPoolExecutor
    with ThreadPoolExecutor(2) as pool:
        print(pool.submit(worker).result()[0])
"""
        )
        self.assertEqual(self.succeed(code).strip(), str(len(os.sched_getaffinity(0))))


PROCESS_POOLS = {
    "Pool": """
        with multiprocessing.get_context(method).Pool({workers}) as pool:
            seen = pool.map(worker, range(8), chunksize=1)
""",
    "Pool of short lives": """
        with multiprocessing.get_context(method).Pool({workers}, maxtasksperchild=1) as pool:
            seen = pool.map(worker, range(8), chunksize=1)
""",
    "ProcessPoolExecutor": """
        import concurrent.futures
        with concurrent.futures.ProcessPoolExecutor({workers}, mp_context=multiprocessing.get_context(method)) as pool:
            seen = list(pool.map(worker, range(8)))
""",
}


class Processes(ProgramTest):
    def check(self, code: str, workers: int, factor: float = 1) -> None:
        from weft._static import threads_of_worker

        cpus = sorted(os.sched_getaffinity(0))
        threads = threads_of_worker(len(cpus), workers, factor)
        seen = {eval(line) for line in self.succeed(code, "--mode", "static", "-f", str(factor)).splitlines()}
        slices = {
            tuple(sorted(cpus[(i * threads + k) % len(cpus)] for k in range(threads))) for i in range(max(workers, 1))
        }
        self.assertLessEqual({own for _, own in seen}, slices)
        self.assertEqual({count for count, _ in seen}, {threads})

    def test_process_pools(self) -> None:
        for label, pool in PROCESS_POOLS.items():
            for method in ("fork", "spawn", "forkserver"):
                code = (
                    WORKER
                    + f"""
    if __name__ == "__main__":
        import multiprocessing
        method = {method!r}
{pool.format(workers=2)}
        print(*set(seen), sep="\\n")
"""
                )
                with self.subTest(pool=label, method=method):
                    self.check(code, 2)

    def test_more_workers_than_cpus_and_factors(self) -> None:
        for workers, factor in ((5, 1), (2, 2), (1, 1)):
            code = (
                WORKER
                + f"""
    if __name__ == "__main__":
        import multiprocessing
        method = "fork"
{PROCESS_POOLS["Pool"].format(workers=workers)}
        print(*set(seen), sep="\\n")
"""
            )
            with self.subTest(workers=workers, factor=factor):
                self.check(code, workers, factor)

    @unittest.skipUnless(JOBLIB, "joblib is not installed")
    def test_loky(self) -> None:
        code = (
            WORKER
            + """
    if __name__ == "__main__":
        import joblib
        print(*set(joblib.Parallel(n_jobs=2)(joblib.delayed(worker)(i) for i in range(8))), sep="\\n")
"""
        )
        self.check(code, 2)

    @unittest.skipUnless(NUMPY, "numpy is not installed")
    def test_threads_that_libraries_started_at_import_are_moved_too(self) -> None:
        code = """
    import multiprocessing, os
    import numpy
    def worker(i):
        numpy.ones((300, 300)) @ numpy.ones((300, 300))
        return {tuple(sorted(os.sched_getaffinity(int(t)))) for t in os.listdir("/proc/self/task")}
    if __name__ == "__main__":
        with multiprocessing.get_context("spawn").Pool(2) as pool:
            print(*{len(seen) for seen in pool.map(worker, range(4))})
"""
        self.assertEqual(self.succeed(code, "--mode", "static"), "1\n")


if __name__ == "__main__":
    unittest.main()
