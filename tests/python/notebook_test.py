# SPDX-License-Identifier: Apache-2.0
"""%%weft in real IPython, `with weft.report()`, and a notebook that Jupyter runs under the kernel of weft."""

from __future__ import annotations

import base64
import gzip
import html
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest
import unittest.mock

from support import ProgramTest
from weft import _files, _kernel

try:
    import IPython  # noqa: F401
    import nbclient
    import nbformat
except ImportError:
    sys.exit(77)

CPUS = len(os.sched_getaffinity(0))
GCC = shutil.which("gcc")
LOOPS = """
    #include <omp.h>
    static void work(double seconds) {
      for (double began = omp_get_wtime(); omp_get_wtime() - began < seconds;) {}
    }
    void uneven(int n) {
    #pragma omp parallel for schedule(static) num_threads(2)
      for (int i = 0; i < n; i++) work(i < n / 2 ? 0 : 2e-3);
    }
    void even(int times) {
      for (int i = 0; i < times; i++) {
    #pragma omp parallel num_threads(2)
        work(1e-3);
      }
    }
"""
# A shell whose cells run as those of a notebook do; each leaves what it shows.
SHELL = """
    import ctypes, json, os, sys
    from IPython.core.interactiveshell import InteractiveShell
    from IPython.utils.capture import capture_output
    shell = InteractiveShell.instance(colors="nocolor")
    def run(code):
        with capture_output() as caught:
            result = shell.run_cell(code, store_history=True)
        error = result.error_before_exec or result.error_in_exec
        shown = [output.data for output in caught.outputs if "text/html" in output.data]
        print(json.dumps({"stdout": caught.stdout, "stderr": caught.stderr, "error": type(error).__name__,
                          "shown": shown}))
"""


def page_of(shown: str) -> str:
    """The page in a frame of a notebook."""
    source = html.unescape(
        re.match(r'<iframe sandbox="allow-scripts" .* srcdoc="([^"]*)"></iframe><details>', shown)[1]
    )
    return gzip.decompress(base64.b64decode(re.search(r'atob\("([^"]*)"\)', source)[1])).decode()


def counts(report: dict, kind: str) -> dict[str, int]:
    """How often each place of that kind was met, by its function."""
    met: dict[str, int] = {}
    for site in report["sites"]:
        if site["kind"] == kind:
            name = site["place"]["function"].partition(".")[0]
            met[name] = met.get(name, 0) + site["count"]
    return met


class NotebookTest(ProgramTest):
    def loops(self) -> None:
        """Makes loops.so in the test's folder."""
        if GCC is None:
            self.skipTest("no gcc")
        source = self.write("loops.c", LOOPS)
        library = str(self.folder / "loops.so")
        subprocess.run([GCC, "-g", "-O1", "-fopenmp", "-shared", "-fPIC", source, "-o", library], check=True)

    def cells(self, *cells: str, before: str = "", weft: bool = False, **more: str) -> list[dict]:
        """What each cell has shown."""
        code = SHELL + "".join(f"    {line}\n" for line in before.splitlines())
        code += "".join(f"    run({cell!r})\n" for cell in cells)
        lines = self.succeed(code, *(("--notebook",) if weft else ()), weft=weft, **more).splitlines()
        return [json.loads(line) for line in lines if line.startswith("{")]

    def json(self, name: str) -> dict:
        return json.loads((self.folder / name).read_text())


