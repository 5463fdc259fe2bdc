#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What advice promises and what it gains: for each program in programs/ with a fault, the gain that `weft report`
expects, and the time that the variant without the fault saves under `weft run`. Some minutes, on a machine that does
nothing else.

    gains.py [--repeat N] [NAME...]
"""

from __future__ import annotations

import argparse
import pathlib
import shlex
import statistics
import subprocess
import sys
import tempfile
import time

import planted


def timed(command: list[str], repeat: int, **settings: str) -> tuple[float, str]:
    """Seconds, the median; and what it has printed."""
    seconds = []
    for _ in range(repeat):
        start = time.perf_counter()
        done = subprocess.run(
            [planted.WEFT, "run", *command],
            env=planted.environment(**settings),
            capture_output=True,
            text=True,
            timeout=planted.TIMEOUT_S,
            check=True,
        )
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds), done.stdout


def measure(program: planted.Program, compiler: str, builder: planted.Builder, repeat: int) -> str:
    command = builder.command(program, compiler)
    fixed = builder.command(program, compiler, fixed=True)
    ran = planted.report_of(command, builder.folder, **program.environment)
    promised = sum(advice["gain"] for advice in ran.report["advice"] if advice["kind"] == program.fault)
    before, printed = timed(command, repeat, **program.environment)
    after, printed_fixed = timed(fixed, repeat)
    if printed != printed_fixed:
        sys.exit(f"{shlex.join(command)} prints {printed!r}, and without its fault {printed_fixed!r}")
    gained = before - after
    part = f"{promised / gained:6.0%}" if gained > 0.01 else "     -"
    return (
        f"{program.name:24} {compiler:9} {before:7.2f} {ran.report['run']['seconds']:7.2f} {promised:9.2f} "
        f"{gained:7.2f} {part}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=3, help="runs of each variant, of which the median counts")
    parser.add_argument("names", nargs="*", metavar="NAME")
    options = parser.parse_args()
    known = {program.name: program for program in planted.programs() if program.fault}
    unknown = [name for name in options.names if name not in known]
    if unknown:
        parser.error(f"no program with a fault: {', '.join(unknown)}; there are {', '.join(known)}")
    print("seconds                             time  in the  promised  gained  promised")
    print("                                          report                   of gained")
    with tempfile.TemporaryDirectory(prefix="weft-gains-") as folder:
        builder = planted.Builder(pathlib.Path(folder))
        for name in options.names or known:
            program = known[name]
            for compiler in program.compilers:
                if reason := planted.missing(program, compiler):
                    print(f"{name:24} {compiler:9} {reason}")
                    continue
                print(measure(program, compiler, builder, options.repeat), flush=True)


if __name__ == "__main__":
    main()
