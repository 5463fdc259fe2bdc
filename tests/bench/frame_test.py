# SPDX-License-Identifier: Apache-2.0
"""The frame of bench/run: the order of measurements, median and spread, JSON and CSV; no circles of files."""

import argparse
import ast
import contextlib
import csv
import graphlib
import importlib
import importlib.util
import io
import json
import os
import pathlib
import re
import sys
import tempfile
import unittest
from collections.abc import Iterator
from functools import partial

ROOT = pathlib.Path(__file__).resolve().parents[2]
BENCH = ROOT / "bench"
if importlib.util.find_spec("rich") is None:
    python = ROOT / ".venv/bin/python"  # of scripts/setup-bench
    if not python.exists() or pathlib.Path(sys.prefix) == python.parents[1]:
        print("skipped: rich is not there (scripts/setup-bench)")
        sys.exit(77)
    os.execv(python, [str(python), "-B", *sys.argv])
sys.path.insert(0, str(BENCH))
from runner import studies, together  # noqa: E402
from runner.frame import options, study  # noqa: E402
from runner.frame.comparison import Comparison  # noqa: E402
from runner.frame.samples import Samples  # noqa: E402
from runner.frame.spread import short, summary, with_extremes, with_range  # noqa: E402
from runner.frame.study import Study, Turn, in_turn  # noqa: E402
from runner.frame.verdict import Verdict  # noqa: E402

ECHO = "import json, sys; print(json.dumps({'time': {'unit': 'ns', 'samples': [float(sys.argv[1])]}}))"


class Spread(unittest.TestCase):
    def test_median_and_eight_of_ten_samples(self) -> None:
        samples = [float(number) for number in (10, 0, 9, 1, 8, 2, 7, 3, 6, 4, 5)]
        self.assertEqual(summary(samples), {"median": 5.0, "p10": 1.0, "p90": 9.0, "samples": 11})
        self.assertEqual(summary([3.0, 1.0])["median"], 2.0)
        self.assertEqual(with_range(samples, ".0f"), "5 (1 .. 9)")
        self.assertEqual(with_extremes(samples, ".1f"), "5.0 (0.0 .. 10.0)")

    def test_numbers_are_short(self) -> None:
        found = [short(value) for value in (None, 0.12345, 12.345, 123.45, -1234567.8)]
        self.assertEqual(found, ["", "0.123", "12.3", "123", "-1,234,568"])


class SamplesInPlaces(unittest.TestCase):
    def setUp(self) -> None:
        self.samples = Samples()
        for series, value in (("weft", 3.0), ("libgomp", 6.0), ("libiomp5", 4.0)):
            self.samples.take("active", series, {"time": {"unit": "ns", "samples": [value, value]}, "threads": 2})

    def test_ratios(self) -> None:
        names = ["weft", "libgomp", "libiomp5"]
        found = [self.samples.ratio(names, "active", "time", against) for against in ("best", "libgomp", "", "other")]
        self.assertEqual(found, [0.75, 0.5, 3.0, None])
        self.assertIsNone(self.samples.ratio(names[1:], "active", "time", "best"))

    def test_json(self) -> None:
        row = {"measure": "time", "policy": "active", "runtime": "weft", "unit": "ns"}
        row |= {"median": 3.0, "p10": 3.0, "p90": 3.0, "samples": 2, "counted": [3.0, 3.0]}
        self.assertEqual(self.samples.as_json()[0], row)
        self.assertEqual(len(self.samples.as_json()), 3)

    def test_curves(self) -> None:
        for side in ("in", "out"):
            for size in (8, 64):
                self.samples.add("active", "weft", f"{side}_{size}", [1000.0 * size], "ns")
        found = self.samples.curves("active", r"(?P<side>\w+)_(?P<x>\d+)", 1e-3)
        self.assertEqual(found, {f"weft, {side}": {8: [8.0], 64: [64.0]} for side in ("in", "out")})


class Example(Study):
    """Of two series; the second one fails."""

    name, about = "an-example", "Measures nothing."

    def __init__(self, root: pathlib.Path) -> None:
        super().__init__(root)
        self.done: list[str] = []

    def turns(self) -> Iterator[Turn]:
        for series in ("a", "b"):
            yield series, partial(self._measure, series)

    def _measure(self, series: str) -> None:
        self.done.append(series)
        value = len(self.done) if series == "a" else "no number"
        self.samples.take("default", series, self.json_of(series, [sys.executable, "-c", ECHO, value]))

    def judge(self) -> list[Verdict]:
        return [Verdict("what", "time", self.samples.median("default", "a", "time") or 0.0, 1.0, "ns")]


