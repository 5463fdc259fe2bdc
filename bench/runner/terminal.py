# SPDX-License-Identifier: Apache-2.0
"""What the command lines of bench/run share: numbers as arguments, where results go, console, progress bar."""

import argparse
import datetime
import pathlib

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

WIDTH = 190  # of tables that go to a file


def positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError("a number from 1 is wanted")
    return value


def stamp() -> str:
    return datetime.datetime.now(tz=datetime.UTC).strftime("%Y-%m-%d-%H%M%S")


def results_folder(root: pathlib.Path, out: pathlib.Path | None, date: str) -> pathlib.Path:
    return (out or root / "bench/results" / date).absolute()


def console() -> Console:
    made = Console()
    return made if made.is_terminal else Console(width=WIDTH)


def progress(shown_on: Console) -> Progress:
    columns = (TextColumn("{task.description:56.56}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    return Progress(*columns, console=shown_on, transient=True)
