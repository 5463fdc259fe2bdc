# SPDX-License-Identifier: Apache-2.0
"""Programs of programs/, built by an MPI's compiler and run by its launcher, with weft's collectives or without.

The MPIs are openmpi, mpich, abi (one with the standard's ABI), and openmpi_library: the same Open MPI with weft's library
before it, without the component.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
SKIPPED = 77
LIBRARIES = pathlib.Path(os.environ["WEFT_LIBRARIES"])
WEFT = LIBRARIES.parent.parent / "bin" / "weft"
FORTRAN = os.environ.get("WEFT_TEST_FORTRAN", "gfortran")
# What Open MPI needs to run as root, and more ranks than there are CPUs.
ENVIRONMENT = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_orte_base_help_aggregate": "0",
}
SECONDS = 100


def is_open_mpi(mpi: str) -> bool:
    return mpi.startswith("openmpi")


def suffix(mpi: str) -> str:
    """Of its commands, as in mpicc.openmpi."""
    return mpi.removesuffix("_library")


def skip(why: str) -> None:
    print(f"skipped: {why}")
    sys.exit(SKIPPED)


def build(mpi: str, source: str, into: pathlib.Path) -> pathlib.Path:
    path = HERE / "programs" / source
    fortran = path.suffix in (".f", ".f90")
    wrapper = ("mpifort." if fortran else "mpicc.") + suffix(mpi)
    if shutil.which(wrapper) is None or (fortran and shutil.which(FORTRAN) is None):
        skip(f"no {wrapper}, or no {FORTRAN}")
    options = ["-std=gnu11", "-Wall", "-Wextra", "-pthread"]
    if fortran:
        options = ["-w"]
        if path.suffix == ".f":
            options += ["-ffixed-line-length-none", "-fallow-argument-mismatch"]
    program = into / path.stem
    command = [wrapper, "-O1", *options, str(path), "-o", str(program), "-lm"]
    subprocess.run(command, check=True, env=dict(os.environ, OMPI_FC=FORTRAN, MPICH_FC=FORTRAN), cwd=into)
    return program


def run(mpi: str, ranks: int, command: list, settings: dict[str, str], weft: bool = True) -> tuple[int, list[str]]:
    """The exit code and the lines, sorted: launchers mix those of several ranks."""
    prefix = [WEFT, "run", "--collectives"]
    if mpi == "openmpi_library":
        prefix = ["env", f"LD_PRELOAD={LIBRARIES / 'libweft-coll.so'}"]
    full = [str(part) for part in [f"mpiexec.{suffix(mpi)}", "-n", ranks, *(prefix if weft else []), *command]]
    # Each rank has files of its own: launchers mix what several of them write, in the middle of lines.
    to_file = ["sh", "-c", 'exec "$@" >"$WEFT_TEST_OUT.${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" 2>&1', "sh"]
    full[3:3] = to_file
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("WEFT_COLL", "LD_"))}
    with tempfile.TemporaryDirectory(prefix="weft-coll-") as folder:
        environment |= {**ENVIRONMENT, "WEFT_TEST_OUT": f"{folder}/out", **settings}
        try:
            done = subprocess.run(
                full,
                env=environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                timeout=SECONDS,
                errors="replace",
                cwd=folder,
            )
        except subprocess.TimeoutExpired as expired:
            sys.exit(f"hangs: {' '.join(full)}\n{(expired.stdout or b'').decode()}")
        written = [
            line
            for file in sorted(pathlib.Path(folder).glob("out.*"))
            for line in file.read_text(errors="replace").splitlines()
        ]
    return done.returncode, sorted(written) + done.stdout.splitlines()
