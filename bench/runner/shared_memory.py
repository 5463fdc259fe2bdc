# SPDX-License-Identifier: Apache-2.0
"""What the benchmarks of locks and stores between processes share: options, and one run of a program."""

import argparse
import json
import os
import pathlib
import subprocess
from collections.abc import Sequence
from typing import Any

from .process import OWN_VARIABLES, TIMEOUT_S, Failure
from .terminal import positive


def parser(name: str, description: str, root: pathlib.Path) -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(prog=f"bench/run {name}", description=description)
    made.add_argument("--smoke", action="store_true", help="one round of little: does it run at all")
    made.add_argument("--build", type=pathlib.Path, default=root / "build/release", help="the build to measure")
    made.add_argument("--rounds", type=positive, default=5, help="how often each is measured, in turn (default 5)")
    made.add_argument("--milliseconds", type=positive, help="of each measurement (default 200)")
    made.add_argument("--out", type=pathlib.Path, help="folder of the results (default bench/results/DATE)")
    made.add_argument("--no-plots", action="store_true")
    return made


def complete(arguments: argparse.Namespace) -> argparse.Namespace:
    arguments.build = arguments.build.absolute()
    arguments.rounds = 1 if arguments.smoke else arguments.rounds
    arguments.milliseconds = arguments.milliseconds or (10 if arguments.smoke else 200)
    return arguments


def numbers(text: str) -> list[int]:
    return [positive(part) for part in text.split(",")]


def environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith(OWN_VARIABLES)}


class Programs:
    """Runs them; what has failed once is not tried again."""

    def __init__(self, build: pathlib.Path) -> None:
        self.build = build
        self.failures: list[Failure] = []

    def path(self, name: str) -> pathlib.Path:
        return self.build / "bench" / name

    def run(self, what: str, command: Sequence[object], variables: dict[str, str] | None = None) -> dict[str, Any]:
        """The JSON that the program wrote; empty: it failed, now or before, and is listed in `failures`."""
        words = [str(part) for part in command]
        shown = " ".join(words)
        if any((failure.runtime, failure.command) == (what, shown) for failure in self.failures):
            return {}
        reason = ""
        try:
            done = subprocess.run(
                words,
                env=environment() | (variables or {}),
                capture_output=True,
                text=True,
                timeout=TIMEOUT_S,
                check=False,
            )
            if done.returncode == 0:
                return json.loads(done.stdout)
            reason = f"exit status {done.returncode} {done.stderr.strip()[-300:]}".strip()
        except subprocess.TimeoutExpired:
            reason = f"no end after {TIMEOUT_S} s"
        except json.JSONDecodeError as error:
            reason = f"no JSON on stdout: {error}"
        except OSError as error:
            reason = f"{error.strerror}: {words[0]}"
        self.failures.append(Failure(what, shown, reason))
        return {}
