# SPDX-License-Identifier: Apache-2.0
"""The command line of `python -m weft`. Without argparse, which would take as long to load as all the rest does."""

from weft._files import check_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

# Name, what its value is called ("" for none), what it is for. A row's last name is its key in what parse() returns.
OPTIONS = (
    (("--mode",), "MODE", "how they share the CPUs: dynamic (default), static, exclusive, counting"),
    (("-f", "--factor"), "F", "with --mode static: threads of a worker = F x CPUs / workers"),
    (("--node",), "", "share the CPUs with other processes that were given --node"),
    (("--weight",), "W", "share of the CPUs beside those processes (default: 100)"),
    (("--cpus",), "N", "CPUs to use at once (default: what affinity and cgroup allow)"),
    (("--numa",), "MODE", "on which NUMA nodes memory and threads are (see weft run --help)"),
    (("--mpi",), "", "a blocking call of MPI pauses its task, and the CPU does other work meanwhile"),
    (("--collectives",), "", "MPI's collectives among ranks of one node by weft, through memory that they share"),
    (("--set",), "NAME=VALUE", "in the program's environment; may be repeated"),
    (("--library",), "FILE", "run on this runtime library"),
    (("--preload",), "", "load weft by LD_PRELOAD; the default redirects every OpenMP runtime by LD_AUDIT"),
    (("--reproducible",), "", "the same bits from each call of OpenBLAS and each reduction by clang"),
    (("--stats",), "", "print at exit, on stderr, what ran on weft (--stats=all: all counters)"),
    (("--explain",), "", "print at exit, on stderr, every pool of threads and its state"),
    (("--explain-json",), "FILE", "the same as JSON, into a file"),
    (("--report",), "PAGE", "say where the time went: a page, and a summary on stderr (see weft report --help)"),
    (("--notebook",), "", "have the recorder wait for %%weft and weft.report() to begin"),
    (("--install-kernel",), "", "make the Jupyter kernel `Python 3 (weft)` for this Python, and end"),
    (("--version",), "", "print weft's version and end"),
    (("-h", "--help"), "", "print this and end"),
)
_ROW = {name: row for row in OPTIONS for name in row[0]}
# Those that the command does: it has placed memory, and knows where libraries are, before there is a Python.
OF_COMMAND = ("--numa", "--mpi", "--collectives", "--set", "--library", "--preload")

USAGE = """usage: python -m weft [OPTIONS] app.py [ARGUMENTS...]
       python -m weft [OPTIONS] -m module [ARGUMENTS...]
       python -m weft [OPTIONS] -c code [ARGUMENTS...]

Runs a Python program whose parallel libraries share one pool of threads.
"""


def help_text() -> str:
    """For --help."""
    rows = [(", ".join(f"{name} {value}".rstrip() for name in names), what) for names, value, what in OPTIONS]
    return "\n".join([USAGE, "options:", *(f"  {left:24} {what}" for left, what in rows)])


def parse(arguments: "Sequence[str]") -> "tuple[dict[str, str], list[str], list[str]]":
    """weft's options by name, "" for those without a value; the words of those that the command does; and the program
    with its arguments as Python takes them.

    Raises ValueError, with a text for the user.
    """
    found: dict[str, str] = {}
    of_command: list[str] = []
    i = 0
    while i < len(arguments):
        word = arguments[i]
        if word == "--":
            return found, of_command, list(arguments[i + 1 :])
        is_program = not word.startswith("-") or word == "-" or word[:2] in ("-m", "-c")
        if is_program:
            break
        i += 1
        # --mode=static and -f2
        long = word.startswith("--")
        name, separator, value = word.partition("=") if long else (word[:2], word[2:], word[2:])
        if name not in _ROW:
            raise ValueError(f"{word}: no such option; see python -m weft --help")
        names, wanted, _ = _ROW[name]
        if separator and not wanted and word != "--stats=all":
            raise ValueError(f"{word}: {name} takes no value")
        if wanted and not separator:
            if i == len(arguments):
                raise ValueError(f"{name}: {wanted} is wanted behind it; see python -m weft --help")
            value = arguments[i]
            i += 1
        if wanted in ("FILE", "PAGE"):
            if name in found:
                raise ValueError(f"{name}: is given twice; leave one out")
            # As by weft report, the page may go to stdout.
            if value != "-" or wanted != "PAGE":
                check_name(name, value)
        found[names[-1]] = value
        if name in OF_COMMAND:
            of_command += [name, value] if wanted else [name]
    return found, of_command, list(arguments[i:])


def number(found: "dict[str, str]", name: str, kind: type) -> "int | float | None":
    """The value of an option that was given; None when it was not. Raises ValueError, with a text for the user."""
    if name not in found:
        return None
    try:
        return kind(found[name])
    except ValueError:
        what = "a whole number" if kind is int else "a number"
        raise ValueError(f"{name[2:]} {found[name]!r}: {what} is wanted") from None
