# SPDX-License-Identifier: Apache-2.0
"""`python -m weft`: starts the same interpreter, with the flags it was given, on weft in place of this process.

So the program runs as by plain `python app.py`: its __main__, arguments, exit code, tracebacks and signals are its own.
"""

import os
import sys

from weft._files import check_output, command
from weft._options import help_text, number, parse
from weft._settings import Settings, linker_audits, store_launch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn

FAILED = 1
USAGE_ERROR = 2  # as Python's own


def fail(message: object, code: int = USAGE_ERROR) -> "NoReturn":
    """One line, then the end."""
    print(f"weft: {message}", file=sys.stderr)
    sys.exit(code)


def _interpreter(count: int) -> "list[str]":
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


def _check_program(program: "Sequence[str]") -> None:
    """Ends this process where Python would only say what is wrong in terms of another command."""
    if not program:
        fail("which program? python -m weft app.py, -m module or -c code")
    if program[0] in ("-m", "-c") and len(program) == 1:
        fail(f"{program[0]}: {'a module' if program[0] == '-m' else 'code'} is wanted behind it")
    if program[0] != "-" and not program[0].startswith(("-m", "-c")) and not os.path.exists(program[0]):
        fail(f"{program[0]}: no such file; python -m weft app.py, or -m for a module")


def _warn_of_cpus(cpus: int) -> None:
    """As the command does. Some want that, as to see how a program behaves with more CPUs."""
    usable = len(os.sched_getaffinity(0))
    print(
        f"weft: --cpus {cpus}: the program may use {usable} here (affinity mask); threads for more take turns on "
        f"{'it' if usable == 1 else 'them'}",
        file=sys.stderr,
    )


def _tell(text: str) -> "NoReturn":
    print(text)
    sys.exit()


def _settings(options: "dict[str, str]") -> Settings:
    return Settings(
        mode=options.get("--mode"),
        node=True if "--node" in options else None,
        weight=number(options, "--weight", int),
        cpus=number(options, "--cpus", int),
        stats=options["--stats"] or True if "--stats" in options else None,
        reproducible=True if "--reproducible" in options else None,
        factor=number(options, "--factor", float),
    )


def _install_kernel(program: "Sequence[str]") -> "NoReturn":
    from weft import _kernel

    if program:
        fail(f"{program[0]}: --install-kernel runs no program; leave it out")
    _tell(_kernel.install([word for word in sys.argv[1:] if word not in ("--install-kernel", "--notebook", "--")]))


def _by_command(words: "Sequence[str]", options: "Sequence[str]", page: "str | None") -> "list[str]":
    """The command that runs `words`, which call this interpreter, with options of its own.

    With a page it reports where the time went.
    """
    try:
        weft = command()
    except OSError as error:
        fail(error)
    done = ["run"] if page is None else ["report", "--output", page]
    return [weft, *done, *options, "--", sys.executable, *words[1:]]


def _is_command_asked() -> bool:
    """Whether variables say what the command reads before the program begins (`weft run --help`)."""
    threads = ("", "none", "compact", "spread", "local")
    numa = os.environ.get("WEFT_NUMA", "").strip().lower()
    return numa not in threads or any(os.environ.get(name) for name in ("WEFT_MPI", "WEFT_COLLECTIVES"))


def main() -> "NoReturn":
    """Replaces this process by the program."""
    environment = os.environ.copy()
    try:
        options, of_command, program = parse(sys.argv[1:])
        if "--preload" not in options and not linker_audits():
            options["--preload"] = ""
            of_command = [*of_command, "--preload"]
        if "--help" in options:
            _tell(help_text())
        if "--version" in options:
            from weft._version import WHOLE_VERSION

            _tell(f"weft {WHOLE_VERSION}")
        _settings(options).store(environment)
        if not sys.executable:
            fail("this Python does not know where it lies (sys.executable is empty): call it by its path")
        if "--install-kernel" in options:
            _install_kernel(program)
        store_launch(environment, audit="--preload" not in options)
    except (OSError, ValueError) as error:
        fail(error)
    _check_program(program)
    cpus = number(options, "--cpus", int)
    if cpus is not None and cpus > len(os.sched_getaffinity(0)):
        _warn_of_cpus(cpus)
    if "--stats" in options:
        # exec keeps the process's number: only this process says at exit that nothing of it ran on weft.
        environment["WEFT_RUN_PROCESS"] = str(os.getpid())
    explain = [name for name in ("--explain", "--explain-json") if name in options]
    hearing = [*explain, "--mode static"] if options.get("--mode") == "static" else explain
    if hearing and (sys.flags.ignore_environment or sys.flags.no_site):
        fail(f"{hearing[0]}: Python's environment is needed: leave out its flags -E, -I and -S")
    if explain:
        file = options.get("--explain-json", "")
        try:
            if file:
                check_output(file)
        except OSError as error:
            fail(f"--explain-json {error}", FAILED)
        # exec keeps the process's number: only this process reports.
        environment["WEFT_EXPLAIN"] = f"{os.getpid()}:{os.path.abspath(file) if file else ''}"
    if "--notebook" in options:
        if "--report" in options:
            fail("--notebook: --report records the whole program: leave out one of them")
        from weft import _recorder

        # exec keeps the process's number.
        _recorder.store_paused(environment)
    words = [*_interpreter(len(sys.argv) - 1), *program]
    start = sys.executable
    if "--report" in options or of_command or _is_command_asked():
        words = _by_command(words, of_command, options.get("--report"))
        start = words[0]
    try:
        os.execve(start, words, environment)
    except OSError as error:
        fail(f"{start}: {error.strerror}")
