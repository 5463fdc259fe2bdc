#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bad_input_test.py MPI CASE: programs that MPI ends, or that weft's MPI library cannot serve.

They are run without it and with it: the same exit code, MPI's own reason, and of weft what the case expects.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

from run import HERE, INCLUDE, LIBRARIES, RUNTIME, can_pause, run, skip

# What Open MPI's launcher says when it loses the text of an error.
LOST = "show_help.c"
# What each MPI says.
REASONS = {
    "truncated": {"openmpi": "MPI_ERR_TRUNCATE", "mpich": "Message.*truncated"},
    "rank": {"openmpi": "MPI_ERR_RANK", "mpich": "Invalid rank"},
    "type": {"openmpi": "MPI_ERR_TYPE", "mpich": "Null datatype|Invalid datatype"},
    # Open MPI goes on to the first that fails, MPICH does not.
    "several": {"openmpi": "MPI_ERR_TRUNCATE", "mpich": "MPI_ERROR field"},
    "level": {"openmpi": "MPI_Init_thread", "mpich": "got 1"},
}
MPIS = {"openmpi": "libmpi.so.40", "mpich": "libmpich.so.12"}
LATE_US = "100000"
# A part of bad_input.c, and whose handler it sets; MPI's reason.
FATAL = {
    "truncated_recv": ("truncated_recv nobody's", "truncated"),
    "truncated_recv.handlers": ("truncated_recv another's", "truncated"),
    "truncated_waitall": ("truncated_waitall nobody's", "several"),
    "truncated_waitall.handlers": ("truncated_waitall another's", "several"),
    "wrong_rank": ("wrong_rank nobody's", "rank"),
    "wrong_rank.handlers": ("wrong_rank another's", "rank"),
    "null_type": ("null_type nobody's", "type"),
    "null_type.handlers": ("null_type another's", "type"),
}


def exit_code(of_launcher: int, lines: list[str]) -> int:
    """Of the program. MPICH's launcher at times has that of a rank which it has killed since."""
    abort = next((found for line in lines if (found := re.match(r"Abort\((\d+)\)", line))), None)
    return int(abort[1]) % 256 if abort else of_launcher


class Case:
    def __init__(self, mpi: str, into: pathlib.Path) -> None:
        self.mpi, self.into = mpi, into
        self.program = into / "bad_input"
        self.preloaded = [RUNTIME, str(LIBRARIES / "libweft-mpi.so")]

    def build(self, *arguments: str) -> None:
        command = [f"mpicc.{self.mpi}", "-std=gnu11", "-fopenmp", "-w", "-I", str(INCLUDE), *arguments]
        subprocess.run(command, check=True)

    def build_program(self, *arguments: str) -> None:
        self.build(str(HERE / "programs/bad_input.c"), "-o", str(self.program), *arguments)

    def compare(self, part: str, reason: str = "", says: str = "", times: int = 0, level: int = 0) -> None:
        name, handlers = part.split()
        command = [str(self.program), LATE_US, name, str(level), handlers]
        without = run(self.mpi, 2, command, [], self.into)
        with_weft = run(self.mpi, 2, command, self.preloaded, self.into)
        failures = []
        if exit_code(*without) != exit_code(*with_weft):
            failures.append(f"exit code {exit_code(*with_weft)}, expected {exit_code(*without)}")
        for lines, whose in ((without[1], "without"), (with_weft[1], "with")):
            if not any(re.search(reason, line) or LOST in line for line in lines):
                failures.append(f"no {reason!r} {whose}")
        said = [line for line in with_weft[1] if line.startswith("weft:")]
        if len(said) != times or not all(says in line for line in said):
            failures.append(f"{len(said)} lines of weft's, expected {times} with {says!r}")
        if failures:
            sys.exit("\n".join([*failures, "without:", *without[1], "with:", *with_weft[1]]))

    def early_finalize(self) -> None:
        """Without weft it would wait for good."""
        command = [str(self.program), LATE_US, "early_finalize", "3", "nobody's"]
        code, lines = run(self.mpi, 2, command, self.preloaded, self.into)
        said = [line for line in lines if "MPI_Finalize is called while 1 tasks wait" in line]
        if code != 3 or len(said) != 2:
            sys.exit("\n".join([f"exit code {code}", *lines]))


def main() -> None:
    mpi, name = sys.argv[1:]
    if not can_pause():
        skip(f"{RUNTIME} cannot pause tasks")
    with tempfile.TemporaryDirectory() as folder:
        case = Case(mpi, pathlib.Path(folder))
        # The MPI's own first.
        both = [f"-l:{MPIS[which]}" for which in sorted(MPIS, key=lambda which: which != mpi)]
        case.build_program(*(["-Wl,--no-as-needed", *both] if name == "two_mpis" else []))
        if name in FATAL:
            part, reason = FATAL[name]
            case.compare(part, REASONS[reason][mpi])
        elif name == "level":
            # Open MPI ends the program; MPICH gives it MPI_THREAD_SINGLE, which weft cannot do with.
            times = 0 if mpi == "openmpi" else 2
            case.compare("exchange nobody's", REASONS["level"][mpi], "no level of threads", times, level=9)
        elif name == "killed":
            case.compare("killed nobody's")
        elif name == "iwait_outside":
            case.compare("iwait_outside nobody's", "got 17", "outside of explicit tasks", 1)
        elif name == "early_finalize":
            case.early_finalize()
        elif name == "two_mpis":
            case.compare("exchange nobody's", "got 1", "has loaded two MPIs", 1)
        elif name in ("multiple", "version"):
            case.build("-shared", "-fPIC", str(HERE / "less_mpi.c"), "-o", str(case.into / "less_mpi.so"))
            case.preloaded.append(str(case.into / "less_mpi.so"))
            os.environ["LESS_MPI"] = name
            says = {"multiple": "does not give MPI_THREAD_MULTIPLE", "version": "is too old"}[name]
            case.compare("exchange nobody's", "got 1", says, 2 if name == "multiple" else 1)
        else:
            sys.exit(f"no case {name}")


if __name__ == "__main__":
    main()