class Cells(NotebookTest):
    def test_each_has_its_own_report(self) -> None:
        self.loops()
        for weft in (False, True):
            with self.subTest(weft=weft):
                first = "import ctypes\nloops = ctypes.CDLL('./loops.so')\nloops.uneven(100)\nprint('done')\n6 * 7"
                done = self.cells(
                    "%load_ext weft",
                    f"%%weft --json 1.json\n{first}",
                    "loops.even(9)",
                    "%%weft --json 2.json -o 'page 2.html'\nloops.even(5)",
                    "%weft --json 3.json loops.uneven(2), _2",
                    weft=weft,
                )
                self.assertEqual([cell["error"] for cell in done], ["NoneType"] * 5, done)
                self.assertEqual("".join(cell["stderr"] for cell in done), "")
                self.assertRegex(done[1]["stdout"], r"^done\nOut\[2\]: 42\n$")
                self.assertRegex(done[4]["stdout"], r"^Out\[5\]: \(-?\d+, 42\)\n$")
                first, second, third = (self.json(f"{number}.json") for number in (1, 2, 3))
                self.assertEqual(counts(first, "region"), {"uneven": 1})
                self.assertEqual(counts(second, "region"), {"even": 5})
                self.assertEqual(counts(third, "region"), {"uneven": 1})
                self.assertEqual(first["run"]["command"], ["cell", "2"])
                # The first half of the loop does nothing. How much of it is lost depends on what else runs.
                uneven = next(site for site in first["sites"] if site["kind"] == "region")
                if CPUS > 1:
                    self.assertGreater(sum(uneven["lost"].values()), 0)
                self.assertIn("before the first region", [site["name"] for site in second["sites"]])
                self.assertLess(second["run"]["seconds"], 5)
                # Threads have the CPU time that they used in the cell.
                self.assertLess(sum(thread["cpu"] for thread in third["threads"]), 0.5)
                shown = done[3]["shown"][0]
                self.assertRegex(shown["text/plain"], r"^weft report: cell 4\n.* on weft, .*\d+ CPUs")
                page = page_of(shown["text/html"])
                self.assertEqual(page, (self.folder / "page 2.html").read_text())
                self.assertLess(len(shown["text/html"]), 250_000)
                below = shown["text/html"].rpartition("</iframe>")[2]
                self.assertIn(html.escape(shown["text/plain"]), below)

    def test_of_numpy(self) -> None:
        done = self.cells(
            "%load_ext weft",
            "import numpy\na = numpy.random.rand(700, 700)",
            "%%weft --json 1.json --quiet\nfor i in range(4): b = a @ a",
            weft=True,
        )
        self.assertEqual(done[2]["shown"], [])
        calls = [site for site in self.json("1.json")["sites"] if site["kind"] == "call"]
        if CPUS > 1:
            self.assertIn("openblas", calls[0]["name"])
            self.assertEqual(sum(site["count"] for site in calls), 4)

    def test_that_fail(self) -> None:
        done = self.cells(
            "%load_ext weft",
            "%%weft\nprint('begun')\n1 / 0",
            "%%weft\nx =",
            "%%weft\nimport os, signal, time\nos.kill(os.getpid(), signal.SIGINT)\ntime.sleep(9)",
            "%%weft\nimport sys\nsys.exit(3)",
            "%%weft\n%weft 1",
            "%%weft\n1",
        )
        errors = ["NoneType", "ZeroDivisionError", "SyntaxError", "KeyboardInterrupt", "SystemExit", "UsageError"]
        self.assertEqual([cell["error"] for cell in done], [*errors, "NoneType"])
        self.assertEqual([len(cell["shown"]) for cell in done], [0, 1, 0, 1, 1, 1, 1])
        self.assertRegex(done[1]["stdout"], r"(?s)^begun\n.*ZeroDivisionError")
        self.assertEqual(done[1]["stdout"].count("Traceback"), 1)
        self.assertIn("none inside of another", done[5]["stderr"])

    def test_options(self) -> None:
        wrong = (
            ("%%weft --qiet\n1", "--qiet not recognized"),
            ("%%weft --quiet\n1", "add -o PAGE"),
            ("%%weft -o\n1", "requires argument"),
            ("%%weft -o 'a\n1", "No closing quotation"),
            ("%%weft -o a.html --json a.html\n1", "each needs its own"),
            ("%%weft -o none/a.html\n1", "there is no folder none; make it"),
            ("%%weft -o --json a.json\n1", "not --json"),
            ("%%weft -o a.html --output b.html\n1", "given twice"),
            ("%%weft --json ''\n1", "this one is empty"),
            ("%%weft --json /\n1", "is a folder"),
            ("%%weft 1 + 1\n1", "the code begins in the next line"),
            ("%weft -o a.html", "a statement is wanted"),
        )
        as_it_stands = "x = 3", "%weft -o p.html -- -x", "%weft print('a  b', \"it's\")"
        _, *done = self.cells("%load_ext weft", *(line for line, _ in wrong), *as_it_stands)
        self.assertRegex(done[-2]["stdout"], r"^Out\[\d+\]: -3\n$")
        self.assertEqual(done[-1]["stdout"], "a  b it's\n")
        for (line, words), cell in zip(wrong, done):
            with self.subTest(line=line):
                self.assertEqual((cell["error"], cell["stdout"]), ("UsageError", ""))
                self.assertIn(words, cell["stderr"])

    def test_without_weft(self) -> None:
        done = self.cells("%load_ext weft", "%%weft\nprint(6 * 7)", "%%weft\n1 / 0", before="import sklearn.cluster")
        self.assertIn("libgomp", done[0]["stderr"])
        self.assertEqual(done[1]["stdout"], "42\n")
        self.assertRegex(done[1]["stderr"], r"^weft: no report: .*libgomp.*--install-kernel.*%load_ext weft.*\n$")
        self.assertEqual([cell["error"] for cell in done], ["NoneType", "NoneType", "ZeroDivisionError"])
        self.assertEqual([cell["shown"] for cell in done], [[], [], []])

    def test_too_late_for_the_recorder(self) -> None:
        before = "import weft\nweft.enable()\nfrom weft import _runtime\n_runtime.load().omp_get_max_threads()"
        done = self.cells("%load_ext weft", "%%weft\nprint(6 * 7)", before=before)
        self.assertIn("before the recorder came", done[1]["stderr"])
        self.assertEqual(done[1]["stdout"], "42\n")

    def test_children(self) -> None:
        pool = (
            "import multiprocessing, subprocess, sys\n"
            "with multiprocessing.get_context('fork').Pool(2) as pool: print(pool.map(abs, [-1, -2]))\n"
            "print(subprocess.run([sys.executable, '-c', 'import sklearn.cluster'], capture_output=True))"
        )
        done = self.cells("%load_ext weft", f"%%weft\n{pool}", weft=True)
        self.assertIn("[1, 2]\n", done[1]["stdout"])
        self.assertIn("returncode=0, stdout=b'', stderr=b''", done[1]["stdout"])
        self.assertEqual(len(done[1]["shown"]), 1)


