# SPDX-License-Identifier: Apache-2.0
"""The runner on small suites of our own: every verdict there is, the exit status, lit's and DejaGnu's directives.

Environment: WEFT_TEST_RUNTIME, the folder of weft's libraries.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import textwrap
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import runtimes  # noqa: E402
from suites import gcc_libgomp, llvm_libomp, tcl  # noqa: E402

RUNNER = pathlib.Path(__file__).with_name("conformance.py")
RUNTIME = os.environ["WEFT_TEST_RUNTIME"]
BODY = "#define _GNU_SOURCE\n#include <dlfcn.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include <unistd.h>\n"
# Every weft has this function, and libgomp has not.
ON_WEFT = (
    '#include <omp.h>\n#define ON_WEFT (omp_get_level() == 0 && dlsym(RTLD_DEFAULT, "kmp_get_blocktime") != NULL)\n'
)

LIBGOMP = {
    "passes.c": "int main(void) { return 0; }",
    "fails.c": "int main(void) { return 3; }",
    "only-weft-fails.c": ON_WEFT + "int main(void) { return ON_WEFT; }",
    "only-libgomp-fails.c": ON_WEFT + "int main(void) { return !ON_WEFT; }",
    "hangs.c": "int main(void) { sleep(60); return 0; }",
    "dies.c": "int main(void) { abort(); }",
    "does-not-build.c": "int main(void) { return undeclared; }",
    "should-fail.c": '/* { dg-shouldfail "why not" } */ int main(void) { return 1; }',
    "says.c": '/* { dg-output "the (answer|reply) is 4\\[0-9\\]\\n" } */ int main(void) { puts("the answer is 42"); return 0; }',
    "says-else.c": '/* { dg-output "the answer" } */ int main(void) { puts("a question"); return 0; }',
    "set.c": '/* { dg-set-target-env-var OMP_NUM_THREADS "7" } */\n'
    '/* { dg-additional-options "-DSET=1" { target c } } */\n'
    'int main(void) { return SET != 1 || atoi(getenv("OMP_NUM_THREADS")) != 7; }',
    "compile.c": "/* { dg-do compile } */ int main(void) { return 0; }",
    "offload.c": "/* { dg-require-effective-target offload_device } */ int main(void) { return 0; }",
}
LIBGOMP_VERDICTS = {  # under libgomp, under weft
    "passes.c": ("passed", "passed"),
    "fails.c": ("failed", "failed"),
    "only-weft-fails.c": ("passed", "failed"),
    "only-libgomp-fails.c": ("failed", "passed"),
    "hangs.c": ("timed out", "timed out"),
    "dies.c": ("failed", "failed"),
    "does-not-build.c": ("not built", "not built"),
    "should-fail.c": ("passed", "passed"),
    "says.c": ("passed", "passed"),
    "says-else.c": ("failed", "failed"),
    "set.c": ("passed", "passed"),
    "compile.c": ("unsupported", "unsupported"),
    "offload.c": ("unsupported", "unsupported"),
}
LIBOMP = {
    "pipe.c": '// RUN: %libomp-compile -DWORD=\\"here\\" && env X=1 %libomp-run \\\n// RUN:   | %sort-threads | FileCheck %s\n'
    "// CHECK: here\nint main(void) { puts(WORD); return 0; }",
    "checks.c": "// RUN: %libomp-compile-and-run | FileCheck %s\n// CHECK: here\nint main(void) { return 0; }",
    "pipefail.c": "// RUN: %libomp-compile-and-run | cat\nint main(void) { return 1; }",
    "not-built.c": "// RUN: %libomp-compile-and-run | cat\nint main(void) { return undeclared; }",
    "excluded.c": "// RUN: %libomp-compile-and-run\n// UNSUPPORTED: clang-3, clang\nint main(void) { return 0; }",
    "requires.c": "// RUN: %libomp-compile-and-run\n// REQUIRES: hwloc\nint main(void) { return 0; }",
    "expected.c": "// RUN: %libomp-compile-and-run\n// XFAIL: clang\nint main(void) { return 1; }",
}
LIBOMP_VERDICTS = {
    "pipe.c": "passed",
    "checks.c": "failed",
    "pipefail.c": "failed",
    "not-built.c": "not built",
    "excluded.c": "unsupported",
    "requires.c": "unsupported",
    "expected.c": "failed",
}
# clang's programs ask for a runtime by another name than weftcc's.
ONLY_CLANG_PASSES = """int main(void) {
    static char text[1 << 16];
    FILE *file = fopen("/proc/self/exe", "r");
    size_t size = fread(text, 1, sizeof text, file);
    volatile char name[] = "?ibomp.so.5";  // not to find itself
    name[0] = 'l';
    return memmem(text, size, (char *)name, 11) == NULL; }"""
LOOPS = """int main(void) {
    int a[9];
#pragma omp parallel for
    for (int i = 0; i < 9; ++i) a[i] = i;
#pragma omp parallel for
    for (int i = 0; i < 9 + 0 * rand(); ++i) a[i] = i;
    return a[8] != 8; }"""


class Runner(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.cache = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="weft-conformance-")))

    def write(self, suite, sources):
        folder = self.cache / "suites" / suite
        folder.mkdir(parents=True)
        for name, text in sources.items():
            (folder / name).write_text(BODY + text + "\n")

    def run_suite(self, suite, compiler, runtimes, *more):
        done = subprocess.run(
            [
                sys.executable,
                RUNNER,
                "--suite",
                suite,
                "--compiler",
                compiler,
                "--runtimes",
                runtimes,
                "--weft",
                RUNTIME,
                "--cache",
                self.cache,
                "--timeout",
                "3",
                *more,
            ],
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
        results = (
            json.loads((self.cache / "results.json").read_text()) if (self.cache / "results.json").exists() else None
        )
        return done, results

    def test_libgomp(self):
        self.write("libgomp/libgomp.c", LIBGOMP)
        done, results = self.run_suite("libgomp", "gcc", "libgomp,weft")
        self.assertEqual(done.stderr, "")
        found = {}
        for row in results["results"]:
            found.setdefault(pathlib.Path(row["test"]).name, {})[row["runtime"]] = row["status"]
        self.assertEqual({name: (row["libgomp"], row["weft"]) for name, row in found.items()}, LIBGOMP_VERDICTS)
        self.assertEqual(results["unexplained"], ["libgomp/gcc/libgomp.c/only-weft-fails.c"])
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("only libgomp fails: libgomp/gcc/libgomp.c/only-libgomp-fails.c", done.stdout)

    @unittest.skipUnless(shutil.which(llvm_libomp.FILECHECK), "scripts/setup-conformance installs it")
    def test_libomp(self):
        self.write("libomp/test", LIBOMP)
        done, results = self.run_suite("libomp", "clang", "weft")
        self.assertEqual(done.stderr, "")
        self.assertEqual({row["test"]: row["status"] for row in results["results"]}, LIBOMP_VERDICTS)
        self.assertTrue(next(row for row in results["results"] if row["test"] == "expected.c")["expected_to_fail"])
        self.assertEqual(done.returncode, 0, done.stdout)  # nothing to compare with

    @unittest.skipUnless(runtimes.has_weftcc(pathlib.Path(RUNTIME)), "weftcc is not built")
    def test_weftcc(self):
        self.write(
            "libgomp/libgomp.c",
            {
                "passes.c": LIBGOMP["passes.c"],
                "fails.c": LIBGOMP["fails.c"],
                "loops.c": LOOPS,
                "only-clang.c": ONLY_CLANG_PASSES,
                "does-not-build.c": LIBGOMP["does-not-build.c"],
            },
        )
        done, results = self.run_suite("libgomp", "weftcc", "weft")
        self.assertEqual(done.stderr, "")
        self.assertEqual({row["compiler"] for row in results["results"]}, {"clang", "weftcc"})
        self.assertEqual(results["unexplained"], ["libgomp/weftcc/libgomp.c/only-clang.c"])
        self.assertEqual(done.returncode, 1)
        ways = {way: results["lowered"][way] for way in ("loops", "range", "hint", "none")}
        self.assertEqual(ways, {"loops": 2, "range": 1, "hint": 0, "none": 1})
        self.assertEqual(len(results["lowered"]["reasons"]), 1)
        self.assertIn("2 combined loops; 1 run in ranges", done.stdout)

    def test_ompvv(self):
        self.write("ompvv/tests/5.0/parallel", {"passes.c": '#include "ompvv.h"\nint main(void) { return CONTENT; }'})
        self.write("ompvv/ompvv", {"ompvv.h": "#define CONTENT 0"})
        _, results = self.run_suite("ompvv", "gcc", "libgomp,weft")
        self.assertEqual(
            [(row["test"], row["status"]) for row in results["results"]], [("5.0/parallel/passes.c", "passed")] * 2
        )

    def test_repeat(self):
        count = self.cache / "count"
        # Every third run fails.
        self.write(
            "libgomp/libgomp.c",
            {
                "now-and-then.c": f"""int main(void) {{
            FILE *file = fopen("{count}", "a+");
            fputc('x', file);
            return ftell(file) % 3 == 0; }}"""
            },
        )
        done, results = self.run_suite("libgomp", "gcc", "libgomp", "--repeat", "7", "--load")
        row = results["results"][0]
        self.assertEqual((row["status"], row["runs"], row["failures"]), ("failed", 7, 2), done.stdout)

    def test_bad_requests(self):
        self.write("libgomp/libgomp.c", {"passes.c": LIBGOMP["passes.c"]})
        done, _ = self.run_suite("libgomp", "gcc", "weft", "--only", "nothing-like-that")
        self.assertEqual(done.returncode, 2)
        done, _ = self.run_suite("libomp", "clang", "weft")
        self.assertEqual(done.returncode, 2)
        self.assertIn("scripts/setup-conformance libomp", done.stderr)
        empty = self.cache / "no-weft"
        empty.mkdir()
        done, _ = self.run_suite("libgomp", "gcc", "weft", "--weft", str(empty))
        self.assertEqual(done.returncode, 2)
        self.assertIn("in place of", done.stderr)


class Directives(unittest.TestCase):
    def test_words(self):
        self.assertEqual(tcl.words(r'run { target { a && b } } "x\[y" z'), ["run", " target { a && b } ", "x[y", "z"])

    def test_selectors(self):
        targets = {"a": True, "b": False, "c": True}
        for text, expected in (
            ("a", True),
            ("b", False),
            ("! b", True),
            ("a && b", False),
            ("a || b", True),
            ("b a", True),
            ("{ a || b } && c", True),
            ("! { a && b }", True),
            ("{ ! a } || b", False),
        ):
            with self.subTest(text=text):
                self.assertEqual(tcl.selected(text, targets.__getitem__), expected)

    def test_machines(self):
        machine = os.uname().machine
        self.assertTrue(gcc_libgomp.is_target(f"{machine}-*-*", "c"))
        self.assertFalse(gcc_libgomp.is_target("sparc*-*-*", "c"))

    def test_continued_lines(self):
        lines, conditions = llvm_libomp.read(
            textwrap.dedent("""\
            // RUN: one && \\
            // RUN:   two
            /* RUN: three */
            // XFAIL: gcc, icc
            """)
        )
        self.assertEqual(lines, ["one && two", "three"])
        self.assertEqual(conditions["XFAIL"], ["gcc", "icc"])


if __name__ == "__main__":
    unittest.main()
