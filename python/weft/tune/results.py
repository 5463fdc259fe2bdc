# SPDX-License-Identifier: Apache-2.0
"""The folder of results. A run writes over what weft tune has written there, and over nothing else."""

from __future__ import annotations

import hashlib
import json
import os
import pathlib
from collections.abc import Iterable

from .faults import Fault, usage
from .files import read

# In the first lines of files that may have comments.
MARK = "# Written by weft tune"
_ELSEWHERE = "move it away, or name another folder: -o FOLDER"


def hash_of(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def replace(file: pathlib.Path, text: str) -> None:
    """Whole or not at all: a run may be ended at any time."""
    new = file.with_name(f".{file.name}.new")
    try:
        # What others may have put there is neither written nor followed.
        new.unlink(missing_ok=True)
        with new.open("x", encoding="utf-8") as out:
            out.write(text)
        os.replace(new, file)
    except OSError as error:
        raise Fault(f"{file}: {error.strerror}") from None
    finally:
        new.unlink(missing_ok=True)


def _text(file: pathlib.Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return ""


def recorded_hash(record: pathlib.Path) -> str:
    """Of the decision file that belongs to these measurements; JSON has no comments to put a mark in."""
    try:
        return str(json.loads(_text(record)).get("decision", ""))
    except (OSError, ValueError, AttributeError):
        return ""


def is_own(file: pathlib.Path, record: pathlib.Path) -> bool:
    text = _text(file)
    return any(line.startswith(MARK) for line in text.splitlines()[:2]) or hash_of(text) == recorded_hash(record)


def check_record(record: pathlib.Path) -> None:
    if record.exists() and '"weft tune ' not in _text(record)[:40]:
        raise usage(f"{record} is there and has no measurements of weft tune; {_ELSEWHERE}")


def check_decision(file: pathlib.Path, record: pathlib.Path, measured: Iterable[tuple[str, int]]) -> None:
    """Before a run that measures these operations and ranks."""
    if not file.exists():
        return
    if not is_own(file, record):
        raise usage(f"{file} is there and was not written by weft tune; {_ELSEWHERE}")
    try:
        tables = read(file).tables
    except Fault:
        return
    have = {(table.operation, table.ranks) for table in tables if any(rule.algorithm for rule in table.rules)}
    lost = ", ".join(f"{name} ({ranks} ranks)" for name, ranks in sorted(have - set(measured)))
    if lost:
        raise usage(
            f"{file} has rules of an earlier run for {lost}, which this run does not measure; measure them again too "
            f"(--only, -n), or {_ELSEWHERE}"
        )
