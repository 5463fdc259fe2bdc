# SPDX-License-Identifier: Apache-2.0
"""What a build says where none of its libraries can be found: one error names each with Debian's package and the way to
name another place. The pages and scripts/setup have the same packages."""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
CMAKE = os.environ.get("WEFT_TEST_CMAKE", "cmake")
SETUP = (ROOT / "scripts/setup").read_text()


class Libraries(unittest.TestCase):
    def lacking(self, *options: str) -> str:
        with tempfile.TemporaryDirectory(prefix="weft-libraries-") as folder:
            command = [
                *(CMAKE, "-S", str(ROOT), "-B", folder, "-G", "Ninja"),
                *("-DCMAKE_FIND_USE_CMAKE_SYSTEM_PATH=OFF", "-DCMAKE_FIND_USE_SYSTEM_ENVIRONMENT_PATH=OFF"),
                *(f"-DCMAKE_CXX_COMPILER={shutil.which('c++')}", f"-DCMAKE_MAKE_PROGRAM={shutil.which('ninja')}"),
                *options,
            ]
            done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        self.assertNotEqual(done.returncode, 0, done.stdout)
        self.assertEqual(done.stderr.count("CMake Error"), 1, done.stderr)
        return done.stderr

    def packages(self, said: str) -> "set[str]":
        for package, way in re.findall(r"Debian: (\S+); elsewhere: (.*)", said):
            self.assertRegex(way, r"^-D\w+=[A-Z]", package)
        return set(re.findall(r"Debian: (\S+);", said))

    def group(self, name: str) -> "set[str]":
        lines = re.search(rf"^{name}=\(\n(.*?)^\)", SETUP, re.MULTILINE | re.DOTALL)[1].splitlines()
        return {word for line in lines if not line.strip().startswith("#") for word in line.split()}

    def test_all_are_named_at_once(self) -> None:
        found = self.packages(self.lacking("-DWEFT_TESTS=ON"))
        for package in (
            "libboost-context-dev",
            "libcli11-dev",
            "libxxhash-dev",
            "libjs-chart.js",
            "libdw-dev",
            "libgtest-dev",
        ):
            self.assertIn(package, found)
        self.assertEqual(found - self.group("runtime") - self.group("others"), set())

    def test_an_installation_needs_no_others(self) -> None:
        found = self.packages(self.lacking("-DWEFT_TESTS=OFF"))
        self.assertIn("libdw-dev", found)
        self.assertEqual(found - self.group("runtime"), set())

    def test_pip(self) -> None:
        """The page on Python has exactly what pip's build asks for."""
        found = self.packages(self.lacking("-DWEFT_TESTS=OFF", "-DWEFT_PORTABLE=ON")) - {"python3"}
        page = (ROOT / "docs/how-to/python.md").read_text()
        named = re.search(r"by their Debian names, `([^`]*)`", page)[1].split()
        self.assertEqual(set(named), found)


if __name__ == "__main__":
    unittest.main()
