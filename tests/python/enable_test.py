# SPDX-License-Identifier: Apache-2.0
"""weft.enable() and weft.status(), in programs that were started by plain python."""

from __future__ import annotations

import unittest

from support import TBB, ProgramTest, needs_tbb

KMEANS = """
    import numpy, sklearn.cluster
    sklearn.cluster.KMeans(3, n_init=1, random_state=0).fit(numpy.random.rand(2000, 4))
"""


class Enable(ProgramTest):
    def plain(self, code: str, **more: str) -> str:
        return self.succeed(code, weft=False, **more)

    def test_in_time(self) -> None:
        code = (
            "    import weft\n    weft.enable(stats=True)"
            + KMEANS
            + """
    told = weft.status()
    print(told["active"], told["how"], told["mode"])
"""
        )
        self.assertEqual(self.plain(code), "True enable dynamic\n")
        self.assertRegex(self.errors, r"it ran on weft; parallel regions: [1-9]")

    def test_a_copy_that_comes_later(self) -> None:
        """A wheel's copy of libgomp is mapped, but weft comes first for all that call it."""
        code = (
            "    import weft\n    weft.enable()"
            + KMEANS
            + """
    print(any("scikit_learn.libs/libgomp-" in line for line in open("/proc/self/maps")))
    print(weft.status()["other_runtimes"])
    weft.enable()
    for pool in weft.pools():
        if pool.kind == "OpenMP":
            print(pool.owner, pool.threads, pool.treatment, pool.note)
"""
        )
        mapped, others, pool = self.plain(code).splitlines()
        self.assertEqual((mapped, others), ("True", "[]"))
        self.assertTrue(pool.startswith("scikit_learn 0 replaced mapped, and not called: weft came first"), pool)
        self.assertIn("sklearn (libgomp-", pool)

    def test_a_copy_that_is_called_by_a_handle(self) -> None:
        code = """
    import ctypes, glob, importlib.util, os, weft
    weft.enable()
    folder = os.path.dirname(importlib.util.find_spec("sklearn").origin)
    library = ctypes.CDLL(glob.glob(os.path.join(folder, "..", "*.libs", "libgomp-*"))[0])
    work = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda _: None)
    library.GOMP_parallel(work, None, 2, 0)
    print(*weft.status()["other_runtimes"], *(pool.treatment for pool in weft.pools() if pool.kind == "OpenMP"))
"""
        self.assertRegex(self.plain(code), r"^\S*/libgomp-\S* own\n$")

    @needs_tbb
    def test_tbb(self) -> None:
        code = f"""
    import ctypes, os, weft
    weft.enable()
    ctypes.CDLL({TBB!r})
    maps = open("/proc/self/maps").read().split()
    print(*{{path.removeprefix(os.path.dirname(weft.__file__)) for path in maps if "/libtcm" in path}})
"""
        self.assertEqual(self.plain(code), "/lib/weft/libtcm.so.1\n")
        self.assertNotIn("/lib/weft/", self.plain(code, WEFT_ADOPT_LIBRARIES="false"))

    def test_too_late(self) -> None:
        code = (
            KMEANS
            + """
    import weft
    try:
        weft.enable()
    except weft.TooLateError as error:
        print(error)
    print(weft.status()["active"], *weft.status()["other_runtimes"])
"""
        )
        message, rest = self.plain(code).splitlines()
        for words in ("libgomp", "scikit_learn", "before the imports", "python -m weft"):
            self.assertIn(words, message)
        self.assertRegex(rest, r"^False .*libgomp")

    def test_too_late_may_be_a_warning(self) -> None:
        code = (
            KMEANS
            + """
    import warnings, weft
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        weft.enable(late="warn")
    print(caught[0].category.__name__, caught[0].filename == __file__, weft.status()["active"])
"""
        )
        self.assertEqual(self.plain(code), "RuntimeWarning True True\n")

    def test_settings_that_come_too_late(self) -> None:
        code = """
    import weft
    weft.enable(mode="counting")
    weft.enable(mode="counting")
    try:
        weft.enable(mode="exclusive")
    except weft.TooLateError as error:
        print(error)
    print(weft.status()["mode"])
"""
        message, mode = self.plain(code).splitlines()
        self.assertIn("WEFT_MODE", message)
        self.assertEqual(mode, "counting")

    def test_mistakes(self) -> None:
        code = """
    import weft
    for arguments in ({"mode": "frob"}, {"mode": "static", "factor": -1}, {"factor": 2}, {"weight": 3}, {"cpus": 0},
                      {"late": "x"}):
        try:
            weft.enable(**arguments)
        except ValueError as error:
            print(error)
    print(weft.status()["active"])
"""
        lines = self.plain(code).splitlines()
        self.assertEqual(len(lines), 7)
        self.assertEqual(lines[-1], "False")

    def test_children(self) -> None:
        code = """
    import subprocess, sys, weft
    child = [sys.executable, "-c", "import weft; print(weft.status()['how'])"]
    weft.enable(children=False)
    subprocess.run(child, check=True)
    weft.enable()
    subprocess.run(child, check=True)
"""
        self.assertEqual(self.plain(code), "None\naudit\n")

    def test_children_before_glibc_2_35(self) -> None:
        """They are not audited."""
        code = """
    import os, subprocess, sys, weft, weft._settings
    weft._settings.linker_audits = lambda: False
    weft.enable()
    weft.enable()
    print("LD_AUDIT" in os.environ, os.environ["LD_PRELOAD"].count("libweft-preload.so"))
    child = [sys.executable, "-c", "import weft; print(weft.status()['how'])"]
    subprocess.run(child, check=True)
"""
        self.assertEqual(self.plain(code), "False 1\npreload\n")
        self.assertEqual(self.errors, "")

    def test_under_the_launcher(self) -> None:
        code = """
    import weft
    weft.enable(mode="counting")
    print(weft.status()["how"], weft.status()["mode"])
"""
        self.assertEqual(self.succeed(code), "audit counting\n")

    def test_static_mode(self) -> None:
        code = """
    import os, weft
    weft.enable(mode="static")
    from concurrent.futures import ThreadPoolExecutor
    from weft import _runtime
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        print(pool.submit(lambda: _runtime.load().omp_get_max_threads()).result())
"""
        self.assertEqual(self.plain(code), "1\n")

    def test_openblas_copies_are_adopted_as_they_come(self) -> None:
        code = """
    import weft
    weft.enable()
    from weft import _runtime
    print(_runtime.blas() is not None)
    import numpy
    before = len(weft.status()["openblas_copies"] or ())
    import scipy.linalg
    after = len(weft.status()["openblas_copies"] or ())
    numpy.ones((300, 300)) @ numpy.ones((300, 300))
    scipy.linalg.lu(numpy.random.rand(300, 300))
    print(before, after)
"""
        known, counts = self.plain(code).splitlines()
        if known == "False":
            self.skipTest("this build of weft leaves OpenBLAS on pthreads alone")
        self.assertEqual(counts, "1 2")


class Attributes(unittest.TestCase):
    def test_names(self) -> None:
        import weft

        for name in weft.__all__:
            self.assertTrue(hasattr(weft, name), name)
        self.assertLessEqual(set(weft.__all__), set(dir(weft)))
        with self.assertRaises(AttributeError):
            weft.frob  # noqa: B018


if __name__ == "__main__":
    unittest.main()
