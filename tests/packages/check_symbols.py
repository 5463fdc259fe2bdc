#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_symbols.py FOLDER GLIBC: no file below FOLDER needs a glibc newer than GLIBC, such as 2.28, or another library.

Prints one line for each that does, with what it needs. Libraries of weft's own, and of the MPI that a file is for, are no
others. Exit code 1 if there are any.
"""

import pathlib
import re
import subprocess
import sys

# Parts of glibc, whatever they are called.
GLIBC = re.compile(r"lib(c|m|dl|rt|pthread)\.so\.\d+|ld-linux\S*")
OWN = re.compile(r"libweft\S*|libgomp\.so\.1|libtcm\.so\.1")
MPI = re.compile(r"libmpi\S*|libopen-(rte|pal)\S*")
# What files find in the process that loads them: an MPI, LLVM, another tool.
FOUND = re.compile(
    r"P?MPI\w*|p?mpi_\w+|(ompi|opal|orte|mca)_\w+|_ZNK?4llvm\w+|_ZTVN?K?4llvm\w+|_ZN?K?St\w+|__gmon_start__"
)
NEEDED = re.compile(r"\(NEEDED\)\s+Shared library: \[(.*)\]")
VERSION = re.compile(r"Name: (GLIBC_([\d.]+)|\S+)\s+Flags: (\S+)")


def said(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def number(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def undefined(file: pathlib.Path) -> "list[str]":
    """What it needs and cannot do without: names, with their versions behind an @."""
    symbols = [line.split() for line in said("readelf", "--dyn-syms", "--wide", file).splitlines() if " UND " in line]
    return [symbol[7] for symbol in symbols if "GLOBAL" in symbol]


def faults(file: pathlib.Path, newest: str) -> list[str]:
    libraries = NEEDED.findall(said("readelf", "--dynamic", "--wide", file))
    allowed = (GLIBC, OWN, MPI) if "mpi" in file.name or "coll" in file.name or "tune" in file.name else (GLIBC, OWN)
    found = [f"needs {library}" for library in libraries if not any(kind.fullmatch(library) for kind in allowed)]
    needs = said("readelf", "--version-info", "--wide", file).partition("Version needs section")[2]
    for name, version, _ in VERSION.findall(needs):
        if not version and name != "GLIBC_PRIVATE":
            found.append(f"needs {name} of another library")
        elif not version or number(version) > number(newest):
            symbols = [symbol.partition("@")[0] for symbol in undefined(file) if symbol.endswith("@" + name)]
            found.append(f"needs {name}: {' '.join(symbols)}")
    loose = sorted(name for name in undefined(file) if "@" not in name and not FOUND.fullmatch(name))
    return [*found, *(f"needs {name}, of no library" for name in loose)]


def is_elf(file: pathlib.Path) -> bool:
    if file.is_symlink() or not file.is_file():
        return False
    with file.open("rb") as opened:
        return opened.read(4) == b"\x7fELF"


def main() -> int:
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    folder = pathlib.Path(sys.argv[1])
    files = [file for file in sorted(folder.rglob("*")) if is_elf(file)]
    lines = [f"{file.relative_to(folder)}: {fault}" for file in files for fault in faults(file, sys.argv[2])]
    for line in lines:
        print(line)
    if not files:
        print(f"{folder}: there is no program and no library")
    return 1 if lines or not files else 0


if __name__ == "__main__":
    sys.exit(main())
