# SPDX-License-Identifier: Apache-2.0
"""Packages that are too big for `make test`: forks after their threads have run (issues that users met with libgomp),
their own limits, and whose threads they are. WEFT_TEST_STOCK=1 runs the programs without weft: several hang then."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import unittest

from support import TBB, ProgramTest, needs, needs_tbb

CPUS = len(os.sched_getaffinity(0))
STOCK = os.environ.get("WEFT_TEST_STOCK") is not None


FORKS = """
    if __name__ == "__main__":
        import multiprocessing
        first = work(0)
        for method in ("fork", "spawn", "forkserver"):
            with multiprocessing.get_context(method).Pool(2) as pool:
                print(method, pool.map(work, range(4)) == [first] * 4)
        print("after", work(0) == first)
"""
GOOD = "fork True\nspawn True\nforkserver True\nafter True\n"

# What numba compiles, children by the other methods would compile anew, for a long time.
NUMBA_TOTAL = """
    import numba, numpy
    @numba.njit(parallel=True)
    def total(x):
        s = 0.0
        for i in numba.prange(x.shape[0]):
            s += x[i]
        return s
"""
ONLY_FORK = FORKS.replace('"fork", "spawn", "forkserver"', '"fork",')
GOOD_FORK = "fork True\nafter True\n"


class PackageTest(ProgramTest):
    def outcome(self, code: str, **more: str) -> str:
        try:
            return self.succeed(code, weft=not STOCK, **more)
        except subprocess.TimeoutExpired:
            self.fail("hangs")


class Forks(PackageTest):
    @needs("faiss")
    def test_faiss(self) -> None:
        """facebookresearch/faiss#5206: search hangs after a fork."""
        code = """
    import faiss, numpy
    rng = numpy.random.default_rng(0)
    x = rng.random((4000, 16), dtype=numpy.float32)
    def work(_):
        index = faiss.IndexFlatL2(16)
        index.add(x)
        return index.search(x[:500], 3)[1].sum().item()
"""
        self.assertEqual(self.outcome(code + FORKS), GOOD)

    @needs("lightgbm")
    def test_lightgbm(self) -> None:
        """lightgbm-org/LightGBM#4751: training hangs in a forked child."""
        code = """
    import lightgbm, numpy
    rng = numpy.random.default_rng(0)
    x = rng.random((2000, 8))
    def work(_):
        options = {"verbosity": -1, "deterministic": True, "force_row_wise": True}
        model = lightgbm.train(options, lightgbm.Dataset(x, x[:, 0]), num_boost_round=5)
        return round(float(model.predict(x[:50]).sum()), 6)
"""
        self.assertEqual(self.outcome(code + FORKS), GOOD)

    @needs("xgboost", "lightgbm")
    def test_xgboost_after_lightgbm(self) -> None:
        """dmlc/xgboost#7044: a forked child that trains after the parent has used either library hangs."""
        code = """
    import lightgbm, numpy, xgboost
    rng = numpy.random.default_rng(0)
    x = rng.random((2000, 8))
    def work(_):
        lightgbm.train({"verbosity": -1}, lightgbm.Dataset(x, x[:, 0]), num_boost_round=2)
        model = xgboost.train({"verbosity": 0, "seed": 0}, xgboost.DMatrix(x, label=x[:, 0]), num_boost_round=5)
        return round(float(model.predict(xgboost.DMatrix(x[:50])).sum()), 3)
"""
        self.assertEqual(self.outcome(code + FORKS), GOOD)

    @needs("numba")
    def test_numba(self) -> None:
        """scverse/fast-array-utils#179: "Terminating: fork() called from a process already using GNU OpenMP"."""
        work = """
    x = numpy.ones(100000)
    def work(_):
        result = total(x)
        assert numba.threading_layer() == "omp", numba.threading_layer()
        return result
"""
        self.assertEqual(self.outcome(NUMBA_TOTAL + work + ONLY_FORK, NUMBA_THREADING_LAYER="omp"), GOOD_FORK)

    @needs_tbb
    @needs("numba")
    def test_numba_on_tbb(self) -> None:
        """numba ends oneTBB before a fork, and starts it anew in both processes."""
        work = """
    import threading
    x = numpy.ones(1000000)
    a = numpy.random.default_rng(0).random((300, 300))
    square = a @ a
    def multiply(count):
        for _ in range(count):
            assert numpy.allclose(a @ a, square)
    def work(_):
        other = threading.Thread(target=multiply, args=(20,))
        other.start()
        result = [total(x) for _ in range(20)]
        other.join()
        assert numba.threading_layer() == "tbb", numba.threading_layer()
        return result
"""
        # numba finds oneTBB by this only, where it is in a virtual environment.
        found = {"NUMBA_THREADING_LAYER": "tbb", "LD_LIBRARY_PATH": os.path.dirname(TBB)}
        for settings in {}, {"WEFT_NUM_CPUS": "4", "NUMBA_NUM_THREADS": "4"}, {"WEFT_NODE": "true"}:
            with self.subTest(**settings):
                self.assertEqual(self.outcome(NUMBA_TOTAL + work + ONLY_FORK, **found, **settings), GOOD_FORK)

    @needs_tbb
    @needs("numba")
    def test_permits(self) -> None:
        """As many threads at once as weft says, though numba asks for more."""
        code = """
    import numba, numpy
    @numba.njit(parallel=True)
    def spin(n):
        s = numpy.zeros(n)
        for i in numba.prange(n):
            for k in range(3000):
                s[i] += numpy.sin(s[i] + k)
        return s.sum()
    print(bool(numpy.isclose(spin(10000), spin(10000))))
"""
        found = {"NUMBA_THREADING_LAYER": "tbb", "LD_LIBRARY_PATH": os.path.dirname(TBB)}
        for cpus in 2, 3:
            more = {"NUMBA_NUM_THREADS": "8", "WEFT_NUM_CPUS": str(cpus), "WEFT_STATS": "all", **found}
            self.assertEqual(self.succeed(code, **more), "True\n")
            self.assertIn(f"most threads at once: {cpus - 1},", self.errors)

    @needs("torch")
    def test_torch_data_loader(self) -> None:
        """Workers of a DataLoader that compute with several threads, after the parent has."""
        code = """
    import torch
    torch.manual_seed(0)
    a = torch.rand(600, 600)
    def work(_=0):
        return round((a @ a).relu().sum().item(), -2), round(torch.special.gammaln(a + 1).sum().item(), 1)
    class Data(torch.utils.data.Dataset):
        def __len__(self):
            return 4
        def __getitem__(self, i):
            torch.set_num_threads(2)
            return torch.tensor(work())
    if __name__ == "__main__":
        torch.set_num_threads(2)
        first = torch.tensor(work())
        for method in ("fork", "spawn", "forkserver"):
            loader = torch.utils.data.DataLoader(Data(), num_workers=2, multiprocessing_context=method)
            print(method, all(bool((item == first).all()) for item in loader))
        print("after", bool((torch.tensor(work()) == first).all()))
"""
        self.assertEqual(self.outcome(code), GOOD)


