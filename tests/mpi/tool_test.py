#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tool_test.py MPI: a tool before weft's MPI library sees the program's calls, which pause tasks nevertheless.

Of a tool behind it weft says that it sees nothing.
"""

import pathlib
import subprocess
import sys
import tempfile

from run import HERE, LIBRARIES, RUNTIME, can_pause, run, skip

TASKS = 16


def build(mpi: str, arguments: list[str]) -> None:
    subprocess.run([f"mpicc.{mpi}", "-std=gnu11", "-fopenmp", "-w", *arguments], check=True)


def main() -> None:
    mpi = sys.argv[1]
    if not can_pause():
        skip(f"{RUNTIME} cannot pause tasks")
    failures = []
    with tempfile.TemporaryDirectory() as folder:
        into = pathlib.Path(folder)
        program, tool = into / "program", into / "tool.so"
        ours = [RUNTIME, str(LIBRARIES / "libweft-mpi.so")]
        # It hangs unless its calls pause tasks.
        build(mpi, [str(HERE / "opposite_order.c"), "-o", str(program)])
        # Addresses that are written once, at the start, and those of lazy calls.
        for linked in ("now", "lazy"):
            build(mpi, ["-shared", "-fPIC", f"-Wl,-z,{linked},-z,relro", str(HERE / "tool.c"), "-o", str(tool)])
            counted = [
                f"0: tool: 1 starts, {TASKS} sends, 0 receives",
                f"1: tool: 1 starts, 0 sends, {TASKS} receives",
            ]
            found = run(mpi, 2, [str(program)], [str(tool), *ours], into)
            if found != (0, counted):
                failures.append(f"before, {linked}: {found}")
            code, lines = run(mpi, 2, [str(program)], [*ours, str(tool)], into)
            said = [line for line in lines if "tool.so sees no call" in line]
            if code != 0 or len(said) != 2:
                failures.append(f"behind, {linked}: {code} {lines}")
        # A tool that is part of the program.
        build(mpi, [str(HERE / "opposite_order.c"), str(HERE / "tool.c"), "-o", str(program)])
        found = run(mpi, 2, [str(program)], ours, into)
        if found != (0, counted):
            failures.append(f"in the program: {found}")
    sys.exit("\n".join(failures) or 0)


if __name__ == "__main__":
    main()