class Blocks(NotebookTest):
    def test_of_a_program(self) -> None:
        self.loops()
        code = """
            import ctypes, os, threading, weft
            loops = ctypes.CDLL("./loops.so")
            with weft.report("page.html", json="1.json", quiet=True) as first:
                loops.even(3)
            with weft.report() as second:
                loops.uneven(4)
                child = os.fork()
            if child == 0:
                os._exit(0 if second.result is None else 1)
            print(os.waitpid(child, 0)[1], second.result.data["run"]["command"], first.result.page[:9].lower())
            stop = False
            def others():
                while not stop:
                    loops.even(1)
            thread = threading.Thread(target=others)
            thread.start()
            for i in range(5):
                with weft.report(quiet=True):
                    loops.even(2)
                    try:
                        with weft.report(): pass
                    except RuntimeError as error:
                        print(error)
            stop = True
            thread.join()
            try:
                with weft.report(): raise KeyError
            except KeyError:
                print("raised")
            weft.report().__enter__()
        """
        said = self.succeed(code, "--notebook").splitlines()
        self.assertEqual(said, ["0 ['app.py'] <!doctype", *["a recording runs already"] * 5, "raised"])
        self.assertEqual(counts(self.json("1.json"), "region"), {"even": 3})
        self.assertEqual(self.errors.count("weft report: app.py\n"), 1)
        self.assertNotIn("/tmp", self.errors)
        self.assertEqual(sorted(os.listdir(self.folder)), ["1.json", "app.py", "loops.c", "loops.so", "page.html"])

    def test_too_late(self) -> None:
        code = """
            import sklearn.cluster, weft
            try:
                weft.report()
            except weft.NoRecorderError as error:
                print(error)
        """
        self.assertRegex(self.succeed(code, weft=False), "libgomp.*python -m weft --notebook")

    def test_not_beside_a_report_of_the_whole(self) -> None:
        code = """
            import weft
            from weft import _runtime
            _runtime.load().omp_get_max_threads()
            try:
                with weft.report(): pass
            except RuntimeError as error:
                print(error)
        """
        self.assertIn("records the whole", self.succeed(code, "--report", "page.html"))
        done = self.weft("--notebook", "--report", "page.html", "-c", "1")
        self.assertEqual(done.returncode, 2)
        self.assertIn("leave out one of them", done.stderr)

    def test_the_command_wants_a_profile(self) -> None:
        (self.folder / "empty").mkdir()
        (self.folder / "damaged").mkdir()
        self.write("damaged/1.json", '{"format": "weft profile 1"}')
        for words, code, said in (
            (["none"], 2, "none: is no folder"),
            (["empty"], 1, "empty: there is no profile in it"),
            (["damaged"], 1, "process 1: the profile is damaged"),
            (["empty", "/bin/true"], 2, "leave out the program"),
        ):
            done = self.run_program(_files.command(), "report", "--profile", *words)
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertIn(said, done.stderr)


