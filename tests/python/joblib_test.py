# SPDX-License-Identifier: Apache-2.0
"""joblib's backend "weft": worker processes that share the node's CPUs, under joblib itself and under scikit-learn."""

from __future__ import annotations

import json
import os
import unittest

from support import ProgramTest
from weft import _files

CPUS = len(os.sched_getaffinity(0))

# What a worker says of itself. Loads a library with OpenMP first.
START = """
    import joblib, os
    def worker(i):
        import sklearn.cluster, weft
        from weft import _runtime
        variables = "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMEXPR_NUM_THREADS"
        named = [os.environ.get(name, "-") for name in variables]
        status = weft.status()
        return status["active"], status["how"], status["node"], _runtime.load().omp_get_max_threads(), *named
    def show(results):
        print(len(results), *set(results))
"""


class Workers(ProgramTest):
    def share(self, workers: int) -> str:
        """What joblib leaves each for libraries that weft does not run."""
        return str(max(CPUS // workers, 1))

    def on_weft(self, count: int, workers: int) -> str:
        return f"{count} {(True, 'audit', '1', CPUS, '-', '-', self.share(workers))}\n"

    def test_under_weft_nothing_is_imported(self) -> None:
        code = """
    with joblib.parallel_config(backend="weft"):
        show(joblib.Parallel(n_jobs=2)(joblib.delayed(worker)(i) for i in range(4)))
        show(joblib.Parallel(n_jobs=-1)(joblib.delayed(worker)(i) for i in range(4)))
    show(joblib.Parallel(n_jobs=2, backend="weft")(joblib.delayed(worker)(i) for i in range(3)))
"""
        whole = self.on_weft(4, CPUS) if CPUS > 1 else f"4 {(True, 'audit', None, 1, '-', '-', '-')}\n"
        self.assertEqual(self.succeed(START + code), self.on_weft(4, 2) + whole + self.on_weft(3, 2))

    def test_a_parent_without_weft(self) -> None:
        """The workers start on weft all the same, and the parent stays as it is, whichever is imported first."""
        code = """
    with joblib.parallel_config(backend="weft", n_jobs=2):
        show(joblib.Parallel()(joblib.delayed(worker)(i) for i in range(4)))
    print(weft.status()["active"], "WEFT_NODE" in os.environ, "LD_AUDIT" in os.environ)
"""
        for first in START + "    import weft\n", "    import weft\n" + START:
            self.assertEqual(self.succeed(first + code, weft=False), self.on_weft(4, 2) + "False False False\n")

    def test_after_enable(self) -> None:
        code = """
    import weft
    weft.enable(children=False)
    with joblib.parallel_config(backend="weft", n_jobs=2):
        show(joblib.Parallel()(joblib.delayed(worker)(i) for i in range(4)))
"""
        self.assertEqual(self.succeed(START + code, weft=False), self.on_weft(4, 2))

    def test_what_the_user_asks_for(self) -> None:
        code = """
    with joblib.parallel_config(backend="weft", n_jobs=2, inner_max_num_threads=1):
        show(joblib.Parallel()(joblib.delayed(worker)(i) for i in range(2)))
    with joblib.parallel_config(backend="weft", n_jobs=2):
        show(joblib.Parallel()(joblib.delayed(worker)(i) for i in range(2)))
    os.environ["OMP_NUM_THREADS"] = "3"
    with joblib.parallel_config(backend="weft", n_jobs=2):
        show(joblib.Parallel()(joblib.delayed(worker)(i) for i in range(2)))
"""
        inner = f"2 {(True, 'audit', '1', 1, '1', '1', '1')}\n"
        asked = f"2 {(True, 'audit', '1', 3, '3', '-', self.share(2))}\n"
        self.assertEqual(self.succeed(START + code), inner + self.on_weft(2, 2) + asked)

    def test_they_take_part_in_the_node(self) -> None:
        """As `weft top` sees them."""
        code = f"""
    import subprocess
    def regions(i):
        import numpy, sklearn.cluster
        sklearn.cluster.KMeans(3, n_init=1, random_state=0).fit(numpy.random.default_rng(0).random((2000, 8)))
        said = subprocess.run([{_files.command()!r}, "top", "--once", "--json", "-"], capture_output=True, check=True)
        return os.getpid(), said.stdout.decode()
    with joblib.parallel_config(backend="weft", n_jobs=2):
        import json
        print(json.dumps(joblib.Parallel()(joblib.delayed(regions)(i) for i in range(4))))
"""
        for pid, said in json.loads(self.succeed(START + code)):
            self.assertIn(pid, [process["pid"] for process in json.loads(said)["processes"]])

    def test_nested_calls(self) -> None:
        """Threads in the workers, as with loky; other processes where the inner call asks for them."""
        code = """
    def inner(i, j):
        import numpy
        a = numpy.full((200, 200), i + j, dtype=float)
        return os.getpid(), float((a @ a)[0, 0])
    def outer(i, backend):
        with joblib.parallel_config(**backend):
            results = joblib.Parallel(n_jobs=2)(joblib.delayed(inner)(i, j) for j in range(3))
        here = {pid for pid, _ in results} == {os.getpid()}
        return here, [value for _, value in results]
    expected = [[200.0 * (i + j) ** 2 for j in range(3)] for i in range(4)]
    for backend in {}, {"backend": "weft"}:
        with joblib.parallel_config(backend="weft", n_jobs=2):
            results = joblib.Parallel()(joblib.delayed(outer)(i, backend) for i in range(4))
        print({here for here, _ in results}, [values for _, values in results] == expected)
"""
        self.assertEqual(self.succeed(START + code), "{True} True\n{False} True\n")

    def test_errors(self) -> None:
        code = """
    def fails(i):
        if i == 1:
            raise KeyError("one")
        return i
    with joblib.parallel_config(backend="weft", n_jobs=2):
        try:
            joblib.Parallel()(joblib.delayed(fails)(i) for i in range(3))
        except KeyError as error:
            print(repr(error))
        print(joblib.Parallel()(joblib.delayed(abs)(-i) for i in range(3)))
"""
        self.assertEqual(self.succeed(START + code), "KeyError('one')\n[0, 1, 2]\n")


class ScikitLearn(ProgramTest):
    def test_the_same_results(self) -> None:
        code = """
    import joblib, numpy
    from sklearn.datasets import make_classification
    from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
    from sklearn.model_selection import GridSearchCV, cross_val_score
    x, y = make_classification(600, 12, random_state=0)
    def results():
        boosted = HistGradientBoostingClassifier(max_iter=10, random_state=0)
        grid = GridSearchCV(boosted, {"max_depth": [2, 4]}, cv=2, n_jobs=-1).fit(x, y)
        forest = RandomForestClassifier(20, random_state=0, n_jobs=-1)
        return [
            *cross_val_score(boosted, x, y, cv=4, n_jobs=-1),
            *grid.cv_results_["mean_test_score"],
            *cross_val_score(forest, x, y, cv=2, n_jobs=-1),
        ]
    found = {}
    for backend in "loky", "weft":
        with joblib.parallel_config(backend=backend):
            found[backend] = results()
    print(len(found["weft"]), found["weft"] == found["loky"])
"""
        self.assertEqual(self.succeed(code), "8 True\n")


if __name__ == "__main__":
    unittest.main()
