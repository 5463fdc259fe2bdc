# SPDX-License-Identifier: Apache-2.0
"""Options as data, those that several studies have, and values of options."""

import argparse
import pathlib
from collections.abc import Callable, Collection, Iterable
from typing import Any, NamedTuple

from . import runtimes


class Option(NamedTuple):
    name: str
    about: str  # --help adds the default, unless this says what it is
    type: Callable[[str], Any] | None = None  # None: it has no value
    default: Any = None
    several: bool = False  # an argument without a name, any number of them

    def add(self, parser: argparse.ArgumentParser) -> None:
        if self.type is None:
            parser.add_argument(self.name, action="store_true", help=self.about)
        elif self.several:
            parser.add_argument(self.name, nargs="*", type=self.type, help=self.about)
        else:
            parser.add_argument(self.name, type=self.type, default=self.default, help=self.help())

    def help(self) -> str:
        usual = f" (default {self.default})" if self.default and "default" not in self.about else ""
        return f"{self.about}{usual}"


def positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError("a number from 1 is wanted")
    return value


def numbers(text: str) -> list[int]:
    try:
        return [positive(word) for word in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(f"numbers from 1 are wanted, {LISTED}") from None


def names(text: str) -> list[str]:
    return [word for word in text.split(",") if word]


def check(parser: argparse.ArgumentParser, option: str, given: Iterable[str], known: Collection[str]) -> None:
    """Ends with a message where an unknown name was given."""
    if unknown := sorted(set(given) - set(known)):
        parser.error(f"{option} {', '.join(unknown)}: there are {', '.join(known)}")


LISTED = "with commas between"
RUNTIMES = Option(
    "--runtimes", f"names, {LISTED}; there are {', '.join(runtimes.KNOWN)}", names, ",".join(runtimes.DEFAULT)
)
BEFORE = Option("--before", "another build of weft, which is measured too", pathlib.Path)


def repeat(usual: str) -> Option:
    return Option("--repeat", f"samples of each process (default: {usual})", positive)


def only(about: str) -> Option:
    return Option("--only", about, names, "")


def timeout(seconds: int) -> Option:
    return Option("--timeout", "seconds after which a job hangs", positive, seconds)
