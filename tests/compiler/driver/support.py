# SPDX-License-Identifier: Apache-2.0
"""What the tests of weftcc have in common: a driver of their own, and a compiler that only says how it was called."""

import json
import os
import pathlib
import shutil
import tempfile
import unittest

from finished import finished

DRIVER = pathlib.Path(os.environ["WEFT_DRIVER"]).resolve()
LIBRARIES = DRIVER.parents[1] / "lib/weft"
GCC = os.environ.get("WEFT_TEST_GCC", "gcc")
CLANG = os.environ.get("WEFT_TEST_CLANG", "clang-19")
TIMEOUT_S = 120

# Prints a line of JSON with its words and the driver's variables; FAKE_* say what else it does.
FAKE = r"""#!/usr/bin/env python3
import json, os, signal, sys
names = ("WEFTCC_LOWER", "WEFTCC_REPORT", "WEFTCC_KEEP")
if "FAKE_LINES" in os.environ and "WEFTCC_REPORT" in os.environ:
    open(os.environ["WEFTCC_REPORT"], "a").write(os.environ["FAKE_LINES"])
objects = {word: open(word, "rb").read().hex() for word in sys.argv if "weftcc-" in word and word.endswith(".o")}
print(json.dumps({"words": sys.argv[1:], "objects": objects,
                  "environment": {n: os.environ[n] for n in names if n in os.environ}}))
sys.stdout.flush()
if "FAKE_INPUT" in os.environ:
    sys.stdout.write(sys.stdin.read())
sys.stderr.write(os.environ.get("FAKE_ERROR", ""))
if "FAKE_SIGNAL" in os.environ:
    os.kill(os.getpid(), int(os.environ["FAKE_SIGNAL"]))
sys.exit(int(os.environ.get("FAKE_EXIT", "0")))
"""


def clean_environment(**more):
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("LD_", "OMP_", "WEFT", "CC", "CXX", "FC"))}
    return kept | more


class DriverTest(unittest.TestCase):
    """`self.work` has a few sources; `self.libraries` has weft's libraries and a file for the pass."""

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory(prefix="weftcc-test-"))).resolve()
        cls.libraries = cls.folder / "prefix/lib/weft"
        cls.libraries.mkdir(parents=True)
        for file in LIBRARIES.glob("lib*"):
            (cls.libraries / file.name).symlink_to(file)
        (cls.libraries / "libweft-pass.so").touch()
        cls.bin = cls.folder / "prefix/bin"
        cls.bin.mkdir()
        shutil.copy2(DRIVER, cls.bin / "weftcc")
        for name in ("weftc++", "weftfort"):
            (cls.bin / name).symlink_to("weftcc")
        cls.compilers = cls.folder / "compilers"
        cls.compilers.mkdir()
        for name in ("clang-19", "clang++-19", "flang-new-19", "clang-18", "gcc-12", "gfortran", "strange"):
            script = cls.compilers / name
            script.write_text(FAKE)
            script.chmod(0o755)
        cls.work = cls.folder / "work"
        (cls.work / "dir.x").mkdir(parents=True)
        for name in ("work/a.c", "work/b.c", "work/a b.c", "work/dir.x/a.c", "work/a.cpp", "work/a.f90", "a.b.c"):
            (cls.folder / name).touch()

    def tearDown(self):
        (self.bin / "weftcc.cfg").unlink(missing_ok=True)

    def drive(self, *words, name="weftcc", path=None, **environment):
        """The driver with the compilers that only say how they are called."""
        path = path if path is not None else f"{self.compilers}:{os.environ['PATH']}"
        return finished(
            [str(self.bin / name), *words],
            env=clean_environment(PATH=path, **environment),
            cwd=self.work,
            timeout=TIMEOUT_S,
        )

    def called(self, *words, **options):
        """What the compiler has been called with."""
        done = self.drive(*words, **options)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return json.loads(done.stdout)

    def words(self, *words, **options):
        return self.called(*words, **options)["words"]

    def refused(self, *words, says, code=2, **options):
        done = self.drive(*words, **options)
        self.assertEqual((done.returncode, done.stdout), (code, ""), done.stderr)
        self.one_line(done.stderr, says)

    def one_line(self, text, says):
        self.assertEqual(text.count("\n"), 1, text)
        self.assertTrue(text.startswith("weft: "), text)
        for part in [says] if isinstance(says, str) else says:
            self.assertIn(str(part), text)