class Kernel(NotebookTest):
    def test_the_kernel_has_the_options(self) -> None:
        with unittest.mock.patch.object(sys, "prefix", str(self.folder)):
            said = _kernel.install(["--mode", "counting"])
        description = json.loads((self.folder / "share/jupyter/kernels/weft/kernel.json").read_text())
        self.assertEqual(description["argv"][:6], [sys.executable, "-m", "weft", "--mode", "counting", "--notebook"])
        self.assertIn(str(self.folder), said)
        done = self.weft("--install-kernel", "app.py")
        self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1))
        self.assertIn("runs no program", done.stderr)

    def test_a_notebook(self) -> None:
        place = pathlib.Path(sys.prefix) / "share/jupyter/kernels/weft"
        if not place.exists():
            self.addCleanup(shutil.rmtree, place, ignore_errors=True)
        done = self.weft("--install-kernel")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(done.stdout, f'weft: the kernel "Python 3 (weft)" is in {place}\n')
        failed: list[int] = []
        notebook = nbformat.v4.new_notebook()
        for code in (
            "import numpy, sklearn.cluster\na = numpy.random.rand(600, 600)",
            "%load_ext weft",
            "%%weft\nprint('hello')\n(a @ a).shape",
            "%%weft\n1 / 0",
            "%%weft\nimport asyncio\nawait asyncio.sleep(0)",
            "print('goes on')",
        ):
            notebook.cells.append(nbformat.v4.new_code_cell(code))
        client = nbclient.NotebookClient(
            notebook,
            timeout=60,
            kernel_name="weft",
            allow_errors=True,
            resources={"metadata": {"path": str(self.folder)}},
            on_cell_error=lambda cell, cell_index, execute_reply: failed.append(cell_index),
        )
        client.execute()
        kinds = [[output.output_type for output in cell.outputs] for cell in notebook.cells]
        self.assertEqual(kinds[2], ["stream", "execute_result", "display_data"])
        self.assertEqual(kinds[3], ["error", "display_data"])
        self.assertEqual(kinds[5], ["stream"])
        shown = notebook.cells[2].outputs[2].data
        self.assertIn("weft report: cell 3", shown["text/plain"])
        self.assertIn("<title>", page_of(shown["text/html"]))
        self.assertIn("cell awaits", notebook.cells[4].outputs[0].text)
        self.assertEqual(failed, [3, 4])  # so that `Run all` stops there


if __name__ == "__main__":
    unittest.main()