class Limits(PackageTest):
    @needs("torch")
    def test_torch(self) -> None:
        code = """
    import torch
    from weft import _runtime
    for count in (1, 2, 3):
        torch.set_num_threads(count)
        torch.rand(500, 500) @ torch.rand(500, 500)
        print(torch.get_num_threads(), _runtime.load().omp_get_max_threads())
"""
        self.assertEqual(self.succeed(code), "1 1\n2 2\n3 3\n")

    def products_of_torch(self, nested_libraries: bool) -> int:
        """How many regions products in 8 threads open. Each thread has the number of threads that it has alone."""
        code = """
    import threading, torch
    from weft import _runtime
    a = torch.rand(300, 300)
    numbers = [(torch.get_num_threads(), _runtime.load().omp_get_max_threads())]
    def work():
        for _ in range(200):
            a @ a
        numbers.append((torch.get_num_threads(), _runtime.load().omp_get_max_threads()))
    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(len(set(numbers)), torch.allclose(a @ a, (a.double() @ a.double()).float(), rtol=1e-4))
"""
        how = {"WEFT_NUM_CPUS": "4", "WEFT_NESTED_LIBRARIES": str(nested_libraries).lower()}
        self.assertEqual(self.succeed(code, "--stats=all", **how), "1 True\n")
        found = re.search(r"regions by level: (\d+)", self.errors)
        return int(found[1]) if found else 0

    @needs("torch")
    def test_products_of_torch_beside_others(self) -> None:
        """MKL is told what a caller can have while others compute; PyTorch, which asks it too, keeps its number."""
        self.assertLess(self.products_of_torch(True), self.products_of_torch(False) / 2)

    @needs("numba")
    @unittest.skipIf(CPUS < 2, "needs two CPUs")
    def test_numba(self) -> None:
        code = """
    import numba, numpy
    @numba.njit(parallel=True)
    def members(n):
        seen = numpy.zeros(64, dtype=numpy.int64)
        for i in numba.prange(n):
            seen[numba.get_thread_id()] += 1
        return seen
    for count in (1, 2):
        numba.set_num_threads(count)
        print(numba.get_num_threads(), int((members(100000) > 0).sum()))
"""
        self.assertEqual(self.succeed(code, NUMBA_THREADING_LAYER="omp"), "1 1\n2 2\n")

    @needs("torch", "sklearn", "lightgbm", "xgboost", "faiss")
    def test_one_runtime_for_all(self) -> None:
        code = """
    import faiss, lightgbm, sklearn.cluster, torch, xgboost
    import threadpoolctl, weft
    runtimes = [pool["filepath"] for pool in threadpoolctl.threadpool_info() if pool["user_api"] == "openmp"]
    print(runtimes == [weft.status()["library"]])
    with threadpoolctl.threadpool_limits(1, user_api="openmp"):
        print(torch.get_num_threads(), faiss.omp_get_max_threads())
    print(faiss.omp_get_max_threads(), weft.status()["other_runtimes"])
"""
        self.assertEqual(self.succeed(code), f"True\n1 1\n{CPUS} []\n")