class Frame(unittest.TestCase):
    def run_study(self, made: Study, *words: str) -> "tuple[int, str, pathlib.Path]":
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            status = study.main(made, [*words, "--out", str(folder / "results")])
        return status, said.getvalue(), folder / "results"

    def test_what_is_compared_is_measured_in_turn(self) -> None:
        turns = [(name, list) for name in "abc"]
        self.assertEqual("".join(name for name, _ in in_turn(3, iter(turns))), "abcabcabc")
        made = Example(ROOT)
        self.run_study(made, "--rounds", "2")
        self.assertEqual(made.done, ["a", "b", "a", "b"])

    def test_smoke_is_one_round_without_judgement(self) -> None:
        made = Example(ROOT)
        _, said, _ = self.run_study(made, "--smoke", "--rounds", "2")
        self.assertEqual(made.done, ["a", "b"])
        self.assertNotIn("targets", said)

    def test_results(self) -> None:
        status, said, folder = self.run_study(Example(ROOT), "--rounds", "3")
        data = json.loads((folder / "an_example.json").read_text())
        heads = ["date", "machine", "cpu_percent_of_others", "rounds", "targets", "failures", "results"]
        self.assertEqual(list(data), heads)
        self.assertEqual(set(data["machine"]), {"cpus", "model", "system"})
        self.assertEqual([row["counted"] for row in data["results"]], [[1.0, 3.0, 5.0]])
        target = {"what": "what", "measure": "time", "value": 3.0, "limit": 1.0, "unit": "ns", "met": False}
        self.assertEqual(data["targets"], [target])
        self.assertIn("0 of 1 targets met.", said)
        # What fails is tried once.
        self.assertEqual([failure["runtime"] for failure in data["failures"]], ["b"])
        self.assertIn("ValueError", data["failures"][0]["reason"])
        self.assertEqual(status, 1)
        with (folder / "an_example.csv").open() as file:
            rows = [(row["measure"], row["runtime"], row["median"]) for row in csv.DictReader(file)]
        self.assertEqual(rows, [("time", "a", "3.0")])

    def test_another_version_of_weft_is_no_target(self) -> None:
        made = Example(ROOT)
        parser = argparse.ArgumentParser()
        folder = self.enterContext(tempfile.TemporaryDirectory())
        given = {"build": ROOT, "smoke": False, "rounds": 1, "out": pathlib.Path(folder), "before": ROOT}
        with contextlib.redirect_stdout(io.StringIO()):
            study.run([made], parser, argparse.Namespace(**given))
        self.assertEqual(json.loads((pathlib.Path(folder) / "an_example.json").read_text())["targets"], [])

    def test_the_study_of_the_readme(self) -> None:
        code = re.search(r"```python\n(.*?)```", (BENCH / "README.md").read_text(), re.S)
        assert code
        names = {"Comparison": Comparison, "Verdict": Verdict, "partial": partial}
        exec(code[1], names)
        made = names["Sorting"](ROOT)
        made.arguments = argparse.Namespace(rounds=2, build=ROOT)
        self.assertEqual(made.plan(), [])
        made.samples.add("default", "weft", "sort_1000000", [1.0], "ns")
        self.assertEqual(made.judge(), [])


class Studies(unittest.TestCase):
    def test_each_has_the_options_of_all(self) -> None:
        for entry in studies.STUDIES:
            if entry.written:
                module, _, name = entry.written.rpartition(".")
                made = getattr(importlib.import_module(f"runner.{module}"), name)(ROOT)
                self.assertEqual(made.name, entry.name)
                said = io.StringIO()
                with contextlib.redirect_stdout(said), self.assertRaises(SystemExit) as end:
                    study.main(made, ["--help"])
                self.assertEqual(end.exception.code, 0)
                for option in ("--smoke", "--build", "--rounds", "--out"):
                    self.assertIn(option, said.getvalue(), entry.name)

    def test_the_others_have_one_command_line(self) -> None:
        self.assertEqual([entry.name for entry in studies.STUDIES if not entry.written], list(together.STUDIES))

    def test_unknown_names_are_refused(self) -> None:
        parser = argparse.ArgumentParser()
        options.check(parser, "--only", ["a"], ["a", "b"])
        said = io.StringIO()
        with contextlib.redirect_stderr(said), self.assertRaises(SystemExit):
            options.check(parser, "--only", ["a", "z"], ["a", "b"])
        self.assertIn("--only z: there are a, b", said.getvalue())

    def test_no_files_or_folders_include_each_other_in_circles(self) -> None:
        files = {path: self.included(path) for path in (BENCH / "runner").rglob("*.py")}
        self.assertGreater(sum(map(len, files.values())), 100)
        graphlib.TopologicalSorter(files).prepare()
        folders: dict[pathlib.Path, set[pathlib.Path]] = {path.parent: set() for path in files}
        for path, others in files.items():
            folders[path.parent] |= {other.parent for other in others} - {path.parent}
        graphlib.TopologicalSorter(folders).prepare()
        self.assertEqual(folders[BENCH / "runner/frame"], set())

    def included(self, path: pathlib.Path) -> "set[pathlib.Path]":
        found: set[pathlib.Path] = set()
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and node.level:
                folder = path.parents[node.level - 1] / (node.module or "").replace(".", "/")
                found |= {folder.with_suffix(".py")} | {folder / f"{name.name}.py" for name in node.names}
        return {file for file in found if file.exists()}


if __name__ == "__main__":
    unittest.main()
