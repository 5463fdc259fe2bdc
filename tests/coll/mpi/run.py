#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run.py MPI SOURCE [ARGUMENT...]: a program of programs/ by an MPI's own launcher, with weft's collectives.

Programs check themselves and say "done". With --compare they say what MPI does, with weft and without: the same lines,
the same exit code. Exit code 77: skipped, the last line says why.
"""

import argparse
import difflib
import pathlib
import sys
import tempfile

import job

# What weft reports beside: who shares memory, who takes a class of calls from now on, and what there was in all.
REPORTS = ("ranks share memory", "weft takes it", "MPI takes it", "coll: further communicators", "coll: in all, ")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("mpi")
    parser.add_argument("source")
    parser.add_argument("arguments", nargs="*")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--compare", action="store_true")
    parser.add_argument("--set", action="append", default=[], help="NAME=VALUE in the environment")
    options = parser.parse_args()
    settings = {"WEFT_COLLECTIVES_AFTER": "1", "WEFT_COLLECTIVES_REPORT": "1"}
    settings |= dict(setting.split("=", 1) for setting in options.set)
    with tempfile.TemporaryDirectory() as folder:
        program = job.build(options.mpi, options.source, pathlib.Path(folder))
        command = [program, *options.arguments]
        code, lines = job.run(options.mpi, options.ranks, command, settings)
        shared = [line for line in lines if line.startswith(f"weft: coll: {options.ranks} ranks share memory")]
        lines = [line for line in lines if not any(report in line for report in REPORTS)]
        expected = (0, [f"{rank}: done" for rank in range(options.ranks)])
        if options.compare:
            expected = job.run(options.mpi, options.ranks, command, settings, weft=False)
        if (code, lines) == expected and shared:
            return
        print(f"exit code {code}, expected {expected[0]}")
        if not shared:
            print("no group was made")
        print("\n".join(difflib.unified_diff(expected[1], lines, "expected", "with weft", lineterm="")))
        sys.exit(1)


if __name__ == "__main__":
    main()
