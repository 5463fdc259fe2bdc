# SPDX-License-Identifier: Apache-2.0
"""weft.pools() and --explain: whose threads are in a process."""

from __future__ import annotations

import json
import shutil
import subprocess
import unittest

from support import TBB, ProgramTest, needs_tbb

WORK = """
    import numpy, scipy.linalg, sklearn.cluster
    from concurrent.futures import ThreadPoolExecutor
    a = numpy.random.rand(400, 400)
    a @ a
    scipy.linalg.lu(a)
    sklearn.cluster.KMeans(3, n_init=1, random_state=0).fit(a)
    with ThreadPoolExecutor(3, thread_name_prefix="mine") as pool:
        list(pool.map(lambda i: __import__("time").sleep(0.1), range(6)))
"""


class Explain(ProgramTest):
    def report(self, code: str, *options: str) -> dict:
        file = self.folder / "report.json"
        self.succeed(code, "--explain-json", str(file), *options)
        return json.loads(file.read_text())

    def test_json(self) -> None:
        told = self.report(WORK)
        pools = {pool["owner"]: pool for pool in told["pools"]}
        self.assertLessEqual({"weft", "numpy", "scipy"}, set(pools))
        self.assertEqual(pools["weft"]["treatment"], "replaced")
        self.assertIn("sklearn (libgomp-", pools["weft"]["note"])
        self.assertGreater(pools["weft"]["threads"], 0)
        self.assertTrue(pools["weft"]["file"].endswith("/weft/libgomp.so.1"))
        self.assertRegex(pools["numpy"]["kind"], r"^OpenBLAS 0\.3\.\S+, pthreads$")
        self.assertIn("/numpy.libs/", pools["numpy"]["file"])
        if pools["numpy"]["treatment"] == "adopted":
            self.assertEqual(pools["scipy"]["treatment"], "adopted")
        else:
            self.assertGreater(pools["numpy"]["threads"], 0)
        self.assertEqual(told["python threads"], {"mine": 3})

    def test_text(self) -> None:
        self.succeed(WORK, "--explain")
        self.assertRegex(self.errors, r"(?m)^weft: pools of threads in process \d+, which may use \d+ CPUs$")
        self.assertRegex(self.errors, r"(?m)^  on weft:\n    .*weft's pool \(weft\): \d+ thread")
        self.assertRegex(self.errors, r"(?m)^    OpenBLAS 0\.3\.\S+, pthreads \(numpy\): \d+ thread")

    @needs_tbb
    def test_tbb(self) -> None:
        code = f"    import ctypes; ctypes.CDLL({TBB!r})\n"
        pools = {pool["kind"]: pool for pool in self.report(code)["pools"]}
        self.assertEqual(pools["oneTBB"]["treatment"], "permits")
        self.succeed(code, "--explain")
        self.assertIn("own threads, but weft says how many may run:\n    oneTBB", self.errors)

    def test_a_runtime_under_another_name(self) -> None:
        """No search names it, so that it is mapped beside weft: one line says so, and whose it is."""
        code = f"""
    import ctypes, glob, os, shutil, sklearn
    found = glob.glob(os.path.join(os.path.dirname(sklearn.__file__), "..", "*.libs", "libgomp-*"))
    shutil.copy(found[0], {str(self.folder)!r} + "/libinside.so")
    ctypes.CDLL({str(self.folder)!r} + "/libinside.so")
"""
        pools = {pool["kind"]: pool for pool in self.report(code)["pools"]}
        self.assertEqual(pools["OpenMP inside"]["treatment"], "own")
        self.assertTrue(pools["OpenMP inside"]["file"].endswith("/libinside.so"))
        self.assertEqual(self.errors.count("libinside.so has an OpenMP runtime inside"), 1, self.errors)

    @unittest.skipUnless(shutil.which("gcc"), "no gcc")
    def test_an_openblas_that_is_left_alone(self) -> None:
        """With the reason, in weft.status() too."""
        for version, reason in (
            ("0.3.27", "older than 0.3.29"),
            ("0.3.34.106.0", "its builders hide the names that weft needs"),
            ("0.3.35", "newer than weft knows"),
        ):
            source, library = self.folder / "openblas.c", self.folder / f"libopenblas-{version}.so"
            source.write_text(
                f'const char* openblas_get_config(void) {{ return "OpenBLAS {version} MAX_THREADS=64"; }}\n'
                "int openblas_get_num_threads(void) { return 2; }\n"
                "int openblas_get_parallel(void) { return 1; }\n"
            )
            subprocess.run(["gcc", "-shared", "-fPIC", source, "-o", library], check=True)
            code = f"""
    import ctypes, weft
    library = ctypes.CDLL({str(library)!r})
    print(weft.status()["openblas_left_alone"][{str(library)!r}])
"""
            pools = {pool["file"]: pool for pool in self.report(code)["pools"]}
            pool = pools[str(library)]
            self.assertEqual((pool["kind"], pool["treatment"]), (f"OpenBLAS {version}, pthreads", "own"))
            self.assertIn(f"left alone ({reason})", pool["note"])
            self.assertIn(f"OpenBLAS {version}, left alone ({reason})", self.succeed(code))

    @unittest.skipUnless(shutil.which("gcc"), "no gcc")
    def test_a_library_that_passes_calls_on_to_openblas(self) -> None:
        """It answers for the copy behind it, and is none itself."""
        (self.folder / "openblas.c").write_text(
            'const char* openblas_get_config(void) { return "OpenBLAS 0.3.27 MAX_THREADS=64"; }\n'
            "int openblas_get_num_threads(void) { return 2; }\n"
            "int openblas_get_parallel(void) { return 1; }\n"
        )
        (self.folder / "front.c").write_text("int flexiblas(void) { return 1; }\n")
        copy, front = self.folder / "libopenblas.so.0", self.folder / "libflexiblas_openblas.so"
        subprocess.run(["gcc", "-shared", "-fPIC", self.folder / "openblas.c", "-o", copy], check=True)
        linked = ["-Wl,--no-as-needed", f"-Wl,-rpath,{self.folder}", copy]
        subprocess.run(["gcc", "-shared", "-fPIC", self.folder / "front.c", *linked, "-o", front], check=True)
        code = f"""
    import ctypes, weft
    library = ctypes.CDLL({str(front)!r})
    print(list(weft.status()["openblas_left_alone"]))
"""
        self.assertEqual([pool["file"] for pool in self.report(code)["pools"]], [str(copy)])
        self.assertEqual(self.succeed(code).strip(), str([str(copy)]))

    def test_a_program_without_pools(self) -> None:
        self.succeed("    print(1)\n", "--explain")
        self.assertEqual(self.errors.splitlines()[1:], ["  none"])

    def test_only_the_process_that_was_started_reports(self) -> None:
        code = """
    import multiprocessing, os, subprocess, sys
    def f(i):
        return i
    if __name__ == "__main__":
        subprocess.run([sys.executable, "-c", "pass"], check=True)
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            pool.map(f, [1])
        if os.fork() == 0:
            sys.exit()
        os.wait()
"""
        self.succeed(code, "--explain")
        self.assertEqual(self.errors.count("pools of threads"), 1, self.errors)

    def test_failing_programs_report_too(self) -> None:
        done = self.weft("--explain", "-c", "raise ValueError('x')")
        self.assertEqual(done.returncode, 1)
        self.assertIn("pools of threads", done.stderr)

    def test_files_that_cannot_be_written(self) -> None:
        done = self.weft("--explain-json", "/no/such/folder/file", "-c", "print(1)")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        says = "there is no folder /no/such/folder; make it, or name a file elsewhere"
        self.assertEqual(done.stderr, f"weft: --explain-json /no/such/folder/file: {says}\n")
        # What goes wrong at the end is said of the option that was given.
        done = self.weft("--explain-json", "/dev/full", "-c", "print(1)")
        self.assertEqual((done.returncode, done.stdout), (0, "1\n"))
        self.assertRegex(done.stderr, r"^weft: --explain-json: OSError: .*\n$")


class Pools(ProgramTest):
    def test_without_weft(self) -> None:
        code = (
            WORK
            + """
    import json, weft
    print(json.dumps([pool._asdict() for pool in weft.pools()]))
"""
        )
        pools = json.loads(self.succeed(code, weft=False))
        self.assertEqual({pool["treatment"] for pool in pools}, {"own"})
        openmp = [pool for pool in pools if pool["kind"] == "OpenMP"]
        self.assertEqual([pool["owner"] for pool in openmp], ["scikit_learn"])
        self.assertIn("sklearn", openmp[0]["note"])

    def test_threads_of_python(self) -> None:
        code = """
    import threading, weft
    done = threading.Event()
    threads = [threading.Thread(target=done.wait) for _ in range(3)]
    for thread in threads:
        thread.start()
    print([(pool.kind, pool.threads) for pool in weft.pools()])
    done.set()
"""
        self.assertEqual(self.succeed(code, weft=False), "[('threads of Python', 3)]\n")


if __name__ == "__main__":
    unittest.main()
