# SPDX-License-Identifier: Apache-2.0
"""What WEFT_ENGINE says that cannot be followed costs one line, and the loops run on weft."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
DRIVER = pathlib.Path(os.environ["WEFT_DRIVER_DIR"]) / "weftcc"
LIBRARIES = pathlib.Path(os.environ["WEFT_LIBRARIES"])
GCC = os.environ["WEFT_TEST_GCC"]

WRONG_VERSION = """
#include "weft/engine.h"
static const struct weft_engine engine = {.version = WEFT_ENGINE_VERSION + 1};
const struct weft_engine *weft_engine_entry(void) { return &engine; }
"""
NOT_STARTED = """
#include "weft/engine.h"
static const char *start(int32_t cpus) { (void)cpus; return "no luck today"; }
static const struct weft_engine engine = {.version = WEFT_ENGINE_VERSION, .start = start};
const struct weft_engine *weft_engine_entry(void) { return &engine; }
"""
UNRESOLVED = "extern int nowhere(void); int weft_engine_entry(void) { return nowhere(); }"


class BadInput(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        # The runtime looks for engines beside itself.
        shutil.copy(LIBRARIES / "libgomp.so.1", cls.folder / "libgomp.so.1")
        for name, text in (
            ("later", WRONG_VERSION),
            ("ill", NOT_STARTED),
            ("foreign", "int nothing;"),
            ("unresolved", UNRESOLVED),
            ("older", WRONG_VERSION),
        ):
            source = cls.folder / f"{name}.c"
            source.write_text(text)
            # As the files of engines were called once.
            library = cls.folder / (f"libweft_engine_{name}.so" if name == "older" else f"libweft-engine-{name}.so")
            subprocess.run(
                [GCC, "-shared", "-fPIC", "-Wl,-z,lazy", f"-I{ROOT}/include", source, "-o", library], check=True
            )
        cls.program = cls.folder / "loops"
        subprocess.run([DRIVER, "-O2", "-fopenmp", HERE.parent / "loops.c", "-o", cls.program], check=True)

    def run_with(self, **variables):
        environment = {**os.environ, "LD_LIBRARY_PATH": str(self.folder), "OMP_NUM_THREADS": "2", **variables}
        return subprocess.run(
            [self.program, "1000"], env=environment, capture_output=True, text=True, timeout=60, check=False
        )

    def check(self, name, *words):
        expected = self.run_with()
        self.assertEqual((expected.returncode, expected.stderr), (0, ""))
        result = self.run_with(WEFT_ENGINE=name)
        self.assertEqual((result.returncode, result.stdout), (0, expected.stdout))
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
        self.assertTrue(result.stderr.startswith(f"weft: WEFT_ENGINE={name[:60]}: "), result.stderr)
        self.assertTrue(result.stderr.endswith("; loops run on weft\n"), result.stderr)
        for word in words:
            self.assertIn(word, result.stderr)

    def test_unknown_names(self):
        there = ("no such engine", str(self.folder), "weft", "later", "ill", "foreign")
        for name in ("tbbb", "../tbb", "/lib/libc.so.6", "x" * 300, "x" * 5000, "%s%n"):
            self.check(name, *there)

    def test_not_an_engine(self):
        self.check("foreign", "weft_engine_entry")

    def test_another_version(self):
        self.check("later", "version 2")
        self.check("older", "libweft_engine_older.so", "version 2")

    def test_cannot_be_loaded(self):
        self.check("unresolved", "nowhere")

    def test_does_not_start(self):
        self.check("ill", "no luck today")

    def test_weft_itself(self):
        for name in ("weft", ""):
            result = self.run_with(WEFT_ENGINE=name)
            self.assertEqual((result.returncode, result.stderr), (0, ""))


if __name__ == "__main__":
    unittest.main()