class Static(PackageTest):
    @needs("dask")
    def test_dask(self) -> None:
        code = """
    import dask, os, time
    def worker(i):
        from weft import _runtime
        time.sleep(0.1)
        return _runtime.load().omp_get_max_threads(), len(os.sched_getaffinity(0))
    if __name__ == "__main__":
        for scheduler in ("threads", "processes"):
            tasks = [dask.delayed(worker)(i) for i in range(8)]
            print(scheduler, *set(dask.compute(*tasks, scheduler=scheduler, num_workers=2)))
"""
        from weft._static import threads_of_worker

        share = threads_of_worker(CPUS, 2, 1)
        path = self.write("app.py", code)
        done = self.weft("--mode", "static", path)
        self.assertEqual(done.stdout, f"threads ({share}, {CPUS})\nprocesses ({share}, {share})\n", done.stderr)


class OtherSuites(PackageTest):
    @needs("scipy", "pytest")
    def test_linear_algebra_of_scipy(self) -> None:
        """SciPy's own tests; their calls of OpenBLAS are divided into more jobs than there are CPUs, or left whole."""
        tests = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "--pyargs", "scipy.linalg", "scipy.sparse.linalg")
        run = self.run_python if STOCK else self.weft
        done = run(*tests, WEFT_NUM_CPUS="8", OPENBLAS_NUM_THREADS="8")
        self.assertEqual(done.returncode, 0, done.stdout[-3000:] + done.stderr[-3000:])
        self.assertRegex(done.stdout, r"\d{4,} passed")


class Pools(PackageTest):
    @needs("numpy", "scipy", "sklearn", "faiss", "xgboost", "lightgbm", "pyarrow", "polars", "cv2", "torch", "numba")
    def test_whose_threads(self) -> None:
        code = """
    import numpy, scipy.linalg, sklearn.cluster, faiss, xgboost, lightgbm, pyarrow, polars, cv2, torch, numba
    a = numpy.random.rand(400, 400)
    a @ a
    scipy.linalg.lu(a)
    sklearn.cluster.KMeans(4, n_init=1).fit(a)
    polars.DataFrame({"a": [1, 2, 3]}).lazy().select(polars.col("a").sum()).collect()
    cv2.GaussianBlur(numpy.zeros((2000, 2000, 3), numpy.uint8), (15, 15), 3)
    torch.rand(500, 500) @ torch.rand(500, 500)
    table = pyarrow.table({"a": list(range(100000))})
    table.group_by("a").aggregate([("a", "sum")])
"""
        file = self.folder / "report.json"
        path = self.write("app.py", code)
        done = self.weft("--explain-json", str(file), path)
        self.assertEqual(done.returncode, 0, done.stderr)
        pools = json.loads(file.read_text())["pools"]
        weft = next(pool for pool in pools if pool["owner"] == "weft")
        for package in ("sklearn", "xgboost", "lightgbm", "torch", "faiss"):
            self.assertIn(package, weft["note"])
        own = {pool["kind"]: pool["threads"] for pool in pools if pool["treatment"] == "own"}
        for kind in ("rayon, of polars", "OpenCV's own pool", "Arrow's pools for CPU and input"):
            self.assertGreater(own[kind], 0, kind)
        self.assertFalse([pool for pool in pools if pool["kind"] in ("OpenMP", "unknown", "threads")], pools)


