#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""OpenBLAS on pthreads, as in NumPy's and SciPy's wheels, on weft's pool: results, limits, forks, threads, nesting."""

import os
import pathlib
import re
import tempfile
import textwrap
import unittest

from finished import finished

COMMAND = os.environ["WEFT_COMMAND"]
RUNTIME = os.environ["WEFT_TEST_RUNTIME"]
PYTHON = os.environ["WEFT_TEST_PYTHON"]
GCC = os.environ["WEFT_TEST_GCC"]
HERE = pathlib.Path(__file__).parent
# One more than the machine may have, so that there is always something to share.
CPUS = 4


def run(arguments, **settings):
    """(stdout, stderr) of a program that must end well."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("WEFT_", "OMP_", "OPENBLAS_"))}
    done = finished(arguments, env=kept | {name: str(value) for name, value in settings.items()}, timeout=240)
    if done.returncode != 0:
        raise AssertionError(f"exit code {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done.stdout, done.stderr


def python(text, **settings):
    """The same for Python under weft; the CPUs are those of another machine."""
    return run(
        [COMMAND, "run", "--", PYTHON, "-c", textwrap.dedent(text)],
        **({"WEFT_NUM_CPUS": CPUS, "OPENBLAS_NUM_THREADS": CPUS, "WEFT_STATS": "all"} | settings),
    )


def count(stderr, what):
    found = re.search(rf"{what}: (\d+)", stderr)
    return int(found[1]) if found else 0


# Wheels that were adopted have nothing to say.
def quiet(stderr):
    return not re.search("OpenBLAS|[Ww]arning", stderr)


class Results(unittest.TestCase):
    CALLS = """
        import numpy as np, scipy.linalg as sl
        from threadpoolctl import threadpool_limits
        rng = np.random.default_rng(1)
        def calls(kind, size):
            a = rng.standard_normal((size, size)).astype(kind)
            if np.iscomplexobj(a): a = a + 1j * rng.standard_normal((size, size)).astype(kind)
            spd = a @ a.conj().T + size * np.eye(size, dtype=a.dtype)
            v = a[0].copy()
            return [lambda: a @ a, lambda: a @ v, lambda: a.T @ a, lambda: np.linalg.solve(spd, a),
                    lambda: np.linalg.inv(spd), lambda: np.linalg.eigvalsh(spd), lambda: np.linalg.qr(a)[1],
                    lambda: np.linalg.cholesky(spd), lambda: np.linalg.svd(a, compute_uv=False),
                    lambda: sl.solve(spd, v), lambda: sl.lu(a)[2], lambda: sl.solve_triangular(spd, a, lower=True),
                    lambda: sl.det(spd / size), lambda: sl.cholesky(spd), lambda: np.vdot(a, a)]
        """

    def test_are_those_of_one_thread(self):
        out, err = python(
            self.CALLS
            + """
        for kind in np.float32, np.float64, np.complex64, np.complex128:
            for size in 70, 301:
                for number, call in enumerate(calls(kind, size)):
                    with threadpool_limits(1):
                        expected = call()
                    got = call()
                    tolerance = np.abs(expected).max() * 100 * np.finfo(kind).eps * size
                    assert np.abs(got - expected).max() <= tolerance, (kind, size, number)
        """
        )
        self.assertEqual(count(err, "adopted"), 2)
        # How many of them were split hangs on what else the machine does, since the share follows the load.
        self.assertGreater(count(err, "calls"), 0)
        self.assertTrue(quiet(err), err)

    def test_many_threads_at_once(self):
        code = (
            self.CALLS
            + """
        from multiprocessing.pool import ThreadPool
        for kind in np.float64, np.complex64:
            todo = calls(kind, 200)
            with threadpool_limits(1):
                expected = [call() for call in todo]
            with ThreadPool(16) as pool:
                for _ in range(3):
                    for number, got in enumerate(pool.map(lambda call: call(), todo * 4, chunksize=1)):
                        other = expected[number % len(todo)]
                        tolerance = np.abs(other).max() * 1e5 * np.finfo(kind).eps
                        assert np.abs(got - other).max() <= tolerance, (kind, number)
        """
        )
        for reproducible in "true", "false":
            with self.subTest(reproducible=reproducible):
                _, err = python(code, WEFT_REPRODUCIBLE=reproducible)
                self.assertGreater(count(err, "calls"), 0)
        self.assertGreater(count(err, "shares lowered"), 0)

    def test_of_calls_too_short_to_be_divided(self):
        """Some thousand of each kind, so that each is tried either way; jobs of products wait for each other."""
        _, err = python("""
        import numpy as np
        from multiprocessing.pool import ThreadPool
        from threadpoolctl import threadpool_limits
        rng = np.random.default_rng(1)
        def check(size):
            a = rng.standard_normal((size, size)); v = a[0].copy(); spd = a @ a.T + size * np.eye(size)
            calls = [lambda: a @ v, lambda: a.T @ v, lambda: a @ a, lambda: np.linalg.qr(a)[1], lambda: np.linalg.cholesky(spd)]
            with threadpool_limits(1):
                expected = [call() for call in calls]
            for call, other, repeat in zip(calls, expected, (3000, 3000, 300, 30, 100)):
                for _ in range(repeat):
                    assert np.allclose(call(), other)
        for size in 110, 220:
            check(size)
        with ThreadPool(3) as pool:
            pool.map(check, (110, 120, 220))
        """)
        self.assertGreater(count(err, "not divided"), 100)
        self.assertTrue(quiet(err), err)

    def test_copies_have_no_threads_of_their_own(self):
        out, _ = python("""
        import numpy as np, os, scipy.linalg
        print(len(os.listdir("/proc/self/task")))
        """)
        self.assertEqual(out.strip(), "1")


class Adoption(unittest.TestCase):
    def test_of_a_library_that_comes_later(self):
        _, err = python("""
        import numpy as np
        a = np.random.rand(300, 300); a @ a
        import scipy.linalg
        assert np.allclose(scipy.linalg.blas.dgemm(1.0, a, a), a @ a)
        """)
        self.assertEqual(count(err, "adopted"), 2)

    def test_arguments_that_the_program_has_changed(self):
        """Programs strip their arguments in place; the number of variables decides what stands behind them."""
        for more in {}, {"ONE_MORE": "1"}:
            out, _ = python(
                """
                import ctypes
                end = int(open("/proc/self/stat").read().rsplit(")", 1)[1].split()[25])
                ctypes.cast(end + 8, ctypes.POINTER(ctypes.c_void_p))[1] = None
                import numpy as np
                print((np.ones((600, 600)) @ np.ones((600, 600)))[0, 0])""",
                **more,
            )
            self.assertEqual(out, "600.0\n")

    def test_brings_the_runtime_only_when_it_is_needed(self):
        out, _ = python("""
        import numpy as np
        a = np.random.rand(20, 20); a @ a
        mapped = lambda: any("libgomp" in line for line in open("/proc/self/maps"))
        before = mapped()
        a = np.random.rand(300, 300); a @ a
        print(before, mapped())
        """)
        self.assertEqual(out.split(), ["False", "True"])

    def test_can_be_switched_off(self):
        out, err = python(
            """
        import numpy as np, os
        a = np.random.rand(300, 300); a @ a; np.linalg.solve(a, a)
        print(any("libgomp" in line for line in open("/proc/self/maps")))
        """,
            WEFT_ADOPT_LIBRARIES="off",
        )
        self.assertEqual(out.split(), ["False"])

    def test_without_the_audit_library(self):
        text = """
        import ctypes, numpy as np
        from multiprocessing.pool import ThreadPool
        weft = ctypes.CDLL(None)
        a = np.random.rand(300, 300); b = np.random.rand(300, 300)
        expected = [a @ b, np.linalg.solve(a, b)]
        with ThreadPool(8) as pool:
            work = pool.map_async(lambda i: np.linalg.solve(a, b) if i % 2 else a @ b, range(200), chunksize=1)
            print(weft.weft_adopt_libraries(), weft.weft_adopt_libraries())
            for i, got in enumerate(work.get()):
                assert np.allclose(got, expected[i % 2])
        import scipy.linalg
        print(weft.weft_adopt_libraries())
        assert np.allclose(scipy.linalg.solve(a, b), expected[1])
        path = next(line.split()[-1] for line in open("/proc/self/maps") if "numpy.libs" in line and "openblas" in line)
        set_threads = lambda n: weft.weft_blas_set_num_threads(path.encode(), n)
        get_threads = lambda: weft.weft_blas_get_num_threads(path.encode())
        assert set_threads(4) == 0 and get_threads() == 4 and set_threads(2) == 0 and get_threads() == 2
        assert set_threads(0) == -1 and weft.weft_blas_get_num_threads(b"/nowhere") == -1
        """
        out, err = run(
            [PYTHON, "-c", textwrap.dedent(text)],
            LD_PRELOAD=f"{RUNTIME}/libgomp.so.1",
            WEFT_NUM_CPUS=CPUS,
            OPENBLAS_NUM_THREADS=CPUS,
            WEFT_STATS="all",
        )
        self.assertEqual(out.split(), ["1", "0", "1"])
        self.assertEqual(count(err, "adopted"), 2)

    def test_preloaded(self):
        """As before glibc 2.35: what the program is linked with, and what it has opened before it opens something else."""
        text = """
        import ctypes, numpy as np, scipy.linalg
        callback = lambda path: ctypes.c_void_p.in_dll(ctypes.CDLL(path), "openblas_threads_callback_").value
        paths = {line.split()[-1] for line in open("/proc/self/maps") if "openblas" in line}
        a = np.random.rand(300, 300); a @ a
        print([callback(path) is not None for path in paths])
        """
        command = [COMMAND, "run", "--preload", "--", PYTHON, "-c", textwrap.dedent(text)]
        settings = {"WEFT_NUM_CPUS": CPUS, "OPENBLAS_NUM_THREADS": CPUS, "WEFT_STATS": "all"}
        out, err = run(command, **settings)
        self.assertEqual(out, "[True, True]\n")
        self.assertEqual(count(err, "adopted"), 2)
        out, err = run(command, **settings, WEFT_ADOPT_LIBRARIES="false")
        self.assertEqual(out, "[False, False]\n")

    def test_leaves_a_callback_of_the_program_alone(self):
        out, _ = python("""
        import ctypes, threading, numpy as np
        from threadpoolctl import threadpool_info
        path = next(i["filepath"] for i in threadpool_info() if i["user_api"] == "blas")
        blas = ctypes.CDLL(path)
        Job = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_void_p, ctypes.c_int)
        Run = ctypes.CFUNCTYPE(None, ctypes.c_int, Job, ctypes.c_int, ctypes.c_size_t, ctypes.c_void_p, ctypes.c_int)
        seen = []
        @Run
        def run(sync, job, count, size, data, extra):
            seen.append(count)
            threads = [threading.Thread(target=job, args=(i, data + i * size, extra)) for i in range(count)]
            for thread in threads: thread.start()
            for thread in threads: thread.join()
        blas.scipy_openblas_set_threads_callback_function64_(run)
        a = np.random.rand(300, 300)
        expected = np.array([[np.dot(a[i], a[:, j]) for j in range(300)] for i in range(300)])
        assert np.allclose(a @ a, expected)
        assert seen
        x = np.linalg.solve(a, a[0])
        assert np.allclose(a @ x, a[0])
        """)


class Limits(unittest.TestCase):
    ASK = """
        import numpy as np, scipy.linalg, sys, time
        from multiprocessing.pool import ThreadPool
        from threadpoolctl import threadpool_info, threadpool_limits
        def asked():
            return {i["num_threads"] for i in threadpool_info() if i["user_api"] == "blas"}
        a = np.random.rand(300, 300)
        FOUR = threadpool_limits(4, user_api="blas")
        """

    def test_of_the_environment(self):
        out, err = python(
            """
        import numpy as np, scipy.linalg
        from threadpoolctl import threadpool_info
        a = np.random.rand(300, 300)
        a @ a
        print({i["num_threads"] for i in threadpool_info() if i["user_api"] == "blas"})
        """,
            OPENBLAS_NUM_THREADS=1,
        )
        self.assertEqual(out.strip(), "{1}")
        self.assertEqual(count(err, "adopted"), 0)

    def test_nested(self):
        python(
            self.ASK
            + """
        assert asked() == {4}
        with threadpool_limits(2):
            assert asked() == {2}
            a @ a
            with threadpool_limits(1):
                assert asked() == {1}
                a @ a
            assert asked() == {2}
            with threadpool_limits(3):
                assert asked() == {3}
            assert asked() == {2}
        assert asked() == {4}
        """
        )

    def test_of_a_thread(self):
        """Its calls are run by so many threads; those of others by as many as the process allows."""
        text = """
        import ctypes, threading
        import numpy as np
        path = next(line.split()[-1] for line in open("/proc/self/maps") if "numpy.libs" in line and "openblas" in line)
        set_threads = ctypes.CDLL(path).scipy_openblas_set_num_threads64_
        a = np.random.rand(300, 300)
        def calls(limit):
            if limit: set_threads(limit)
            for _ in range(20): a @ a
        thread = threading.Thread(target=calls, args=(LIMIT,)); thread.start(); thread.join()
        """
        whole, divided = (
            [count(python(text.replace("LIMIT", limit))[1], what) for what in ("not divided", r"adopted: \d+, calls")]
            for limit in ("1", "0")
        )
        self.assertEqual(whole, [20, 0])
        self.assertGreater(divided[1], 0)

    def test_are_told_from_shares(self):
        # While others keep the share low, what the program has set is what it is told, and what bounds the share.
        _, err = python(
            self.ASK
            + """
        stop = []
        def work(_):
            while not stop: np.linalg.solve(a, a)
        with ThreadPool(12) as pool:
            working = pool.map_async(work, range(12), chunksize=1)
            for _ in range(5):
                time.sleep(0.02)
                assert asked() == {4}
                with threadpool_limits(1):
                    time.sleep(0.02)
                    assert asked() == {1}
                with threadpool_limits(2):
                    assert asked() == {2}
            stop.append(True)
            working.get()
        assert asked() == {4}
        """,
            WEFT_REPRODUCIBLE="false",
        )
        self.assertGreater(count(err, "shares lowered"), 0)

    def test_no_more_threads_than_cpus(self):
        # A limit above the CPUs is remembered; jobs beyond them would only wait for each other.
        _, err = python(
            self.ASK
            + """
        with threadpool_limits(16, user_api="blas"):
            assert asked() == {16}
            for _ in range(5): a @ a
            assert asked() == {16}
        """,
            WEFT_NUM_CPUS=2,
        )
        self.assertLessEqual(count(err, "jobs"), 16 + 5 * 2)

    def test_products_do_not_wait_for_longer_ones(self):
        # The library has a lock for each routine, which a call holds from its first job to its last one.
        out, _ = python(
            """
        import threading, time
        import numpy as np
        rng = np.random.default_rng(1)
        small, trial = rng.standard_normal((300, 300)), rng.standard_normal((1000, 1000))
        small @ small
        trial @ trial
        began = time.monotonic()
        trial @ trial
        # So that one takes two seconds.
        order = min(12000, int(1000 * (2 / (time.monotonic() - began)) ** (1 / 3)))
        large = rng.standard_normal((order, order))
        begins, over = threading.Event(), threading.Event()
        def long():
            begins.set()
            large @ large
            over.set()
        thread = threading.Thread(target=long)
        thread.start()
        begins.wait()
        time.sleep(0.1)
        for _ in range(5): small @ small
        print("over" if over.is_set() else "still at work")
        thread.join()
        """
        )
        self.assertEqual(out, "still at work\n")

    def test_idle_cpus_raise_the_share(self):
        _, err = python(
            self.ASK
            + """
        with ThreadPool(16) as pool:
            pool.map(np.linalg.eigvals, [a] * 16, chunksize=1)
        end = time.time() + 60
        import ctypes
        path = next(i["filepath"] for i in threadpool_info() if i["user_api"] == "blas")
        share = ctypes.c_int.in_dll(ctypes.CDLL(path), "blas_cpu_number")
        while share.value != 4 and time.time() < end: time.sleep(0.01)
        assert share.value == 4
        """,
            WEFT_REPRODUCIBLE="false",
        )
        self.assertEqual(count(err, "shares lowered") > 0, count(err, "raised") > 0)

    @unittest.skipUnless(os.path.exists("/proc/self/schedstat"), "the kernel does not count how long threads wait")
    @unittest.skipUnless(len(os.sched_getaffinity(0)) > 1, "on one CPU nothing is ever split")
    def test_others_lower_the_share(self):
        # Threads of processes that know nothing of weft want all CPUs, and then no more.
        out, err = python(
            """
        import ctypes, os, subprocess, sys, time, numpy as np
        from threadpoolctl import threadpool_info
        def idle_and_all():
            ticks = [int(word) for word in open("/proc/stat").readline().split()[1:]]
            return ticks[3], sum(ticks)
        cpus = len(os.sched_getaffinity(0))
        others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(cpus)]
        try:
            a = np.random.rand(300, 300)
            path = next(i["filepath"] for i in threadpool_info() if i["user_api"] == "blas")
            share = ctypes.c_int.in_dll(ctypes.CDLL(path), "blas_cpu_number")
            end = time.time() + 60
            a @ a
            while share.value == cpus and time.time() < end: a @ a
            assert share.value < cpus
        finally:
            for other in others:
                other.kill()
                other.wait()
        end = time.time() + 60
        idle, ticks = idle_and_all()
        while share.value != cpus and time.time() < end: time.sleep(0.01)
        idle, ticks = [now - before for now, before in zip(idle_and_all(), (idle, ticks))]
        if share.value == cpus: print("raised")
        else: assert idle < 0.3 * ticks
        """,
            WEFT_NUM_CPUS="",
            OPENBLAS_NUM_THREADS="",
            WEFT_REPRODUCIBLE="false",
        )
        if "raised" not in out:
            self.skipTest("other programs have wanted the CPUs for a minute, so that the share stays lowered")
        self.assertGreater(count(err, "raised"), 0)


class Processes(unittest.TestCase):
    # A child that forks off while another thread is inside a product may find a lock of OpenBLAS's taken, with weft or
    # without; so those that go on computing fork while nobody is inside.
    def test_forks_do_not_disturb_running_calls(self):
        python("""
        import os, threading, numpy as np
        a = np.random.rand(300, 300); b = np.random.rand(300, 300)
        expected = [a @ b, np.linalg.solve(a, b)]
        stop, wrong = [], []
        def work():
            while not stop:
                if not np.allclose(a @ b, expected[0]) or not np.allclose(np.linalg.solve(a, b), expected[1]):
                    wrong.append(1)
        threads = [threading.Thread(target=work, daemon=True) for _ in range(4)]
        for thread in threads: thread.start()
        for i in range(10):
            child = os.fork()
            if child == 0: os._exit(0)
            assert os.waitpid(child, 0)[1] == 0
        stop.append(1)
        for thread in threads: thread.join()
        assert not wrong
        """)

    def test_children_compute(self):
        # The parent's share is low when it forks.
        python("""
        import os, numpy as np
        from multiprocessing.pool import ThreadPool
        from threadpoolctl import threadpool_limits
        FOUR = threadpool_limits(4, user_api="blas")
        a = np.random.rand(300, 300); b = np.random.rand(300, 300)
        def good(_=None): return np.allclose(np.linalg.solve(a, a @ b), b)
        for i in range(6):
            with ThreadPool(8) as pool: assert all(pool.map(good, range(32), chunksize=1))
            child = os.fork()
            if child == 0:
                ended = all(good() for _ in range(10))
                with ThreadPool(8) as pool: ended = ended and all(pool.map(good, range(32), chunksize=1))
                os._exit(0 if ended else 1)
            assert os.waitpid(child, 0)[1] == 0
        """)

    def test_a_child_whose_handler_of_faults_goes_on_to_ours_ends(self):
        out, _ = python(
            """
            import faulthandler, os, signal
            import numpy as np
            a = np.ones((500, 500))
            a @ a
            faulthandler.enable(open("/dev/null"))
            child = os.fork()
            if child == 0:
                a @ a
                signal.alarm(20)
                os.kill(os.getpid(), signal.SIGBUS)
                os._exit(0)
            print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGBUS)""",
            WEFT_NODE="true",
        )
        self.assertEqual(out, "True\n")

    def test_workers_of_multiprocessing(self):
        python("""
        import multiprocessing as mp, numpy as np
        a = np.random.rand(200, 200)
        a @ a
        with mp.get_context("fork").Pool(3) as pool:
            for got in pool.map(np.linalg.inv, [a] * 9):
                assert np.allclose(got @ a, np.eye(200))
        assert np.allclose(np.linalg.inv(a) @ a, np.eye(200))
        """)


class Programs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        wheel, _ = run(
            [
                PYTHON,
                "-c",
                "import numpy, pathlib; print(next((pathlib.Path(numpy.__file__).parent.parent)"
                ".glob('numpy.libs/libscipy_openblas*')))",
            ]
        )
        cls.wheel = wheel.strip()

    def test_preloaded_before_a_program_that_is_linked_with_it(self):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "program.c").write_text(
                "#include <stdio.h>\nextern void* openblas_threads_callback_;\n"
                'int main(void) { printf("%d", openblas_threads_callback_ != NULL); }\n'
            )
            place = os.path.dirname(self.wheel)
            flags = ["-fPIC", self.wheel, f"-Wl,-rpath,{place}", "-Wl,--allow-shlib-undefined"]
            run([GCC, f"{folder}/program.c", "-o", f"{folder}/program", *flags])
            for limit in "1", "4":
                out, err = run(
                    [COMMAND, "run", "--preload", "--stats=all", "--", f"{folder}/program"], OPENBLAS_NUM_THREADS=limit
                )
                self.assertEqual((out, count(err, "adopted")), ("1", 1))

    def build(self, folder, *flags, name="nested"):
        program = f"{folder}/{name}"
        run(
            [
                GCC,
                "-std=gnu11",
                "-Wall",
                "-Wextra",
                "-Werror",
                "-O2",
                "-fopenmp",
                "-pthread",
                *flags,
                HERE / f"{name}.c",
                "-o",
                program,
                "-ldl",
            ]
        )
        return program

    def test_inside_parallel_regions_and_threads_that_end(self):
        with tempfile.TemporaryDirectory() as folder:
            program = self.build(folder)
            for cpus in 1, 2, 4:
                for threads in 1, 2, 4, 9:
                    with self.subTest(cpus=cpus, threads=threads):
                        _, err = run(
                            [COMMAND, "run", "--", program, self.wheel],
                            WEFT_NUM_CPUS=cpus,
                            OMP_NUM_THREADS=threads,
                            OPENBLAS_NUM_THREADS=4,
                        )
                        self.assertEqual(err, "")

    def test_limits_of_members_and_threads(self):
        with tempfile.TemporaryDirectory() as folder:
            program = self.build(folder, name="limits")
            for cpus in 2, 4:
                with self.subTest(cpus=cpus):
                    run([COMMAND, "run", "--", program, self.wheel], WEFT_NUM_CPUS=cpus)

    def test_from_threads_that_stand_in_no_table(self):
        """Nobody finds the jobs of their calls; these may wait for each other all the same."""
        with tempfile.TemporaryDirectory() as folder:
            program = self.build(folder, "-DSIZE=300")
            for reproducible in "true", "false", "":
                with self.subTest(reproducible=reproducible):
                    _, err = run(
                        [COMMAND, "run", "--", program, self.wheel, "beyond"],
                        WEFT_NUM_CPUS=4,
                        OMP_STACKSIZE="64K",
                        OPENBLAS_NUM_THREADS=4,
                        WEFT_REPRODUCIBLE=reproducible,
                    )
                    self.assertRegex(err, "^weft: more than 4096 threads [^\n]*\n$")


if __name__ == "__main__":
    unittest.main()
