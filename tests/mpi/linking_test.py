#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""linking_test.py openmpi|mpich|fake: weft's libraries before an MPI whose names are bound at once, or lazily.

The dynamic linker relocates an MPI before what stands in front of it. `fake` are MPIs that weft does not know: one line
says so, and calls go through untouched.
"""

import os
import pathlib
import subprocess
import sys
import tempfile

from run import HERE, LIBRARIES, RUNTIME

FRONT = LIBRARIES / "libweft-mpi.so"
COLLECTIVES = LIBRARIES / "libweft-coll-mpich.so"
# What the MPI says of itself, whether it looks like Open MPI, and what weft says of it.
FAKES = (
    ("Own MPI 1.0, of a vendor", False, "is an MPI that weft does not know (Own MPI 1.0)"),
    ("", False, "is an MPI that weft does not know (it does not say its version)"),
    ("MPICH Version:      9.1.0\nMPICH Device: ch9", False, "MPICH Version:      9.1.0 is newer than weft knows"),
    ("Open MPI v6.0.0, package: Open MPI", True, "Open MPI v6.0.0 is newer than weft knows"),
)


def build(compiler: str, *arguments: object) -> None:
    subprocess.run([compiler, "-std=gnu11", "-w", *map(str, arguments)], check=True)


def run(program: pathlib.Path, preloaded: list[object], **variables: str) -> tuple[int, str, list[str]]:
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("LD_", "WEFT_COLL"))}
    environment |= {"LD_PRELOAD": ":".join(map(str, preloaded)), "OMPI_ALLOW_RUN_AS_ROOT": "1"}
    environment |= {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", **variables}
    done = subprocess.run([program], env=environment, capture_output=True, text=True, timeout=50)
    return done.returncode, done.stdout, done.stderr.splitlines()


def real(mpi: str, folder: pathlib.Path) -> list[str]:
    failures = []
    source = HERE / "linking/program.c"
    own = [f"-L{LIBRARIES}", f"-Wl,-rpath,{LIBRARIES}", "-Wl,--no-as-needed", "-lweft-mpi"]
    fronts = [FRONT, *([COLLECTIVES] if COLLECTIVES.exists() else [])]
    for name, options, preloaded in (("preloaded", [], [RUNTIME, *fronts]), ("linked", ["-Wl,-z,now", *own], [])):
        program = folder / name
        build(f"mpicc.{mpi}", source, "-o", program, *options, "-ldl")
        for variables in ({}, {"LD_BIND_NOW": "1"}):
            found = run(program, preloaded, **variables)
            if found != (0, "received 5\n", []):
                failures.append(f"{name}, {variables}: {found}")
    return failures


def fake(folder: pathlib.Path) -> list[str]:
    failures = []
    for looks_like_openmpi in (False, True):
        library, program = folder / f"fake{looks_like_openmpi}.so", folder / f"program{looks_like_openmpi}"
        define = ["-DFAKE_OPEN_MPI"] if looks_like_openmpi else []
        build("cc", "-shared", "-fPIC", "-Wl,-z,now", *define, HERE / "linking/fake_mpi.c", "-o", library)
        build("cc", HERE / "linking/fake_program.c", "-o", program, library)
        for version, openmpi, says in FAKES:
            if openmpi != looks_like_openmpi:
                continue
            for front, whose in ((FRONT, "mpi"), (COLLECTIVES, "coll")):
                if not front.exists():
                    continue
                code, out, lines = run(program, [RUNTIME, front], FAKE_MPI=version)
                # The library before MPICH leaves what looks like Open MPI alone.
                silent = whose == "coll" and openmpi
                right = len(lines) == (0 if silent else 1)
                right = right and all(line.startswith(f"weft: {whose}: ") and says in line for line in lines)
                # 1 + 2 by MPI_Send, 3, and 7 by MPI_Barrier.
                if (code, out) != (0, "13 send -\n") or not right:
                    failures.append(f"{whose}, {version!r}: {code} {out!r} {lines}")
    return failures


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        failures = fake(folder) if sys.argv[1] == "fake" else real(sys.argv[1], folder)
    sys.exit("\n".join(failures) or 0)


if __name__ == "__main__":
    main()
