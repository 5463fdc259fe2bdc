#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""libweft-mpi.so has every name that a library for an MPI replaces, and nothing else but those of names.def."""

import ctypes
import os
import pathlib
import subprocess
import sys

from names import named

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIBRARIES = pathlib.Path(os.environ["WEFT_LIBRARIES"])
# What each library takes MPI's functions from. The last is there where scripts/setup-mpi4py has been.
MPIS = {
    "libweft-mpi-openmpi.so": "libmpi.so.40",
    "libweft-mpi-mpich.so": "libmpich.so.12",
    "libweft-mpi-abi.so": str(ROOT / "build/mpi4py/mpich-wheel/lib/libmpi_abi.so.1"),
}


def exported(library: pathlib.Path) -> set[str]:
    lines = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout
    return {line.split()[2] for line in lines.splitlines()}


class Replacement(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("function", ctypes.c_void_p)]


class Replacements(ctypes.Structure):
    _fields_ = [("first", ctypes.POINTER(Replacement)), ("count", ctypes.c_int)]


class Link(ctypes.Structure):
    """As in src/mpi/link.h."""

    _fields_ = [
        ("layout", ctypes.c_int),
        ("begin", ctypes.c_void_p),
        ("yield", ctypes.c_void_p),
        ("lists", ctypes.POINTER(Replacements)),
        ("count", ctypes.c_int),
    ]


def replaced(library: pathlib.Path) -> list[str]:
    """The names in the library's tables, read in a process of their own: two MPIs do not share one."""
    names = subprocess.run([sys.executable, "-B", __file__, library], capture_output=True, text=True, check=True).stdout
    return names.split()


def print_replaced(library: str) -> None:
    ctypes.CDLL(MPIS[pathlib.Path(library).name], ctypes.RTLD_GLOBAL)
    # As the front loads it: an MPI lacks functions that the library needs only when the program calls what is newer.
    dlopen = ctypes.CDLL(None).dlopen
    dlopen.restype = ctypes.c_void_p
    handle = dlopen(library.encode(), os.RTLD_LAZY)
    link = Link.in_dll(ctypes.CDLL(library, handle=handle), "weft_mpi_link")
    for rows in link.lists[: link.count]:
        for row in rows.first[: rows.count]:
            print(row.name.decode())


def main() -> None:
    functions, replacements = named("mpi/front")
    failures = []
    # It stands before the system's (src/mpi/front/yield.cpp).
    if difference := exported(LIBRARIES / "libweft-mpi.so") ^ (functions | {"sched_yield"}):
        failures.append(f"libweft-mpi.so and names.def differ in {sorted(difference)}")
    for library in sorted(LIBRARIES.glob("libweft-mpi-*.so")):
        if exported(library) != {"weft_mpi_link"}:
            failures.append(f"{library.name} exports {sorted(exported(library))}")
        mpi = MPIS[library.name]
        if "/" in mpi and not os.path.exists(mpi):
            print(f"{library.name} is not read: no {mpi}")
            continue
        names = replaced(library)
        if missing := set(names) - replacements:
            failures.append(f"{library.name} replaces what names.def lacks: {sorted(missing)}")
        if len(names) != len(set(names)):
            failures.append(f"{library.name} replaces a function twice")
    sys.exit("\n".join(failures) or 0)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print_replaced(sys.argv[1])
    else:
        main()
