# SPDX-License-Identifier: Apache-2.0
"""Results as JSON, with every sample, and as CSV, with medians."""

import csv
import json
import pathlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any


def write_json(folder: pathlib.Path, name: str, data: Mapping[str, Any]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.json").write_text(json.dumps(data, indent=1) + "\n")


def write_csv(folder: pathlib.Path, name: str, columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> None:
    """Of each row what has a column."""
    with (folder / f"{name}.csv").open("w", newline="") as file:
        out = csv.DictWriter(file, columns, extrasaction="ignore")
        out.writeheader()
        out.writerows(rows)
