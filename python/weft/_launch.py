# SPDX-License-Identifier: Apache-2.0
"""`python -m weft`: starts the same interpreter, with the flags it was given, on weft in place of this process.

So the program runs as by plain `python app.py`: its __main__, arguments, exit code, tracebacks and signals are its own.
"""

from __future__ import annotations

import argparse
import os
import sys

import weft
from weft._settings import MODES, Settings, store_launch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn

USAGE_ERROR = 2  # as Python's own

USAGE = """python -m weft [OPTIONS] app.py [ARGUMENTS...]
       python -m weft [OPTIONS] -m module [ARGUMENTS...]
       python -m weft [OPTIONS] -c code [ARGUMENTS...]"""


def fail(message: object) -> NoReturn:
    """One line, then the end."""
    print(f"weft: {message}", file=sys.stderr)
    sys.exit(USAGE_ERROR)


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        fail(f"{message}; see python -m weft --help")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="python -m weft",
        usage=USAGE,
        allow_abbrev=False,
        description="Runs a Python program whose parallel libraries share one pool of threads.",
    )
    add = parser.add_argument
    add("--mode", metavar="MODE", help=f"how they share the CPUs: {', '.join(MODES)} (default: dynamic)")
    add("-f", "--factor", type=float, metavar="F", help="with --mode static: threads of a worker = F x CPUs / workers")
    add("--node", action="store_true", default=None, help="share the CPUs with other processes that were given --node")
    add("--weight", type=int, metavar="W", help="share of the CPUs beside those processes (default: 100)")
    add("--cpus", type=int, metavar="N", help="CPUs to use at once (default: what affinity and cgroup allow)")
    add("--stats", action="store_true", default=None, help="print at exit, on stderr, what the runtime did")
    add("--explain", action="store_true", help="print at exit, on stderr, every pool of threads and its state")
    add("--explain-json", metavar="FILE", help="the same as JSON, into a file")
    add("--version", action="version", version=f"weft {weft.__version__}")
    return parser


def split(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """weft's options, and the program with its arguments as Python takes them."""
    values = {name for action in parser._actions if action.nargs is None for name in action.option_strings}
    i = 0
    while i < len(arguments) and arguments[i].startswith("-") and arguments[i] != "-":
        argument = arguments[i]
        if argument == "--":
            return list(arguments[:i]), list(arguments[i + 1 :])
        if argument.startswith(("-m", "-c")) and not argument.startswith("--"):
            return list(arguments[:i]), list(arguments[i:])
        i += 2 if argument in values else 1
    return list(arguments[:i]), list(arguments[i:])


def _interpreter(count: int) -> list[str]:
    """This interpreter's name and flags as they were typed; `count`: arguments behind `-m weft`."""
    with open("/proc/self/cmdline", "rb") as file:
        words = [os.fsdecode(word) for word in file.read().split(b"\0")[:-1]]
    words = words[: len(words) - count]
    if words[-1] == "weft":
        words.pop()
    elif words[-1].endswith("weft"):
        words[-1] = words[-1][: -len("weft")]
    # What stands last now is the -m, perhaps behind other letters, as in -Im.
    if len(words) < 2 or not words[-1].startswith("-") or not words[-1].endswith("m"):
        fail("start me as python -m weft")
    words[-1] = words[-1][:-1]
    return words if words[-1] != "-" else words[:-1]


def _check_program(program: Sequence[str]) -> None:
    """Ends this process where Python would only say what is wrong in terms of another command."""
    if not program:
        fail("which program? python -m weft app.py, -m module or -c code")
    if program[0] in ("-m", "-c") and len(program) == 1:
        fail(f"{program[0]}: {'a module' if program[0] == '-m' else 'code'} is wanted behind it")
    if program[0] != "-" and not program[0].startswith(("-m", "-c")) and not os.path.exists(program[0]):
        fail(f"{program[0]}: no such file; python -m weft app.py, or -m for a module")


def main() -> NoReturn:
    """Replaces this process by the program."""
    parser = _parser()
    own, program = split(parser, sys.argv[1:])
    options = parser.parse_args(own)
    if not sys.executable:
        fail("this Python does not know where it lies (sys.executable is empty): call it by its path")
    environment = os.environ.copy()
    try:
        Settings(
            mode=options.mode,
            node=options.node,
            weight=options.weight,
            cpus=options.cpus,
            stats=options.stats,
            factor=options.factor,
        ).store(environment)
        store_launch(environment)
    except (OSError, ValueError) as error:
        fail(error)
    _check_program(program)
    explain = options.explain or options.explain_json
    deaf = sys.flags.ignore_environment or sys.flags.no_site
    if deaf and (explain or options.mode == "static"):
        fail("--explain and --mode static need Python's environment: leave out its flags -E, -I and -S")
    if explain:
        # exec keeps the process's number: only this process reports.
        file = os.path.abspath(options.explain_json) if options.explain_json else ""
        environment["WEFT_EXPLAIN"] = f"{os.getpid()}:{file}"
    try:
        os.execve(sys.executable, [*_interpreter(len(sys.argv) - 1), *program], environment)
    except OSError as error:
        fail(f"{sys.executable}: {error.strerror}")
