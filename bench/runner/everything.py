# SPDX-License-Identifier: Apache-2.0
"""`bench/run everything`, which `make bench` calls: each study with the options of docs/reference/performance.md."""

import argparse
import pathlib
import subprocess
import sys

from .studies import STUDIES


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
