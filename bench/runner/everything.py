# SPDX-License-Identifier: Apache-2.0
"""`bench/run everything`, which `make bench` calls: each study with the options of docs/reference/performance.md."""

import argparse
import dataclasses
import pathlib
import subprocess
import sys


@dataclasses.dataclass(frozen=True)
class Study:
    name: str
    options: str = ""
    needs: tuple[str, ...] = ()  # scripts that install what it is built with or runs
    made_by: tuple[str, ...] = ()  # scripts that need weft's build

    def command(self) -> list[str]:
        return ["bench/run", self.name, *self.options.split()]


MPI = ("scripts/setup-mpi",)
STUDIES = (
    Study("callers"),
    Study("nested-blas"),
    Study("blas-calls"),
    Study("micro", "--rounds 2"),
    Study("programs", needs=("scripts/setup-programs",)),
    Study("node"),
    Study("loops", "--rounds 4 --repeat 9", needs=("scripts/setup-engines",)),
    Study("engines", needs=("scripts/setup-engines",)),
    Study("compile-cost", "--rounds 3"),
    Study("openblas", made_by=("scripts/build-openblas",)),
    Study("mpi", needs=MPI),
    Study("gauss-seidel", "--runtimes weft --only pure-mpi,interop-blk,interop-nonblk --rounds 3", needs=MPI),
    Study("ifsker", "--rounds 3", needs=MPI),
    Study("hpl", "--rounds 3", needs=(*MPI, "scripts/setup-hpl")),
    Study("collectives", "--rounds 1 --ranks 2,8", needs=MPI),
    Study("rwlock", "--rounds 3"),
    Study("kv", "--only stores --rounds 3", needs=("scripts/setup-kv",)),
    Study("numa", "--guest", needs=("scripts/setup-numa",)),
    Study("numa-cost", "--rounds 3 --passes 12"),
    Study("python", "--rounds 2", needs=("scripts/setup-bench-python --torch",)),
)


def _parse(words: list[str]) -> argparse.Namespace:
    names = ", ".join(study.name for study in STUDIES)
    parser = argparse.ArgumentParser(
        prog="bench/run everything", description=f"Runs every study, one after the other: hours. They are {names}."
    )
    parser.add_argument("studies", nargs="*", metavar="STUDY", help="these only")
    parser.add_argument(
        "--set-up", action="store_true", help="install what they need, before weft is built, and run none"
    )
    parser.add_argument("--print", action="store_true", help="print the commands and run none")
    arguments = parser.parse_args(words)
    unknown = set(arguments.studies) - {study.name for study in STUDIES}
    if unknown:
        parser.error(f"{', '.join(sorted(unknown))}: no such study; there are {names}")
    return arguments


def main(root: pathlib.Path, words: list[str]) -> int:
    arguments = _parse(words)
    chosen = [study for study in STUDIES if not arguments.studies or study.name in arguments.studies]
    if arguments.set_up:
        commands = list(dict.fromkeys(script for study in chosen for script in study.needs))
    else:
        commands = [command for study in chosen for command in (*study.made_by, " ".join(study.command()))]
    failed = []
    for command in commands:
        print(command, flush=True)
        if not arguments.print and subprocess.run(command.split(), cwd=root, check=False).returncode != 0:
            failed.append(command)
    if failed:
        print("bench/run everything: what has failed:", *failed, sep="\n  ", file=sys.stderr)
    return 1 if failed else 0
