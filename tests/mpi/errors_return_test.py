#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""errors_return_test.py: the handler that returns errors is found in an MPI whose number for it is another.

Exit code 77: skipped, the last line says why.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
SOURCES = HERE.parents[1] / "src"


def main() -> None:
    if shutil.which("mpicc.abi") is None:
        print("skipped: no mpicc.abi")
        sys.exit(77)
    environment = dict(os.environ, MPICH_CC="g++")
    with tempfile.TemporaryDirectory() as folder:
        into = pathlib.Path(folder)
        swapped = into / "swapped.so"
        own = [f"-I{SOURCES / 'mpi/declarations/abi'}", f"-I{SOURCES}"]
        source = HERE / "errors_return_check.cpp"
        compiler = ["mpicc.abi", "-std=c++20", "-w", *own]
        subprocess.run([*compiler, source, "-o", into / "check"], check=True, env=environment)
        compiler = ["mpicc.abi", "-shared", "-fPIC", "-w"]
        subprocess.run([*compiler, HERE / "swapped_handlers.c", "-o", swapped, "-ldl"], check=True)
        for preloaded, wanted in (("", "return"), (str(swapped), "abort")):
            command = ["env", f"LD_PRELOAD={preloaded}", into / "check"]
            found = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout
            if found.strip() != wanted:
                sys.exit(f"{preloaded}: {found}, expected {wanted}")


if __name__ == "__main__":
    main()
