#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run.py MPI SOURCE [ARGUMENT...]: a program of programs/ by an MPI's own launcher.

Programs that say what MPI does are run without weft's MPI library and with it: the same lines in
the same order, the same exit code.
Others check themselves and say "done". Every run has a time limit. Exit code 77: skipped, the last line says why.
"""

import argparse
import difflib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
SKIPPED = 77
# What these make the library say.
SAYS = {"second_waits": "weft: mpi: a task waits for a request that another one waits for already"}
# Those that hang without the library, or need its functions.
CHECK_THEMSELVES = {"tasks", "events", "second_waits", "large_counts", "idle_helpers", "fortran_tasks", "waits"}
LIBRARIES = pathlib.Path(os.environ["WEFT_LIBRARIES"])
WEFT = LIBRARIES.parent.parent / "bin" / "weft"
# What pauses tasks: weft's runtime, or another that has weft/task.h.
RUNTIME = os.environ.get("WEFT_TEST_MPI_RUNTIME", str(LIBRARIES / "libgomp.so.1"))
INCLUDE = HERE.parent.parent / "include"
INCLUDES = ["-I", str(INCLUDE), "-I", str(INCLUDE / "weft/tampi")]
FORTRAN = os.environ.get("WEFT_TEST_FORTRAN", "gfortran")


def skip(why: str) -> None:
    print(f"skipped: {why}")
    sys.exit(SKIPPED)


def compiler(mpi: str, source: pathlib.Path) -> list[str]:
    fortran = source.suffix in (".f", ".f90", ".F90")
    wrapper = ("mpifort." if fortran else "mpicc.") + mpi
    if shutil.which(wrapper) is None:
        skip(f"no {wrapper}")
    if not fortran:
        return [wrapper, "-std=gnu11", "-fopenmp", "-w", *INCLUDES]
    if shutil.which(FORTRAN) is None:
        skip(f"no {FORTRAN}")
    layout = ["-ffixed-line-length-none", "-fallow-argument-mismatch"] if source.suffix == ".f" else []
    return [wrapper, "-w", "-fopenmp", *INCLUDES, *layout]


def build(mpi: str, source: pathlib.Path, into: pathlib.Path) -> pathlib.Path:
    program = into / source.stem
    command = [*compiler(mpi, source), str(source), "-o", str(program)]
    if source.stem in CHECK_THEMSELVES:
        command += [f"-L{LIBRARIES}", "-Wl,--no-as-needed", "-lweft-mpi"]
    environment = dict(os.environ, OMPI_FC=FORTRAN, MPICH_FC=FORTRAN)
    subprocess.run(command, check=True, env=environment, cwd=into)
    return program


def can_pause() -> bool:
    symbols = subprocess.run(["nm", "-D", RUNTIME], capture_output=True, text=True, check=True).stdout
    return " weft_block_current_task" in symbols


def run(mpi: str, ranks: int, command: list[str], preloaded: list[str], into: pathlib.Path) -> tuple[int, list[str]]:
    """The exit code and the lines, those of each rank in their order."""
    launcher = [f"mpiexec.{mpi}", "-n", str(ranks)]
    if mpi == "openmpi":
        launcher[1:1] = ["--allow-run-as-root", "--oversubscribe"]
    environment = dict(os.environ, LD_LIBRARY_PATH=str(LIBRARIES))
    # Each rank has a file of its own: launchers mix what several of them write, in the middle of lines.
    to_file = ["sh", "-c", 'exec "$@" >"out.${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" 2>&1', "sh"]
    full = [*launcher, *to_file, "env", f"LD_PRELOAD={':'.join(preloaded)}", *command]
    try:
        done = subprocess.run(
            full,
            cwd=into,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=60,
        )
    except subprocess.TimeoutExpired as expired:
        sys.exit(f"hangs: {' '.join(full)}\n{(expired.stdout or b'').decode()}")
    written = [into / f"out.{rank}" for rank in range(ranks)]
    lines = [line for file in written if file.exists() for line in file.read_text().splitlines()]
    for file in written:
        file.unlink(missing_ok=True)
    return done.returncode, lines + sorted(done.stdout.splitlines(), key=lambda line: line.split(":")[0])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("mpi")
    parser.add_argument("source")
    parser.add_argument("arguments", nargs="*")
    parser.add_argument("--ranks", type=int, default=2)
    options = parser.parse_args()
    if not can_pause():
        skip(f"{RUNTIME} cannot pause tasks")
    with tempfile.TemporaryDirectory() as folder:
        into = pathlib.Path(folder)
        program = build(options.mpi, HERE / "programs" / options.source, into)
        command = [str(program), *options.arguments]
        preloaded = [RUNTIME, str(LIBRARIES / "libweft-mpi.so")]
        code, lines = run(options.mpi, options.ranks, command, preloaded, into)
        if program.name in CHECK_THEMSELVES:
            lines = [line for line in lines if line != SAYS.get(program.name)]
            expected = (0, [f"{rank}: done" for rank in range(options.ranks)])
        else:
            expected = run(options.mpi, options.ranks, command, [], into)
        if (code, lines) == expected:
            return
        print(f"exit code {code}, expected {expected[0]}")
        print("\n".join(difflib.unified_diff(expected[1], lines, "without", "with", lineterm="")))
        sys.exit(1)


if __name__ == "__main__":
    main()
