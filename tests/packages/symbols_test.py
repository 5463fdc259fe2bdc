# SPDX-License-Identifier: Apache-2.0
"""check_symbols.py names the files that need a newer glibc, another library, or a symbol of no library."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

CHECK = pathlib.Path(__file__).resolve().with_name("check_symbols.py")
# Newest, as no system has it, and oldest.
ANY, NONE = "99.0", "1.0"


class Symbols(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="weft-symbols-")))

    def link(self, name: str, source: str, *options: str) -> None:
        command = ["gcc", "-shared", "-fPIC", "-x", "c", "-", "-o", str(self.folder / name), "-x", "none", *options]
        subprocess.run(command, input=source, text=True, check=True, timeout=60)

    def check(self, newest: str) -> "tuple[int, str]":
        command = [sys.executable, "-B", CHECK, self.folder, newest]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        return done.returncode, done.stdout

    def test_versions(self) -> None:
        self.link("libweft-one.so", 'int puts(const char*); int one(void) { return puts(""); }')
        self.assertEqual(self.check(ANY), (0, ""))
        code, said = self.check(NONE)
        self.assertEqual(code, 1)
        self.assertRegex(said, r"libweft-one\.so: needs GLIBC_[\d.]+: .*puts")

    def test_a_symbol_of_no_library(self) -> None:
        lacking = "int arc4random(void); int one(void) { return arc4random(); }"
        # As the linker leaves it where an old glibc lacks it and undefined symbols are allowed.
        self.link("libweft-one.so", lacking, "-nostdlib", "-Wl,--unresolved-symbols=ignore-all")
        self.assertEqual(self.check(ANY), (1, "libweft-one.so: needs arc4random, of no library\n"))

    def test_what_is_found_in_the_process(self) -> None:
        found = "int PMPI_Init(void); extern int ompi_mpi_comm_world; int one(void) { return PMPI_Init() + ompi_mpi_comm_world; }"
        self.link("libweft-mpi-one.so", found, "-nostdlib")
        self.assertEqual(self.check(ANY), (0, ""))
        weak = "__attribute__((weak)) int other(void); int one(void) { return other ? other() : 0; }"
        self.link("libweft-two.so", weak, "-nostdlib")
        self.assertEqual(self.check(ANY), (0, ""))

    def test_other_libraries(self) -> None:
        self.link("libother.so.1", "int other(void) { return 1; }", "-Wl,-soname,libother.so.1")
        user = "int other(void); int one(void) { return other(); }"
        self.link("libweft-one.so", user, str(self.folder / "libother.so.1"))
        code, said = self.check(ANY)
        self.assertEqual(code, 1)
        self.assertIn("libweft-one.so: needs libother.so.1\n", said)

    def test_nothing_to_check(self) -> None:
        self.assertEqual(self.check(ANY), (1, f"{self.folder}: there is no program and no library\n"))


if __name__ == "__main__":
    unittest.main()
