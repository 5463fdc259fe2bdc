#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""declarations_test.py MPI: weft's own declarations of an ABI of MPI (src/mpi/declarations) say what an mpi.h says.

Exit code 77: skipped, the last line says why.
"""

import difflib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
SOURCES = HERE.parents[1] / "src"
# Room for texts: what MPI has must fit.
ROOMS = re.compile(r"MPI_MAX_\w+")


def names(header: pathlib.Path) -> list[str]:
    text = header.read_text()
    found = re.findall(r"^#define (MPI_\w+) |^inline constexpr int (MPI_\w+) ", text, flags=re.M)
    return [name for pair in found for name in pair if name and name != "MPI_ABI_VERSION"]


def values(mpi: str, header: str, constants: pathlib.Path, into: pathlib.Path) -> dict[str, str]:
    program = into / "check"
    environment = dict(os.environ, OMPI_CC="g++", MPICH_CC="g++")
    subprocess.run(
        [f"mpicc.{mpi}", "-std=c++20", "-w", "-DOMPI_SKIP_MPICXX", "-DMPICH_SKIP_MPICXX", f"-DMPI_HEADER={header}"]
        + [f'-DCONSTANTS="{constants}"', f"-I{SOURCES}", HERE / "declarations_check.cpp", "-o", program, "-ldl"],
        check=True,
        env=environment,
    )
    printed = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    return dict(line.split() for line in printed.splitlines())


def main() -> None:
    mpi = sys.argv[1]
    if shutil.which(f"mpicc.{mpi}") is None:
        print(f"skipped: no mpicc.{mpi}")
        sys.exit(77)
    own = SOURCES / "mpi/declarations" / mpi / "mpi.h"
    with tempfile.TemporaryDirectory() as folder:
        into = pathlib.Path(folder)
        constants = into / "constants.def"
        constants.write_text("".join(f"CONSTANT({name})\n" for name in names(own)))
        weft = values(mpi, f'"{own}"', constants, into)
        theirs = values(mpi, "<mpi.h>", constants, into)
    for name, value in theirs.items():
        if ROOMS.fullmatch(name) and int(value) <= int(weft[name]):
            weft[name] = value
    difference = difflib.unified_diff(
        [f"{name} {value}" for name, value in theirs.items()],
        [f"{name} {value}" for name, value in weft.items()],
        f"mpi.h of {mpi}",
        str(own),
        lineterm="",
    )
    text = "\n".join(difference)
    if len(weft) < 80 or text:
        sys.exit(text or f"only {len(weft)} names were read")


if __name__ == "__main__":
    main()
