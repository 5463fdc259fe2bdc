#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""linking_test.py openmpi|mpich|abi|fake|absent|several: weft's libraries before an MPI whose names are bound at once, or
lazily.

The dynamic linker relocates an MPI before what stands in front of it. `fake` are MPIs that weft does not know: one line
says so, and calls go through untouched. `absent`: there is no MPI, as the program sees. `several`: each part of the program
has its own.
"""

import os
import pathlib
import subprocess
import sys
import tempfile

from run import HERE, LIBRARIES, RUNTIME

FRONT = LIBRARIES / "libweft-mpi.so"
COLLECTIVES = LIBRARIES / "libweft-coll.so"
# What the MPI says of itself, what it looks like, and what weft says of it. Since Open MPI 6 its objects are in a library of
# their own.
FAKES = (
    ("Own MPI 1.0, of a vendor", "mpich", "is an MPI that weft does not know (Own MPI 1.0)"),
    ("", "mpich", "is an MPI that weft does not know (it does not say its version)"),
    ("MPICH Version:      9.1.0\nMPICH Device: ch9", "mpich", "MPICH Version:      9.1.0 is newer than weft knows"),
    ("Open MPI v7.0.0, package: Open MPI", "openmpi", "Open MPI v7.0.0 is newer than weft knows"),
    ("Open MPI v7.0.0, package: Open MPI", "openmpi_apart", "Open MPI v7.0.0 is newer than weft knows"),
    ("Open MPI v7.0.0, package: Open MPI", "libmpi_abi.so.2", "has version 2 of MPI's ABI, and weft knows version 1"),
)


def build(compiler: str, *arguments: object) -> None:
    subprocess.run([compiler, "-std=gnu11", "-w", *map(str, arguments)], check=True)


def run(
    program: pathlib.Path, preloaded: list[object], *arguments: object, **variables: str
) -> tuple[int, str, list[str]]:
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("LD_", "WEFT_COLL"))}
    environment |= {"LD_PRELOAD": ":".join(map(str, preloaded)), "OMPI_ALLOW_RUN_AS_ROOT": "1"}
    environment |= {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", **variables}
    done = subprocess.run([program, *arguments], env=environment, capture_output=True, text=True, timeout=50)
    return done.returncode, done.stdout, done.stderr.splitlines()


def real(mpi: str, folder: pathlib.Path) -> list[str]:
    failures = []
    source = HERE / "linking/program.c"
    own = [f"-L{LIBRARIES}", f"-Wl,-rpath,{LIBRARIES}", "-Wl,--no-as-needed", "-lweft-mpi"]
    preloads = [RUNTIME, FRONT, COLLECTIVES]
    for name, options, preloaded in (("preloaded", [], preloads), ("linked", ["-Wl,-z,now", *own], [])):
        program = folder / name
        build(f"mpicc.{mpi}", source, "-o", program, *options, "-ldl")
        for variables in ({}, {"LD_BIND_NOW": "1"}):
            found = run(program, preloaded, **variables)
            if found != (0, "received 5\n", []):
                failures.append(f"{name}, {variables}: {found}")
    return failures


def fake(folder: pathlib.Path) -> list[str]:
    failures = []
    objects = folder / "objects.so"
    build("cc", "-shared", "-fPIC", HERE / "linking/fake_objects.c", "-o", objects)
    for version, like, says in FAKES:
        library, program = folder / (like if ".so" in like else f"{like}.so"), folder / f"program_{like}"
        define, more = {"mpich": ([], []), "openmpi": (["-DFAKE_OPEN_MPI"], [])}.get(
            like, (["-DFAKE_OPEN_MPI_APART"], [objects])
        )
        build("cc", "-shared", "-fPIC", "-Wl,-z,now", *define, HERE / "linking/fake_mpi.c", *more, "-o", library)
        build("cc", HERE / "linking/fake_program.c", "-o", program, library, *more)
        for front, whose in ((FRONT, "mpi"), (COLLECTIVES, "coll")):
            code, out, lines = run(program, [RUNTIME, front], FAKE_MPI=version)
            right = len(lines) == 1 and lines[0].startswith(f"weft: {whose}: ") and says in lines[0]
            # 1 + 2 by MPI_Send, 3, and 7 by MPI_Barrier.
            if (code, out) != (0, "13 send -\n") or not right:
                failures.append(f"{front.name}, {like}, {version!r}: {code} {out!r} {lines}")
            # One rank of a job speaks.
            ranks = [len(run(program, [front], FAKE_MPI=version, OMPI_COMM_WORLD_RANK=rank)[2]) for rank in ("0", "1")]
            if ranks != [1, 0]:
                failures.append(f"{front.name}, {like}, {version!r}: lines of ranks 0 and 1: {ranks}")
    # One that weft knows, and that lacks what its version has.
    code, out, lines = run(folder / "program_mpich", [RUNTIME, COLLECTIVES], FAKE_MPI="MPICH Version: 4.0")
    if code != 0 or len(lines) != 1 or "this MPI has no PMPI_" not in lines[0]:
        failures.append(f"lacking: {code} {out!r} {lines}")
    return failures


def absent(folder: pathlib.Path) -> list[str]:
    failures = []
    source, library = HERE / "linking/absent.c", folder / "libabsent.so"
    build("cc", "-shared", "-fPIC", "-DLIBRARY", source, "-o", library)
    build("cc", "-fPIE", source, "-o", folder / "optional", library)
    for bound in ("lazy", "now"):
        for front in (FRONT, COLLECTIVES):
            found = run(folder / "optional", [RUNTIME, front], **({"LD_BIND_NOW": "1"} if bound == "now" else {}))
            if found != (0, "serial\n", []):
                failures.append(f"{front.name}, {bound}: {found}")
    build("cc", "-DCERTAIN", source, "-o", folder / "certain", library, f"-L{LIBRARIES}", "-lweft-mpi")
    code, _, lines = run(folder / "certain", [], LD_LIBRARY_PATH=str(LIBRARIES))
    if code == 0 or not any("MPI_Init_thread is called, but no MPI" in line for line in lines):
        failures.append(f"certain: {code} {lines}")
    return failures


def several(folder: pathlib.Path) -> list[str]:
    failures = []
    plugins = []
    for mpi in ("openmpi", "mpich"):
        plugins.append(folder / f"{mpi}.so")
        build(f"mpicc.{mpi}", "-shared", "-fPIC", HERE / "linking/plugin.c", "-o", plugins[-1])
    build("cc", HERE / "linking/plugged.c", "-o", folder / "plugged", "-ldl")
    for order in (plugins, plugins[::-1]):
        code, out, lines = run(folder / "plugged", [RUNTIME, COLLECTIVES, FRONT], *order)
        right = len(lines) == 2 and all("the process has loaded two MPIs" in line for line in lines)
        if (code, out) != (0, "1\n1\n") or not right:
            failures.append(f"{[plugin.name for plugin in order]}: {code} {out!r} {lines}")
    return failures


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        parts = {"fake": fake, "absent": absent, "several": several}
        failures = parts[sys.argv[1]](folder) if sys.argv[1] in parts else real(sys.argv[1], folder)
    sys.exit("\n".join(failures) or 0)


if __name__ == "__main__":
    main()
