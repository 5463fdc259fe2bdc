# SPDX-License-Identifier: Apache-2.0
"""Threads of Python that use the package at the same time, with and without the global interpreter lock.

Programs that would wait for ever end themselves and say where. The last class needs the free-threaded build of CPython:
`tests/python/run VENV tests/python/threads_test.py` runs all by the one of a virtual environment with NumPy, SciPy and
scikit-learn.
"""

from __future__ import annotations

import os
import sysconfig
import unittest

from support import ProgramTest

FREE_THREADED = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))

BEGIN = """
    import faulthandler, sys, threading, time
    faulthandler.dump_traceback_later(60, exit=True)

    def together(*functions):
        begin = threading.Barrier(len(functions))
        faults = []

        def call(function):
            begin.wait()
            try:
                function()
            except BaseException as fault:
                faults.append(repr(fault))

        threads = [threading.Thread(target=call, args=(function,)) for function in functions]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not faults, faults
"""


class Imports(ProgramTest):
    def test_of_weft_and_of_what_it_cares_for(self) -> None:
        """One thread is about to look for a module of weft's and has that module's lock. Another one has the lock of
        all imports, and finds what weft cares for."""
        code = (
            BEGIN
            + """
    paused = threading.Event()

    def pause(frame, event, _):
        if frame.f_code.co_name == "_find_spec" and frame.f_locals.get("name") == "weft._limits":
            paused.set()
            time.sleep(0.3)

    def one():
        sys.setprofile(pause)
        import weft._limits
        sys.setprofile(None)

    def other():
        paused.wait()
        import threadpoolctl

    together(one, other)
    print(sys.modules["threadpoolctl"].OpenBLASController.get_num_threads.__module__)
"""
        )
        self.assertEqual(self.succeed(code), "weft._limits\n")

    def test_what_other_threads_search_by_stays_as_it_is(self) -> None:
        """A thread that walks the finders or the search path would leave out the next one if one before it went."""
        code = """
    import sys
    seen = []

    class Sees:
        def find_spec(self, name, path=None, target=None):
            if name.startswith("weft"):
                seen.append((list(sys.path), [finder for finder in sys.meta_path if finder in before[1]]))

    sys.meta_path.insert(0, Sees())
    before = list(sys.path), list(sys.meta_path)
    import threadpoolctl
    assert seen and all(found == before for found in seen), (before, seen)
"""
        self.succeed(code)

    def test_hooks_are_called_once(self) -> None:
        code = (
            BEGIN
            + """
    sys.setswitchinterval(1e-6)
    import importlib, pathlib, types
    from weft._import_hooks import when_imported

    called = []
    def hook(module):
        called.append(module.__name__)

    pathlib.Path("waited_for.py").write_text("import time; time.sleep(0.01)")
    sys.path.insert(0, ".")
    ask = lambda: when_imported("waited_for", hook)
    together(*[ask] * 8)
    together(*[lambda: importlib.import_module("waited_for")] * 8, *[ask] * 8)
    ask()
    print(called)
"""
        )
        self.assertEqual(self.succeed(code, weft=False), "['waited_for']\n")