# Functions of three kinds, compiled: whether the results are right, and their bits; whether a kernel with OpenMP was
# built.
COMPILED_BY_TORCH = """
    import glob, hashlib, os, torch
    torch.manual_seed(0)
    torch.set_num_threads(4)
    a, b = torch.rand(1000, 1000), torch.rand(1000)
    def elements(x, y):
        return torch.sin(x) * y + torch.exp(-x).clamp(max=0.9)
    def rows(x, y):
        return torch.softmax(x * y, dim=1)
    model = torch.nn.Sequential(torch.nn.Linear(1000, 300), torch.nn.GELU(), torch.nn.Linear(300, 10)).eval()
    def network(x, y):
        with torch.no_grad():
            return model(x + y)
    for function in elements, rows, network:
        made = torch.compile(function)(a, b)
        close = torch.allclose(made, function(a, b), rtol=1e-4, atol=1e-5)
        print(function.__name__, close, hashlib.sha256(made.numpy().tobytes()).hexdigest())
    sources = glob.glob(os.environ["TORCHINDUCTOR_CACHE_DIR"] + "/**/*.cpp", recursive=True)
    print("with OpenMP", any("omp parallel" in open(source).read() for source in sources))
"""
HAS_COMPILER = shutil.which("g++") and os.path.exists(f"{sysconfig.get_path('include')}/Python.h")


class Compiled(PackageTest):
    @needs("torch")
    @unittest.skipUnless(HAS_COMPILER, "no g++, or no headers of Python")
    def test_torch(self) -> None:
        """PyTorch compiles functions to C++ with OpenMP: the same results on weft, bit by bit."""
        outputs = []
        for weft in False, True:
            # Both compile.
            cache = str(self.folder / f"cache-{weft}")
            more = {"TORCHINDUCTOR_CACHE_DIR": cache, "TORCHINDUCTOR_COMPILE_THREADS": "1"}
            outputs.append(self.succeed(COMPILED_BY_TORCH, *(("--stats=all",) if weft else ()), weft=weft, **more))
        own, on_weft = outputs
        self.assertEqual(own, on_weft)
        self.assertEqual(re.findall(r"\b(?:True|False)\b", own), 4 * ["True"])
        self.assertRegex(self.errors, r"regions by level: [1-9]")


# Where pip puts Intel's Math Kernel Library, which opens its OpenMP runtime itself.
MKL = f"{sys.prefix}/lib/libmkl_rt.so.3"
needs_mkl = unittest.skipUnless(os.path.exists(MKL), f"no {MKL}")

