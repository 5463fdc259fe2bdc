# SPDX-License-Identifier: Apache-2.0
"""One measurement: a fresh process, in an environment that holds nothing of the runner's own."""

import contextlib
import dataclasses
import json
import os
import pathlib
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

TIMEOUT_S = 180
OWN_VARIABLES = ("OMP_", "GOMP_", "KMP_", "WEFT_", "OPENBLAS_", "MKL_", "LD_")

Done = subprocess.CompletedProcess[str]


@dataclasses.dataclass(frozen=True)
class Failure:
    """A measurement that is no result: crash, time-out, another runtime than meant, or wrong numbers."""

    runtime: str
    command: str
    reason: str


def environment(without: tuple[str, ...] = OWN_VARIABLES) -> dict[str, str]:
    """What programs find, but for variables that begin so."""
    return {name: value for name, value in os.environ.items() if not name.startswith(without)}


def run(
    words: Sequence[str], variables: Mapping[str, str], timeout_s: float = TIMEOUT_S, folder: pathlib.Path | None = None
) -> Done:
    """Reads nothing; what it has written is in the result."""
    return subprocess.run(
        words,
        env=variables,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=timeout_s,
        check=False,
    )


def exit_status(status: int, said: str) -> str:
    return f"exit status {status} {said.strip()[-300:]}".strip()


def read_json(
    words: Sequence[str], variables: Mapping[str, str], check: Callable[[Done, dict[str, Any]], str] = lambda *_: ""
) -> tuple[dict[str, Any], str]:
    """The JSON that the program wrote, and why that is no result: what `check` says of it too."""
    try:
        done = run(words, variables)
        if done.returncode != 0:
            return {}, exit_status(done.returncode, done.stderr)
        result = json.loads(done.stdout)
    except subprocess.TimeoutExpired:
        return {}, f"no end after {TIMEOUT_S} s"
    except json.JSONDecodeError as error:
        return {}, f"no JSON on stdout: {error}"
    except OSError as error:
        return {}, f"{error.strerror}: {words[0]}"
    return result, check(done, result)


def make_python_package(build: pathlib.Path) -> tuple[pathlib.Path, str]:
    """A folder in which the package `weft` lies, with this build inside, as a wheel holds it; and what went wrong."""
    package = build / "python_tree"
    words = ["cmake", "--install", str(build), "--component", "python", "--prefix", str(package / "weft")]
    try:
        done = run(words, os.environ)
    except (OSError, subprocess.TimeoutExpired) as error:
        return package, str(error)
    return package, exit_status(done.returncode, done.stderr) if done.returncode != 0 else ""


@contextlib.contextmanager
def computing(processes: int) -> Iterator[None]:
    """So many processes compute meanwhile; if this one is killed, they end by themselves."""
    endless = f"import time\nend = time.monotonic() + {TIMEOUT_S}\nwhile time.monotonic() < end: pass"
    others = [subprocess.Popen([sys.executable, "-S", "-c", endless]) for _ in range(processes)]
    try:
        yield
    finally:
        for other in others:
            other.kill()
        for other in others:
            other.wait()
