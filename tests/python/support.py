# SPDX-License-Identifier: Apache-2.0
"""Programs for the tests of weft's Python package, run by this interpreter."""

from __future__ import annotations

import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile
import textwrap
import unittest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    _Case = TypeVar("_Case")

TIMEOUT_S = 600
PATH = f"{os.path.dirname(sys.executable)}:{os.environ['PATH']}"  # packages' commands are beside the interpreter

# Where pip puts the wheel's libraries.
TBB = f"{sys.prefix}/lib/libtbb.so.12"
needs_tbb = unittest.skipUnless(os.path.exists(TBB), f"no {TBB}")


def needs(*packages: str) -> Callable[[_Case], _Case]:
    """For tests of packages that scripts/setup-python-full may not have got."""
    missing = [package for package in packages if importlib.util.find_spec(package) is None]
    return unittest.skipIf(missing, f"not installed: {', '.join(missing)}")


def environment(**more: str) -> dict[str, str]:
    """This process's without settings of OpenMP and weft."""
    skipped = ("OMP_", "WEFT_", "LD_", "OPENBLAS_", "MKL_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(skipped)}
    kept.update({"PYTHONDONTWRITEBYTECODE": "1"}, **more)
    return kept


class ProgramTest(unittest.TestCase):
    """Each test has a folder for its programs."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="weft-python-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, name: str, code: str) -> str:
        path = self.folder / name
        path.write_text(textwrap.dedent(code))
        return str(path)

    def run_program(self, *command: str, input: str | None = None, **more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command,
            env=environment(**more),
            cwd=self.folder,
            input=input,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
        )

    def run_python(self, *arguments: str, input: str | None = None, **more: str) -> subprocess.CompletedProcess[str]:
        return self.run_program(sys.executable, *arguments, input=input, **more)

    def weft(self, *arguments: str, input: str | None = None, **more: str) -> subprocess.CompletedProcess[str]:
        return self.run_python("-m", "weft", *arguments, input=input, **more)

    def serve(self, *command: str, **more: str) -> subprocess.Popen[bytes]:
        """Starts a server, which is ended with the test. What it says goes into the file `log`, as of others."""
        with open(self.folder / "log", "ab") as log:
            server = subprocess.Popen(command, env=environment(**more), cwd=self.folder, stdout=log, stderr=log)
        self.addCleanup(server.wait)
        self.addCleanup(server.terminate)
        return server

    def succeed(self, code: str, *options: str, weft: bool = True, **more: str) -> str:
        """Runs it as a file (so that spawn can import it), with weft's options; its output."""
        path = self.write("app.py", code)
        done = self.weft(*options, path, **more) if weft else self.run_python(path, **more)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.errors = done.stderr
        return done.stdout