class Calls(ProgramTest):
    def test_status_beside_imports_of_extensions(self) -> None:
        """With a runtime that is mapped and not called, which status() and pools() look at closely."""
        code = (
            BEGIN
            + """
    import _json, importlib.util, os, shutil, weft
    from importlib.machinery import ExtensionFileLoader
    weft.enable()
    import sklearn.cluster
    from weft import _runtime
    assert _runtime.not_called() and not _runtime.other_runtimes(), _runtime.mapped()
    end = time.monotonic() + 2

    def ask():
        while time.monotonic() < end:
            assert weft.status()["other_runtimes"] == []

    def load():
        for number in range(200):
            name = os.path.abspath(f"{number}.so")
            shutil.copy(sys.modules["sklearn.cluster._k_means_common"].__file__, name)
            loader = ExtensionFileLoader("_k_means_common", name)
            importlib.util.module_from_spec(importlib.util.spec_from_loader("_k_means_common", loader))
            if time.monotonic() > end:
                break

    together(ask, ask, load)
"""
        )
        self.succeed(code, weft=False)

    def test_enable(self) -> None:
        """Behind its own call each thread has all that enable() does."""
        code = (
            BEGIN
            + """
    import importlib.machinery, weft
    sys.setswitchinterval(1e-6)
    usual = importlib.machinery.ExtensionFileLoader.create_module

    def enable():
        weft.enable(mode="counting")
        assert importlib.machinery.ExtensionFileLoader.create_module is not usual or weft._runtime.blas() is None
        import numpy
        copies = weft.status()["openblas_copies"]
        assert copies is None or len(copies) == 1, copies

    together(*[enable] * 8)
    print(weft.status()["mode"], sys.modules["weft._enable"]._limits.when_imported.__module__)
"""
        )
        self.assertEqual(self.succeed(code, weft=False), "counting weft._import_hooks\n")

    def test_the_recorder_comes_once(self) -> None:
        """The variables that bring it are gone afterwards."""
        code = (
            BEGIN
            + """
    import os
    from weft import _recorder
    sys.setswitchinterval(1e-6)
    found = []
    together(*[lambda: found.append(_recorder.recorder())] * 8)
    left = {"OMP_TOOL", "OMP_TOOL_LIBRARIES", "WEFT_PROFILE_PAUSED"} & set(os.environ)
    print(len(set(found)), sorted(left))
"""
        )
        self.assertEqual(self.succeed(code, weft=False), "1 []\n")

    def test_a_store_is_closed_once(self) -> None:
        code = (
            BEGIN
            + """
    import weft
    sys.setswitchinterval(1e-6)
    for _ in range(20):
        stores = [weft.KV("./store") for _ in range(300)]

        def close():
            for one in stores:
                one.close()

        together(*[close] * 8)
    store = weft.KV("./store")

    def change():
        for _ in range(300):
            while True:
                value, version = store.get_versioned("sum") if "sum" in store else (b"0", 0)
                if store.compare_and_set("sum", b"%d" % (int(value) + 1), version) is not None:
                    break

    together(*[change] * 4)
    print(store["sum"])
"""
        )
        self.assertEqual(self.succeed(code, weft=False), "b'1200'\n")

    def test_a_lock_that_ends_with_the_interpreter(self) -> None:
        """Without the global lock it is there for longer than the names of the package's modules."""
        code = (
            BEGIN
            + """
    import weft
    lock, numbers = weft.RWLock(), [0, 0]

    def write():
        for _ in range(500):
            with lock.write():
                numbers[0] += 1
                numbers[1] += 1

    def read():
        for _ in range(500):
            with lock.read():
                assert numbers[0] == numbers[1]

    together(*[read, write] * 4)
    print(numbers)
"""
        )
        self.assertEqual(self.succeed(code, weft=False), "[2000, 2000]\n")
        self.assertEqual(self.errors, "")

    def test_a_pool_that_is_collected_while_another_one_is_made(self) -> None:
        """In mode static, where pools of threads share a number of OpenBLAS's."""
        code = (
            BEGIN
            + """
    import gc, numpy, weft
    from concurrent.futures import ThreadPoolExecutor
    from weft import _runtime

    class Job:
        def __init__(self):
            self.pool = ThreadPoolExecutor(2, initializer=self.begin)

        def begin(self):
            pass

    Job()  # garbage, in a cycle
    copies, collected = _runtime.Blas.copies, []

    def collect(self):
        collected.append(gc.collect())
        return copies(self)

    _runtime.Blas.copies = collect
    Job()
    print(_runtime.blas() is None or collected[0] > 0)
"""
        )
        self.assertEqual(self.succeed(code, "--mode", "static"), "True\n")

    def test_most_threads_that_were_alive(self) -> None:
        """--explain counts the threads of a program, though they are started by several others at once."""
        code = (
            BEGIN
            + """
    sys.setswitchinterval(1e-6)
    end = threading.Event()

    def start():
        for number in range(8):
            threading.Thread(target=end.wait, name=f"many-{number}").start()

    together(*[start] * 8)
    end.set()
"""
        )
        self.succeed(code, "--explain")
        self.assertIn("threads of Python named many: up to 64 at once", self.errors)


@unittest.skipUnless(FREE_THREADED, "no free-threaded build of CPython (its 'Py_GIL_DISABLED' is not set)")
class WithoutLock(ProgramTest):
    def test_weft_does_not_bring_the_lock_back(self) -> None:
        code = """
    import importlib, pkgutil, sys, weft
    weft.enable()
    for module in pkgutil.iter_modules(weft.__path__, "weft."):
        if module.name not in ("weft.__main__", "weft._magic"):  # the latter is for IPython
            importlib.import_module(module.name)
    weft.status(), weft.pools()
    print(sys._is_gil_enabled())
"""
        self.assertEqual(self.succeed(code), "False\n")
        self.assertEqual(self.succeed(code, weft=False), "False\n")

    def test_libraries_at_the_same_time(self) -> None:
        """Calls of OpenBLAS on threads and of OpenMP, by more threads than there are CPUs."""
        code = (
            BEGIN
            + f"""
    import numpy, scipy.linalg, weft
    from sklearn.cluster import KMeans
    a = numpy.random.default_rng(0).random((300, 300))
    work = (
        lambda: (a @ a).sum(),
        lambda: scipy.linalg.lu_factor(a)[0].sum(),
        lambda: KMeans(4, n_init=1, max_iter=5, random_state=0).fit(a).inertia_,
    )
    expected = [call() for call in work]

    def compute():
        for _ in range(5):
            for call, value in zip(work, expected):
                assert numpy.isclose(call(), value, rtol=1e-9), (call(), value)
            assert weft.status()["other_runtimes"] == []

    together(*[compute] * {4 * (os.cpu_count() or 1)})
    print(sys._is_gil_enabled())
"""
        )
        self.assertEqual(self.succeed(code), "False\n")


if __name__ == "__main__":
    unittest.main()
