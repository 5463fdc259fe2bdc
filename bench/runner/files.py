# SPDX-License-Identifier: Apache-2.0
"""Results as JSON, with every sample, and as CSV, with medians."""

import csv
import dataclasses
import json
import pathlib
from collections.abc import Iterable
from typing import Any

from .nested import Result
from .process import Failure, summary
from .targets import Samples, Verdict


def write_json(folder: pathlib.Path, name: str, data: dict[str, Any]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.json").write_text(json.dumps(data, indent=1) + "\n")


def _write_csv(folder: pathlib.Path, name: str, columns: list[str], rows: Iterable[Iterable[Any]]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / f"{name}.csv").open("w", newline="") as file:
        out = csv.writer(file)
        out.writerow(columns)
        out.writerows(rows)


def judged(verdicts: list[Verdict], failed: list[Failure]) -> dict[str, Any]:
    return {
        "targets": [dataclasses.asdict(verdict) | {"met": verdict.met} for verdict in verdicts],
        "failures": [dataclasses.asdict(failure) for failure in failed],
    }


def write_nested(folder: pathlib.Path, results: list[Result], about: dict[str, Any]) -> None:
    data: list[dict[str, Any]] = [
        {
            "problem": dataclasses.asdict(result.problem) | {"label": result.problem.label},
            "operations": result.operations,
            "serial": result.serial(),
            "times": [
                {
                    **{"runtime": name, "out": split[0], "in": split[1]},
                    **summary(samples),
                    "peak_threads": result.peak_threads[name, split],
                    "counted": samples,
                    "not_counted": result.early[name, split],
                }
                for (name, split), samples in result.times.items()
            ],
        }
        for result in results
    ]
    write_json(folder, "nested_blas", about | {"results": data})
    columns = ["problem", "runtime", "out", "in", "median_s", "p10_s", "p90_s", "gflops", "peak_threads"]
    rows = []
    for entry in data:
        for time in entry["times"]:
            gflops = 1e-9 * entry["operations"] / time["median"]
            values = [time[key] for key in ("runtime", "out", "in", "median", "p10", "p90")]
            rows.append([entry["problem"]["label"], *values, gflops, time["peak_threads"]])
    _write_csv(folder, "nested_blas", columns, rows)


def write_micro(
    folder: pathlib.Path, samples: Samples, units: dict[str, str], about: dict[str, Any], name: str = "micro"
) -> None:
    data = [
        {
            **{"measure": measure, "policy": policy, "runtime": runtime, "unit": units[measure]},
            **summary(taken),
            "counted": taken,
        }
        for (policy, runtime, measure), taken in samples.items()
        if taken
    ]
    write_json(folder, name, about | {"results": data})
    columns = ["measure", "policy", "runtime", "unit", "median", "p10", "p90"]
    _write_csv(folder, name, columns, ([entry[column] for column in columns] for entry in data))
