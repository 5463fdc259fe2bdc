# SPDX-License-Identifier: Apache-2.0
"""The collectors define what their lists of exports say, and nothing else; and they need libc alone. The one that is
loaded unless protection is asked for stands in front of allocation, and of the two calls by which a program gives up
system calls."""

import pathlib
import re
import subprocess
import sys
import unittest

PLAIN, PROTECT, SOURCES = sys.argv.pop(1), sys.argv.pop(1), pathlib.Path(sys.argv.pop(1))
ALLOCATION = {
    *("malloc", "calloc", "realloc", "reallocarray", "free", "cfree", "free_sized", "free_aligned_sized"),
    *("dallocx", "sdallocx", "posix_memalign", "aligned_alloc", "memalign", "valloc", "pvalloc"),
    *("mmap", "mmap64", "munmap"),
}
GIVING_UP = {"prctl", "syscall"}


def read(library: str, *options: str) -> str:
    return subprocess.run([*options, library], capture_output=True, text=True, check=True).stdout


def defined(library: str) -> set[str]:
    lines = read(library, "nm", "-D", "--defined-only").splitlines()
    return {line.split()[-1].partition("@")[0] for line in lines}


def listed(folder: str) -> set[str]:
    text = re.sub(r"#.*", "", (SOURCES / folder / "exports.map").read_text())
    return set(re.findall(r"(\w+);", text.partition("global:")[2].partition("local:")[0]))


class Exports(unittest.TestCase):
    def test_names(self) -> None:
        self.assertEqual(defined(PLAIN), listed("plain"))
        self.assertEqual(defined(PROTECT), listed("protect"))

    def test_what_is_wrapped_without_protection(self) -> None:
        self.assertEqual(defined(PLAIN), ALLOCATION | GIVING_UP)
        self.assertGreater(len(defined(PROTECT)), 200)
        self.assertLess(defined(PLAIN), defined(PROTECT))

    def test_nothing_can_be_protected_without_protection(self) -> None:
        """No handler, no thread, no protection: the library has nothing to do it with."""
        undefined = {
            line.split()[-1].partition("@")[0] for line in read(PLAIN, "nm", "-D", "--undefined-only").splitlines()
        }
        for name in ("mprotect", "pthread_create", "sigaction", "sigaltstack", "pthread_sigmask"):
            self.assertNotIn(name, undefined)

    def test_calls_with_buffers_are_all_exported(self) -> None:
        text = (SOURCES / "protect/buffers.def").read_text()
        rows = re.findall(r"^WEFT_CALLS\(.*?\), ([\w, \n]+)\)$", text, re.MULTILINE)
        calls = re.findall(r"\w+", " ".join(rows))
        self.assertEqual(len(calls), len(set(calls)))
        self.assertLessEqual(set(calls), listed("protect"))

    def test_libraries(self) -> None:
        for library in (PLAIN, PROTECT):
            needed = set(re.findall(r"NEEDED.*\[(.*)\]", read(library, "readelf", "-d")))
            self.assertLessEqual(
                {name.partition(".so")[0] for name in needed}, {"libc", "ld-linux-x86-64", "ld-linux-aarch64"}
            )


if __name__ == "__main__":
    unittest.main()
