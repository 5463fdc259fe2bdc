# SPDX-License-Identifier: Apache-2.0
"""What the user sees while it goes on: a bar by rich on a terminal, else a line now and then. All of it on stderr."""

from __future__ import annotations

import contextlib
import sys
import time
from types import TracebackType
from typing import Any

from . import units

_SECONDS_BETWEEN_LINES = 10.0


def say(text: str) -> None:
    print(text, flush=True)


def warn(text: str) -> None:
    print(f"weft: tune: {text}", file=sys.stderr, flush=True)


class Progress:
    """Time is what goes on: the budget is its whole."""

    def __init__(self, budget: float) -> None:
        self._budget = budget
        self._start = time.monotonic()
        self._said = self._start
        self._text = ""
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> Progress:
        if sys.stderr.isatty():
            with contextlib.suppress(ImportError):
                self._bar = _bar()
                self._task = self._bar.add_task("", total=self._budget)
                self._bar.start()
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        if self._bar is not None:
            self._bar.stop()

    def elapsed(self) -> float:
        return time.monotonic() - self._start

    def left(self) -> float:
        return self._budget - self.elapsed()

    def stage(self, text: str) -> None:
        self._text = text
        if self._bar is None:
            self._line()
        self.tick()

    def tick(self) -> None:
        if self._bar is not None:
            self._bar.update(self._task, description=self._text, completed=min(self.elapsed(), self._budget))
        elif time.monotonic() - self._said >= _SECONDS_BETWEEN_LINES:
            self._line()

    def _line(self) -> None:
        self._said = time.monotonic()
        elapsed, budget = units.seconds(self.elapsed()), units.seconds(self._budget)
        print(f"[{elapsed} of {budget}] {self._text}", file=sys.stderr, flush=True)


def _bar() -> Any:  # noqa: ANN401
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description:42.42}"), BarColumn(), TimeElapsedColumn(), TimeRemainingColumn())
    return Progress(*columns, console=Console(stderr=True), transient=True)
