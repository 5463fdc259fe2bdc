# SPDX-License-Identifier: Apache-2.0
"""What tests that start ranks share."""

import os
import pathlib
import subprocess

WEFT = os.environ["WEFT_COMMAND"]
# As users of a container need it.
ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")


def launcher(mpi: str, ranks: int) -> list[str]:
    line = [f"mpiexec.{mpi}", "-n", str(ranks)]
    if mpi == "openmpi":
        line.insert(1, "--oversubscribe")
    return line


def run(
    command: list[str], folder: pathlib.Path, timeout: float = 200, **variables: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        cwd=folder,
        env={**ENVIRONMENT, **variables},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