# Three kinds of calls, compared with NumPy's; says how many differ, and which OpenMP runtimes are mapped.
CALLS_OF_MKL = f"""
    import ctypes, numpy, threading
    mkl = ctypes.CDLL({MKL!r})
    def pointer(array):
        return array.ctypes.data_as(ctypes.POINTER(ctypes.c_double))
    def differ(seed, n=300):
        rng = numpy.random.default_rng(seed)
        a, b, c, d = rng.random((n, n)), rng.random((n, n)), numpy.zeros((n, n)), numpy.zeros((n, n))
        one = ctypes.c_double(1)
        mkl.cblas_dgemm(101, 111, 111, n, n, n, one, pointer(a), n, pointer(b), n, ctypes.c_double(0), pointer(c), n)
        mkl.vdExp(n * n, pointer(a), pointer(d))
        wrong = (not numpy.allclose(c, a @ b)) + (not numpy.allclose(d, numpy.exp(a)))
        pivots = (ctypes.c_int * n)()
        factors, solution = a.copy(), b.copy()
        wrong += mkl.LAPACKE_dgesv(101, n, n, pointer(factors), n, pivots, pointer(solution), n) != 0
        return wrong + (not numpy.allclose(a @ solution, b))
    def differ_in_threads(count):
        found = []
        def work(seed):
            found.append(sum(differ(seed) for _ in range(5)))
        threads = [threading.Thread(target=work, args=(i,)) for i in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return len(found), sum(found)
    def runtimes():
        from weft import _runtime
        return _runtime.mapped() is not None, _runtime.other_runtimes()
"""
LINKED_WITH_MKL = """
#include <stdio.h>
extern void dgemm_(const char *, const char *, const int *, const int *, const int *, const double *, const double *,
                   const int *, const double *, const int *, const double *, double *, const int *);
enum { N = 400 };
static double a[N * N], b[N * N], c[N * N];
int main(void) {
  const int n = N;
  const double one = 1, zero = 0;
  for (int i = 0; i < N * N; i++) a[i] = i % N, b[i] = 1;
  dgemm_("N", "N", &n, &n, &n, &one, a, &n, b, &n, &zero, c, &n);
  printf("%g\\n", c[1]);
  return 0;
}
"""


@needs_mkl
class Mkl(PackageTest):
    LAYERS = "INTEL", "GNU"

    def regions(self) -> int:
        """Those of the outermost level, by the statistics."""
        found = re.search(r"regions by level: (\d+)", self.errors)
        return int(found[1]) if found else 0

    def test_alone(self) -> None:
        code = CALLS_OF_MKL + "    print(differ(0), differ_in_threads(8), runtimes())\n"
        for layer in self.LAYERS:
            with self.subTest(layer=layer):
                self.assertEqual(self.succeed(code, "--stats=all", MKL_THREADING_LAYER=layer), "0 (8, 0) (True, [])\n")
                self.assertGreater(self.regions(), 0)

    @needs_tbb
    def test_on_tbb(self) -> None:
        code = CALLS_OF_MKL + "    print(differ(0), differ_in_threads(8), runtimes())\n"
        # It finds oneTBB by this only.
        found = {"MKL_THREADING_LAYER": "TBB", "LD_LIBRARY_PATH": os.path.dirname(TBB)}
        self.assertEqual(self.succeed(code, "--stats=all", **found), "0 (8, 0) (True, [])\n")
        self.assertRegex(self.errors, r"permits: [1-9]")

    @needs("torch")
    def test_after_torch(self) -> None:
        code = f"""
    import torch
    x = torch.rand(500, 500)
    assert torch.allclose(x @ x, torch.from_numpy(x.numpy() @ x.numpy()), rtol=1e-4)
{CALLS_OF_MKL}
    print(differ(0), differ_in_threads(8), runtimes())
    assert torch.allclose(x @ x, torch.from_numpy(x.numpy() @ x.numpy()), rtol=1e-4)
"""
        for layer in self.LAYERS:
            with self.subTest(layer=layer):
                self.assertEqual(self.succeed(code, MKL_THREADING_LAYER=layer), "0 (8, 0) (True, [])\n")

    @unittest.skipUnless(shutil.which("gcc"), "no gcc")
    def test_linked_program(self) -> None:
        source = self.write("linked.c", LINKED_WITH_MKL)
        program = str(self.folder / "linked")
        folder = os.path.dirname(MKL)
        flags = (f"-L{folder}", f"-l:{os.path.basename(MKL)}", f"-Wl,-rpath,{folder}")
        subprocess.run(["gcc", "-O1", source, "-o", program, *flags], check=True)
        from weft._files import command

        for layer in self.LAYERS:
            for how in (), ("--preload",):
                with self.subTest(layer=layer, how=how):
                    done = self.run_program(command(), "run", *how, "--stats=all", program, MKL_THREADING_LAYER=layer)
                    self.assertEqual((done.returncode, done.stdout), (0, "400\n"), done.stderr)
                    self.errors = done.stderr
                    self.assertGreater(self.regions(), 0)
                    self.assertNotIn("beside weft", done.stderr)


if __name__ == "__main__":
    unittest.main()
