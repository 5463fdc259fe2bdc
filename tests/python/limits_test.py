# SPDX-License-Identifier: Apache-2.0
"""threadpoolctl, joblib and scikit-learn see one runtime, and their limits mean what they say."""

from __future__ import annotations

import os
import unittest

from support import ProgramTest

CPUS = len(os.sched_getaffinity(0))

START = """
    import numpy, scipy.linalg, sklearn.cluster, threadpoolctl
    from sklearn.utils._openmp_helpers import _openmp_effective_n_threads
    from weft import _runtime
    def limits():
        return {(pool["user_api"], pool["num_threads"]) for pool in threadpoolctl.threadpool_info()}
    a = numpy.random.rand(400, 400)
"""


@unittest.skipIf(CPUS < 2, "limits need two CPUs")
class Limits(ProgramTest):
    def test_one_openmp_runtime(self) -> None:
        code = (
            START
            + """
    runtimes = [pool for pool in threadpoolctl.threadpool_info() if pool["user_api"] == "openmp"]
    print(len(runtimes), runtimes[0]["filepath"] == _runtime.mapped(), runtimes[0]["num_threads"])
"""
        )
        self.assertEqual(self.succeed(code), f"1 True {CPUS}\n")

    def test_cost_no_look_at_all_that_is_mapped(self) -> None:
        code = (
            START
            + """
    import sys
    opened = []
    sys.addaudithook(lambda event, details: opened.append(details[0]) if event == "open" else None)
    controller = threadpoolctl.ThreadpoolController()
    def limit():
        with controller.limit(limits=1, user_api="blas"):
            a @ a
    limit()
    del opened[:]
    limit()
    a @ a
    limit()
    print(opened)
"""
        )
        self.assertEqual(self.succeed(code), "[]\n")

    def test_threadpoolctl(self) -> None:
        code = (
            START
            + """
    print(sorted(limits()))
    with threadpoolctl.threadpool_limits(1):
        print(sorted(limits()), _runtime.load().omp_get_max_threads(), _openmp_effective_n_threads())
        a @ a
    with threadpoolctl.threadpool_limits(1, user_api="blas"):
        print(sorted(limits()))
        a @ a
    with threadpoolctl.threadpool_limits(1, user_api="openmp"):
        print(sorted(limits()))
        sklearn.cluster.KMeans(3, n_init=1, random_state=0).fit(a)
    print(sorted(limits()), _openmp_effective_n_threads())
"""
        )
        free = f"[('blas', {CPUS}), ('openmp', {CPUS})]"
        self.assertEqual(
            self.succeed(code).splitlines(),
            [
                free,
                "[('blas', 1), ('openmp', 1)] 1 1",
                f"[('blas', 1), ('openmp', {CPUS})]",
                f"[('blas', {CPUS}), ('openmp', 1)]",
                f"{free} {CPUS}",
            ],
        )

    def test_limits_outlive_calls_from_many_threads(self) -> None:
        """weft changes the libraries' own numbers meanwhile: what is put back must be what was there at first."""
        code = (
            START
            + """
    import threading
    from concurrent.futures import ThreadPoolExecutor
    # Who came in while the limit below holds would put that back.
    all_in = threading.Barrier(5)
    def call(i):
        with threadpoolctl.threadpool_limits(limits=None):
            all_in.wait()
            for _ in range(5):
                a @ a
                scipy.linalg.lu(a)
    with ThreadPoolExecutor(4) as pool:
        for _ in range(3):
            calls = [pool.submit(call, i) for i in range(4)]
            all_in.wait()
            seen = threadpoolctl.threadpool_info()
            with threadpoolctl.threadpool_limits(1, user_api="blas"):
                a @ a
            [c.result() for c in calls]
            print({pool["num_threads"] for pool in seen if pool["user_api"] == "blas"})
    print(sorted(limits()))
"""
        )
        *seen, last = self.succeed(code).splitlines()
        self.assertEqual(set(seen), {f"{{{CPUS}}}"})
        self.assertEqual(last, f"[('blas', {CPUS}), ('openmp', {CPUS})]")

    def test_joblib_processes(self) -> None:
        code = (
            START
            + """
    import joblib
    def worker(i):
        import os
        a @ a
        sklearn.cluster.KMeans(3, n_init=1, random_state=0).fit(a[:, :4])
        return sorted(limits()), os.environ["OMP_NUM_THREADS"]
    if __name__ == "__main__":
        for inner in (1, 2):
            with joblib.parallel_config(backend="loky", inner_max_num_threads=inner):
                print(*{str(seen) for seen in joblib.Parallel(n_jobs=2)(joblib.delayed(worker)(i) for i in range(4))})
"""
        )
        expected = [f"([('blas', {n}), ('openmp', {n})], '{n}')" for n in (1, 2)]
        self.assertEqual(self.succeed(code).splitlines(), expected)

    def test_the_programs_own_calls(self) -> None:
        code = (
            START
            + """
    import os
    runtime = _runtime.load()
    runtime.omp_set_num_threads(1)
    print(runtime.omp_get_max_threads(), _openmp_effective_n_threads())
    runtime.omp_set_num_threads(2)
    print(runtime.omp_get_max_threads())
"""
        )
        self.assertEqual(self.succeed(code), "1 1\n2\n")

    def test_the_environment(self) -> None:
        code = START + "    print(sorted(limits()))\n"
        self.assertEqual(self.succeed(code, OMP_NUM_THREADS="1"), "[('blas', 1), ('openmp', 1)]\n")
        self.assertEqual(self.succeed(code, OPENBLAS_NUM_THREADS="1"), f"[('blas', 1), ('openmp', {CPUS})]\n")


if __name__ == "__main__":
    unittest.main()
