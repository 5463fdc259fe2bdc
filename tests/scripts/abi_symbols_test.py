# SPDX-License-Identifier: Apache-2.0
"""scripts/abi-symbols lists what a library exports, and src/openmp/abi/generate.py reads the lists."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
GCC = os.environ["WEFT_TEST_GCC"]
NODES = "V1 {}; V2 {} V1;"


class AbiSymbolsTest(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="weft-abi-")))

    def listed(self, code: str) -> subprocess.CompletedProcess:
        """What the script says of a library of this code; the lists are in the folder."""
        library = self.folder / "library.so"
        (self.folder / "nodes").write_text(NODES)
        script = f"-Wl,--version-script={self.folder / 'nodes'}"
        command = [GCC, "-shared", "-fPIC", script, "-x", "c", "-", "-o", library]
        subprocess.run(command, input=code, text=True, check=True)
        command = [ROOT / "scripts/abi-symbols", "--libgomp", library, "--libomp", library, "--release", "none"]
        return subprocess.run(
            [sys.executable, *command, "--into", self.folder], capture_output=True, text=True, check=False
        )

    def generated(self, rows: "list[str]") -> subprocess.CompletedProcess:
        file = self.folder / "list.symbols"
        file.write_text("\n".join(["%nodes V1 V2", *rows, ""]))
        command = [sys.executable, ROOT / "src/openmp/abi/generate.py", "--list", file, "--into", self.folder / "into"]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    def test_a_data_object_in_two_nodes_has_its_size_once(self) -> None:
        done = self.listed(
            "const long weft_first = 0, weft_second = 0;"
            '__asm__(".symver weft_first, omp_null_allocator@V1");'
            '__asm__(".symver weft_second, omp_null_allocator@@V2");'
        )
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        rows = [row for row in (self.folder / "libgomp.symbols").read_text().splitlines() if row[0] not in "#%"]
        self.assertEqual(rows, ["V2 V1 8: omp_null_allocator"])
        self.assertEqual(self.generated(rows).returncode, 0)

    def test_a_name_without_a_default_node_is_refused(self) -> None:
        done = self.listed(
            "void weft_old(void) {} void weft_new(void) {}"
            '__asm__(".symver weft_old, GOMP_old@V1");'
            '__asm__(".symver weft_new, GOMP_new@@V2");'
        )
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"^abi-symbols: .*default.*: GOMP_old\n$")
        self.assertFalse((self.folder / "libgomp.symbols").exists())

    def test_a_name_in_two_rows_is_refused(self) -> None:
        self.assertEqual(self.generated(["V2 V1: GOMP_{one,two}"]).returncode, 0)
        done = self.generated(["V1: GOMP_one", "V2: GOMP_{one,two}"])
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"^generate\.py: .*list\.symbols: GOMP_one stands in two rows; .*\n$")


if __name__ == "__main__":
    unittest.main()
