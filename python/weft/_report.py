# SPDX-License-Identifier: Apache-2.0
"""weft.report(): where the time of a part of the program went."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile

from weft import _files
from weft._recorder import Recorder, recorder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType
    from typing import Any

_MINUTES = 10 * 60  # longer than any profile takes


class Report:
    """What has been found out: `summary`, `page` (HTML) and `data` (as `weft report --json` has it)."""

    def __init__(self, summary: str, page: str, data: dict[str, Any]) -> None:
        self.summary, self.page, self.data = summary, page, data

    def __repr__(self) -> str:
        return self.summary.rstrip("\n")


def _make(profile: str, output: str | None, json_file: str | None) -> Report:
    """The report of the profile in a folder."""
    data = os.path.join(profile, "report")
    words = [_files.command(), "report", "--profile", profile, "--output", output or "-", "--json", data]
    # The runtime of this process may have been preloaded, and is not the command's. Nor is the command a rank
    # (src/platform/launcher.cpp).
    skipped = ("LD_PRELOAD", "LD_AUDIT", "OMPI_", "PMI", "FLUX_TASK_", "SLURM_PROCID")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(skipped)}
    done = subprocess.run(
        words,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        env=environment,
        timeout=_MINUTES,
        check=False,
    )
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip() or f"{words[0]} report has ended with code {done.returncode}")
    with open(data, encoding="utf-8") as file:
        text = file.read()
    page = done.stdout
    if output:
        with open(output, encoding="utf-8") as file:
            page = file.read()
    if json_file:
        with open(json_file, "w", encoding="utf-8") as file:
            file.write(text)
    return Report(done.stderr, page, json.loads(text))


class Recording:
    """From begin() to end(). `output` and `json_file`: files to leave the page and the JSON in."""

    def __init__(self, title: str, output: str | None = None, json_file: str | None = None) -> None:
        """Raises NoRecorderError, or OSError for files that cannot be written."""
        for name in (output, json_file):
            if name is not None:
                _files.check_output(name)
        # The block may go to another folder.
        self._output, self._json = (None if name is None else os.path.abspath(name) for name in (output, json_file))
        self._title = title
        self._recorder: Recorder = recorder()
        self._process = 0

    def begin(self) -> None:
        """Raises RuntimeError where a recording runs already."""
        self._process = os.getpid()  # first, lest an interrupt leaves a recording that nobody ends
        try:
            self._recorder.begin()
        except RuntimeError:
            self._process = 0
            raise

    def cancel(self) -> None:
        """Leaves no report. Does nothing the second time, and in the child of a fork."""
        if self._process == os.getpid():
            self._process = 0
            self._recorder.cancel()

    def end(self) -> Report | None:
        """Raises RuntimeError where there is none. None: in the child of a fork, whose parent is recorded."""
        if self._process != os.getpid():
            return None
        folder = None
        try:
            folder = tempfile.mkdtemp(prefix="weft-report-")
            self._process = 0  # whatever comes of it, write() ends the recording
            self._recorder.write(folder, self._title)
            return _make(folder, self._output, self._json)
        except (OSError, subprocess.SubprocessError, ValueError) as error:
            raise RuntimeError(f"{type(error).__name__}: {error}") from error
        finally:
            self.cancel()
            if folder is not None:
                shutil.rmtree(folder, ignore_errors=True)


class report:
    """Where the time of a `with` block goes: `with weft.report("page.html"): ...`.

    The page and, with `json`, the figures are left in files; the summary goes to stderr unless `quiet`. Behind the
    block `result` of what `as` names is the Report. The program is to be started by `python -m weft --notebook`, or the
    first block to begin before OpenMP comes: NoRecorderError says so. A block that raises has no report.
    """

    def __init__(self, page: str | None = None, *, json: str | None = None, quiet: bool = False) -> None:
        self._recording = Recording(os.path.basename(sys.argv[0]) or "python", page, json)
        self._quiet = quiet
        self.result: Report | None = None

    def __enter__(self) -> report:
        self._recording.begin()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            return self._recording.cancel()
        self.result = self._recording.end()
        if self.result is not None and not self._quiet:
            sys.stderr.write(self.result.summary)
        return None
