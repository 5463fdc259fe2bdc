# SPDX-License-Identifier: Apache-2.0
"""Threads used before a fork, in its child, and afterwards: where libgomp and copies of it hang (gcc's bug 60035)."""

from __future__ import annotations

import unittest

from support import ProgramTest

WORK = """
    import multiprocessing, os, sys, threading
    import numpy, scipy.linalg, sklearn.cluster
    from sklearn.ensemble import HistGradientBoostingRegressor
    rng = numpy.random.default_rng(0)
    x = rng.random((2000, 8))
    a = rng.random((400, 400))
    def work(_=None):
        centres = sklearn.cluster.KMeans(3, n_init=1, random_state=0).fit(x).cluster_centers_
        trees = HistGradientBoostingRegressor(max_iter=3, random_state=0).fit(x, x[:, 0]).predict(x[:5])
        results = centres.sum(), trees.sum(), (a @ a).trace(), scipy.linalg.lu(a)[2].trace()
        return [round(float(result), 6) for result in results]
"""


class Fork(ProgramTest):
    def check(self, code: str, *options: str) -> None:
        self.assertEqual(set(self.succeed(WORK + code, *options).split("\n")), {"ok", ""})

    def test_pools_by_each_start_method(self) -> None:
        for method in ("fork", "spawn", "forkserver"):
            with self.subTest(method=method):
                self.check(f"""
    if __name__ == "__main__":
        first = work()
        with multiprocessing.get_context({method!r}).Pool(2) as pool:
            print("ok" if pool.map(work, range(4)) == [first] * 4 else "wrong")
        print("ok" if work() == first else "wrong after")
""")

    def test_modes(self) -> None:
        for mode in ("exclusive", "counting"):
            with self.subTest(mode=mode):
                self.check(
                    """
    first = work()
    with multiprocessing.get_context("fork").Pool(2) as pool:
        print("ok" if pool.map(work, range(4)) == [first] * 4 else "wrong")
    print("ok" if work() == first else "wrong after")
""",
                    "--mode",
                    mode,
                )

    def test_the_child_is_first_to_use_threads(self) -> None:
        self.check("""
    with multiprocessing.get_context("fork").Pool(2) as pool:
        children = pool.map(work, range(4))
    print("ok" if children == [work()] * 4 else "wrong")
""")

    def test_children_of_children(self) -> None:
        self.check("""
    first = work()
    child = os.fork()
    if child == 0:
        good = work() == first
        grandchild = os.fork()
        if grandchild == 0:
            os._exit(0 if work() == first else 1)
        good = good and os.waitpid(grandchild, 0)[1] == 0 and work() == first
        os._exit(0 if good else 1)
    print("ok" if os.waitpid(child, 0)[1] == 0 and work() == first else "wrong")
""")

    def test_while_other_threads_are_at_work(self) -> None:
        self.check("""
    first = work()
    stop = threading.Event()
    # Without calls of OpenBLAS with several threads: its own locks stay locked in the child, under any runtime.
    def busy():
        while not stop.is_set():
            sklearn.cluster.KMeans(3, n_init=1, random_state=0).fit(x)
    threads = [threading.Thread(target=busy) for _ in range(2)]
    for thread in threads:
        thread.start()
    # Where another thread makes a state of its own for Python at that moment, CPython 3.11 waits for a lock of its own
    # inside of fork(): such a child never comes back to us, under any runtime. Its locks are glibc's semaphores, which
    # wait by this operation of futex; weft has none of them. The free-threaded build has such a lock in each object: a
    # child may wait for one later too, which another thread of the parent had.
    import select, signal, sysconfig, time
    def waits_for_python(child):
        words = open(f"/proc/{child}/syscall").read().split()
        return len(words) > 2 and words[2] == "0x189"
    def ended(child):
        end = time.monotonic() + 60
        while time.monotonic() < end:
            number, status = os.waitpid(child, os.WNOHANG)
            if number:
                return status
            time.sleep(0.01)
    children = []
    for _ in range(4):
        came, tell = os.pipe()
        child = os.fork()
        if child == 0:
            os.write(tell, b"x")
            os._exit(0 if work() == first else 1)
        children.append((child, came))
    good = []
    for child, came in children:
        back = select.select([came], [], [], 30)[0]
        status = ended(child) if back else None
        if status is not None:
            good.append(status == 0)
            continue
        excused = not back or sysconfig.get_config_var("Py_GIL_DISABLED")
        if not excused or os.waitpid(child, os.WNOHANG)[0] or not waits_for_python(child):
            print("a child has not ended" if back else "a child has not come back from fork()", flush=True)
        else:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
    print("ok" if good and all(good) else "wrong")
    stop.set()
    for thread in threads:
        thread.join()
    print("ok" if work() == first else "wrong after")
""")

    def test_from_a_thread_that_is_not_the_first(self) -> None:
        self.check("""
    first = work()
    def fork():
        child = os.fork()
        if child == 0:
            os._exit(0 if work() == first else 1)
        print("ok" if os.waitpid(child, 0)[1] == 0 else "wrong")
    thread = threading.Thread(target=lambda: (work(), fork()))
    thread.start()
    thread.join()
    print("ok" if work() == first else "wrong after")
""")


if __name__ == "__main__":
    unittest.main()
