# SPDX-License-Identifier: Apache-2.0
"""alltoall_test.py MPI PROGRAM: the exchanges of tools/tune/alltoall with 1 to 8 ranks."""

import pathlib
import sys

import jobs


def main() -> None:
    mpi, program = sys.argv[1:]
    # MPICH never yields while it waits, so that many ranks on few CPUs take long.
    for ranks in range(1, 9) if mpi == "openmpi" else range(1, 5):
        done = jobs.run([*jobs.launcher(mpi, ranks), program], pathlib.Path.cwd())
        if done.returncode != 0:
            sys.exit(f"{ranks} ranks: exit code {done.returncode}\n{done.stdout}{done.stderr}")


if __name__ == "__main__":
    main()
