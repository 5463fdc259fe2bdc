# SPDX-License-Identifier: Apache-2.0
"""The command line. `weft tune` has looked at it already and prints the help; the first argument is the folder of the
measuring programs."""

from __future__ import annotations

import argparse
import signal
import sys

from .console import warn
from .faults import FAILED, Fault, usage

_INTERRUPTED = 130


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> None:  # type: ignore[override]
        raise usage(f"{message}; see weft tune --help")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(add_help=False)
    commands = parser.add_subparsers(dest="command", required=True, parser_class=_Parser)
    jobs = argparse.ArgumentParser(add_help=False)
    jobs.add_argument("-n", "--ranks")
    jobs.add_argument("--for", dest="mpi", choices=("openmpi", "mpich"))
    jobs.add_argument("--launcher")
    jobs.add_argument("--only")
    jobs.add_argument("--sizes")
    collectives = commands.add_parser("collectives", parents=[jobs], add_help=False)
    collectives.add_argument("--budget", default="5m")
    collectives.add_argument("-o", "--output", default="weft-tune")
    collectives.add_argument("--format", choices=("text", "json"))
    for flag in ("--own", "--all", "--paper"):
        collectives.add_argument(flag, action="store_true")
    check = commands.add_parser("check", parents=[jobs], add_help=False)
    check.add_argument("file")
    check.add_argument("--budget", default="1m")
    check.add_argument("--measure", action="store_true")
    explain = commands.add_parser("explain", parents=[jobs], add_help=False)
    explain.add_argument("--budget", default="30s")
    explain.add_argument("--from", dest="record")
    return parser


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


def main(arguments: list[str]) -> int:
    signal.signal(signal.SIGTERM, _interrupt)
    # Under nohup the run goes on without its terminal.
    if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:
        signal.signal(signal.SIGHUP, _interrupt)
    try:
        folder, *rest = arguments
        options = _parser().parse_args(rest)
        if options.command == "collectives":
            from .collectives import run
        elif options.command == "check":
            from .check import run
        else:
            from .explain import run
        return run(options, folder)
    except Fault as fault:
        warn(str(fault))
        return fault.code
    except KeyboardInterrupt:
        warn("interrupted")
        return _INTERRUPTED
    except BrokenPipeError:
        sys.stderr.close()
        return FAILED
    except OSError as error:
        warn(f"{error.filename}: {error.strerror}" if error.filename else f"{error.strerror or error}")
        return FAILED
