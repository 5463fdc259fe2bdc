# SPDX-License-Identifier: Apache-2.0
"""scripts/check-layers: this tree has no violation, and each kind of violation is found."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TABLE = """
| `base` | low | |
| `core` | middle | `base` |
| `openmp` | high | `core/core.h` |
| `openmp/gomp` | adapter | `openmp` |
| `openmp/kmp` | adapter | `openmp` |
"""


def run(source: pathlib.Path) -> subprocess.CompletedProcess:
    command = [sys.executable, ROOT / "scripts" / "check-layers", source]
    return subprocess.run(command, capture_output=True, text=True, check=False)


class CheckLayersTest(unittest.TestCase):
    def check(self, name: str, includes: str) -> subprocess.CompletedProcess:
        """What is said of a tree in which src/`name` includes `includes`."""
        with tempfile.TemporaryDirectory() as folder:
            src = pathlib.Path(folder) / "src"
            headers = ("base/a.h", "core/core.h", "core/inner.h", "openmp/b.h", "openmp/gomp/c.h", "openmp/kmp/d.h")
            for header in headers:
                (src / header).parent.mkdir(parents=True, exist_ok=True)
                (src / header).write_text("#pragma once\n")
            (src / "README.md").write_text(TABLE)
            (src / name).parent.mkdir(parents=True, exist_ok=True)
            (src / name).write_text(f'#include "{includes}"\n')
            return run(pathlib.Path(folder))

    def assert_refused(self, name: str, includes: str) -> None:
        result = self.check(name, includes)
        self.assertEqual(result.returncode, 1, result.stdout)
        self.assertIn(f"src/{name}:1: ", result.stdout)
        self.assertIn(includes, result.stdout)

    def test_this_tree_keeps_to_its_table(self) -> None:
        result = run(ROOT)
        self.assertEqual((result.returncode, result.stdout), (0, ""))

    def test_includes_downward_are_allowed(self) -> None:
        for name, includes in (
            ("core/x.cpp", "base/a.h"),
            ("openmp/x.cpp", "core/core.h"),
            ("openmp/gomp/x.cpp", "openmp/b.h"),
            ("core/x.cpp", "core/inner.h"),
        ):
            result = self.check(name, includes)
            self.assertEqual(result.returncode, 0, result.stdout)

    def test_an_upward_include_is_refused(self) -> None:
        self.assert_refused("base/x.cpp", "core/core.h")
        self.assert_refused("core/x.cpp", "openmp/b.h")
        self.assert_refused("openmp/x.cpp", "openmp/gomp/c.h")

    def test_a_bypassed_facade_is_refused(self) -> None:
        self.assert_refused("openmp/x.cpp", "core/inner.h")

    def test_floors_of_a_folder(self) -> None:
        table = "\n| `core/low` | low | |\n| `core/high` | high | up to `core/low` |\n| `openmp` | top | up to `core/high` |\n"
        for name, includes, allowed in (
            ("core/high/x.cpp", "core/low/a.h", True),
            ("openmp/x.cpp", "core/low/a.h", True),
            ("core/low/x.cpp", "core/high/b.h", False),
        ):
            with self.subTest(name, includes=includes), tempfile.TemporaryDirectory() as folder:
                src = pathlib.Path(folder) / "src"
                for file, text in (("core/low/a.h", ""), ("core/high/b.h", ""), (name, f'#include "{includes}"\n')):
                    (src / file).parent.mkdir(parents=True, exist_ok=True)
                    (src / file).write_text(text)
                (src / "README.md").write_text(table)
                self.assertEqual(run(pathlib.Path(folder)).returncode, 0 if allowed else 1)

    def test_a_knot_is_refused(self) -> None:
        for count in (10, 11):
            with self.subTest(count), tempfile.TemporaryDirectory() as folder:
                src = pathlib.Path(folder) / "src"
                (src / "base").mkdir(parents=True)
                (src / "README.md").write_text("\n| `base` | all | |\n")
                for i in range(count):
                    (src / f"base/f{i}.h").write_text("")
                    (src / f"base/f{i}.cpp").write_text(f'#include "base/f{(i + 1) % count}.h"\n')
                result = run(pathlib.Path(folder))
                self.assertEqual(result.returncode, 0 if count == 10 else 1, result.stdout)
                if count == 11:
                    self.assertIn("11 files include each other", result.stdout)

    def test_folders_of_the_report(self) -> None:
        table = "\n| `report/low` | low | |\n| `report/high` | high | `report/low` |\n"
        for name, includes, allowed in (
            ("high/x.cpp", "report/low/a.h", True),
            ("low/x.cpp", "report/high/b.h", False),
            ("low/x.cpp", "outside.h", True),
            ("x.cpp", "report/low/a.h", False),
        ):
            with self.subTest(name, includes=includes), tempfile.TemporaryDirectory() as folder:
                weft = pathlib.Path(folder) / "tools" / "weft"
                files = {"low/a.h": "", "high/b.h": "", "README.md": table, name: f'#include "{includes}"\n'}
                for file, text in files.items():
                    (weft / "report" / file).parent.mkdir(parents=True, exist_ok=True)
                    (weft / "report" / file).write_text(text)
                (weft / "outside.h").write_text("")
                src = pathlib.Path(folder) / "src"
                src.mkdir()
                (src / "README.md").write_text(TABLE)
                result = run(pathlib.Path(folder))
                self.assertEqual(result.returncode, 0 if allowed else 1, result.stdout)
                if not allowed:
                    self.assertIn(f"tools/weft/report/{name}" if name != "x.cpp" else "is in no layer", result.stdout)

    def test_siblings_do_not_see_each_other(self) -> None:
        self.assert_refused("openmp/gomp/x.cpp", "openmp/kmp/d.h")

    def test_a_folder_without_a_row_is_refused(self) -> None:
        result = self.check("stray/x.cpp", "base/a.h")
        self.assertEqual(result.returncode, 1)
        self.assertIn("src/stray/x.cpp: is in no layer", result.stdout)


if __name__ == "__main__":
    unittest.main()
