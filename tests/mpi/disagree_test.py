#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""disagree_test.py MPI mpi|collectives: one of three ranks runs without what the others have, or comes late.

The first is named, and the job ends or goes on without; of the second nothing is said.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

import run

ENVIRONMENT = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMP_NUM_THREADS": "2",
}
WEFT = [str(run.WEFT), "run"]


def launch(mpi: str, parts: list[tuple[int, list[str]]], **variables: str) -> tuple[int, list[str]]:
    command = [f"mpiexec.{mpi}"]
    for ranks, what in parts:
        command += [":"] * (len(command) > 1) + ["-n", str(ranks), *what]
    environment = {**os.environ, **ENVIRONMENT, **variables}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=50)
    return done.returncode, (done.stdout + done.stderr).splitlines()


def main() -> None:
    mpi, option = sys.argv[1:]
    if not run.can_pause():
        run.skip(f"{run.RUNTIME} cannot pause tasks")
    failures = []

    def expect(right: bool, what: str, found: tuple[int, list[str]]) -> None:
        if not right:
            failures.append("\n".join([f"{what}: exit code {found[0]}", *found[1]]))

    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        program = [str(run.build(mpi, run.HERE / "programs/disagree.c", folder))]
        ours = [*WEFT, f"--{option}", *program, "0", "0"]
        without = [*WEFT, *program, "0", "0"]
        # Open MPI's component sees who has it before any communicator is there, and leaves those to MPI.
        goes_on = (mpi, option) == ("openmpi", "collectives")
        for lacking, parts in (
            (0, [(1, without), (2, ours)]),
            (2, [(2, ours), (1, without)]),
        ):
            code, lines = launch(mpi, parts)
            said = [
                line for line in lines if re.match(rf"weft: (mpi|coll): rank {lacking} .*runs without weft's", line)
            ]
            others = [line for line in lines if line.startswith("weft:") and line not in said]
            expect(bool(said) and not others, f"rank {lacking} is not named", (code, lines))
            expect((code == 0) == goes_on, f"without rank {lacking}", (code, lines))
        # Longer than it takes to name a rank that is missing.
        found = launch(mpi, [(3, [*WEFT, f"--{option}", *program, "2", "2"])])
        expect(found[0] == 0 and not any("weft:" in line for line in found[1]), "late", found)
        if option == "mpi":
            shim = folder / "other_version.so"
            source = run.HERE / "other_version.c"
            subprocess.run([f"mpicc.{mpi}", "-shared", "-fPIC", str(source), "-o", str(shim), "-ldl"], check=True)
            found = launch(mpi, [(3, ours)], LD_PRELOAD=str(shim))
            named = any("rank 1 has another version of weft" in line for line in found[1])
            expect(found[0] != 0 and named, "another version", found)
    sys.exit("\n".join(failures) or 0)


if __name__ == "__main__":
    main()
