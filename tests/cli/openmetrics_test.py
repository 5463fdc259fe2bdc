# SPDX-License-Identifier: Apache-2.0
"""What `weft top --openmetrics` says, and its arguments. Others' parsers read the texts."""

import json
import pathlib
import re
import unittest

import own_node
from node_test import WAITER
from openmetrics_run import (
    OpenMetricsTest,
    by_pid,
    families,
    families_of_prometheus,
    samples,
)
from own_node import Program, segment, weft

ROOT = pathlib.Path(__file__).resolve().parents[2]
METRIC = re.compile(r"\bweft_(?:node|process|build)_\w+")

# By metric, what the same is in `weft top --json`.
OF_PROCESS = {
    "weft_process_slots_held": lambda row: row["slots"]["held"],
    "weft_process_slots_wanted": lambda row: row["slots"]["wanted"],
    "weft_process_slots_lent": lambda row: row["slots"]["lent"],
    "weft_process_cpus": lambda row: len(cpus_of(row)),
    "weft_process_weight": lambda row: row["weight"],
    "weft_process_threads": lambda row: row["threads"],
    "weft_process_regions_running": lambda row: row["regions_running"],
    "weft_process_regions_total": lambda row: row["regions"],
    "weft_process_waited_seconds_total": lambda row: row["waited_seconds"],
    "weft_process_slots_given_total": lambda row: row["given"],
    "weft_process_slots_received_total": lambda row: row["received"],
    "weft_process_tasks_pending": lambda row: row["messages"]["pending"],
    "weft_process_silent_seconds": lambda row: row["messages"]["silent_seconds"],
}
OF_NODE = {
    "weft_node_processes": len,
    "weft_node_cpus": lambda rows: len(set().union(*map(cpus_of, rows))),
    "weft_node_slots_held": lambda rows: sum(row["slots"]["held"] for row in rows),
    "weft_node_slots_wanted": lambda rows: sum(row["slots"]["wanted"] for row in rows),
    "weft_node_slots_lent": lambda rows: sum(row["slots"]["lent"] for row in rows),
    "weft_node_weight": lambda rows: sum(row["weight"] for row in rows),
    "weft_node_tasks_pending": lambda rows: sum(row["messages"]["pending"] for row in rows),
    "weft_node_silent_seconds": lambda rows: max((row["messages"]["silent_seconds"] for row in rows), default=0),
}


def cpus_of(row):
    cpus = set()
    for part in filter(None, row["cpus"].split(",")):
        first, _, last = part.partition("-")
        cpus |= set(range(int(first), int(last or first) + 1))
    return cpus


def rows():
    """The processes as `weft top --json` has them."""
    return {row["pid"]: row for row in json.loads(weft("top", "--json").stdout)["processes"]}


def steady(row):
    return {key: value for key, value in row.items() if key not in ("regions_per_second", "waiting")}


class Values(OpenMetricsTest):
    def metrics(self):
        done = weft("top", "--openmetrics", "-")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return families(done.stdout)

    def test_they_are_those_of_json(self):
        with (
            self.program("busy", WEFT_MODE="exclusive") as busy,
            self.program("idle", WEFT_WEIGHT="300") as idle,
        ):

            def same_before_and_after():
                before, found, after = rows(), self.metrics(), rows()
                if {pid: steady(row) for pid, row in before.items()} != {
                    pid: steady(row) for pid, row in after.items()
                }:
                    return None
                there = {busy.pid, idle.pid} <= before.keys() and before[busy.pid]["regions_running"] == 1
                if not there or before[busy.pid]["slots"]["held"] != 2 or before[idle.pid]["regions"] != 7:
                    return None
                return before, found

            before, found = self.eventually(same_before_and_after)
            self.assertEqual(before[busy.pid]["mode"], "exclusive")
            self.assertEqual(before[idle.pid]["weight"], 300)
            self.assertIsNone(before[idle.pid]["regions_running"])
            values = samples(found)
            for name, value_of in OF_PROCESS.items():
                wanted = {pid: value_of(row) for pid, row in before.items() if value_of(row) is not None}
                self.assertEqual(by_pid(values, name), wanted, name)
            for name, value_of in OF_NODE.items():
                self.assertEqual(values[name, ()], value_of(list(before.values())), name)
            modes = {int(sample.labels["pid"]): sample.labels["mode"] for sample in found["weft_process"].samples}
            self.assertEqual(modes, {pid: row["mode"] for pid, row in before.items()})
            for _, labels in values:
                if "pid" in dict(labels):
                    self.assertEqual(dict(labels)["command"], "steady")
            # Nothing else is said of them, and nothing is left out.
            said = {name for name, labels in values if name.startswith("weft_process_")} - {"weft_process_info"}
            self.assertEqual(said, set(OF_PROCESS))
            said = {name for name, _ in values if name.startswith("weft_node_")} - {"weft_node_readable"}
            self.assertEqual(said, set(OF_NODE))

    def test_pending_tasks(self):
        header = ROOT / "include/weft/task.h"
        waiter = self.build("waiter", WAITER.replace("TASK_H", str(header)))
        with Program([waiter, "event"], WEFT_NUM_CPUS="2") as program:
            self.eventually(
                lambda: rows().get(program.pid, {"messages": {"silent_seconds": 0}})["messages"]["silent_seconds"]
            )
            pid = program.pid

            # It is published every few milliseconds.
            def between():
                silent = [rows()[pid]["messages"]["silent_seconds"], None, 0]
                values = samples(self.metrics())
                silent[1] = by_pid(values, "weft_process_silent_seconds")[pid]
                silent[2] = rows()[pid]["messages"]["silent_seconds"]
                return values if silent[0] < silent[1] < silent[2] else None

            values = self.eventually(between)
            self.assertEqual(by_pid(values, "weft_process_tasks_pending")[pid], 1)
            self.assertEqual(rows()[pid]["messages"]["pending"], 1)
            self.assertGreaterEqual(
                values["weft_node_silent_seconds", ()], by_pid(values, "weft_process_silent_seconds")[pid]
            )

    def test_types_and_units(self):
        with self.program("idle"):
            found = self.metrics()
        self.assertEqual(found["weft_build"].type, "info")
        self.assertEqual(found["weft_process"].type, "info")
        for name, family in found.items():
            self.assertTrue(family.documentation.endswith("."), name)
            self.assertEqual(family.unit, "seconds" if name.endswith("_seconds") else "", name)
        counters = {name for name, family in found.items() if family.type == "counter"}
        self.assertEqual({f"{name}_total" for name in counters}, {x for x in OF_PROCESS if x.endswith("_total")})

    def test_version(self):
        (sample,) = self.metrics()["weft_build"].samples
        said = weft("--version").stdout.split()
        self.assertEqual(sample.labels["version"], said[1])
        self.assertEqual(sample.labels.get("commit", ""), said[2].strip("()") if len(said) > 2 else "")

    @unittest.skipUnless(own_node.is_own(), "other processes may share the node")
    def test_nobody(self):
        values = samples(self.metrics())
        self.assertEqual(values["weft_node_readable", ()], 1)
        self.assertEqual({name: values[name, ()] for name in OF_NODE}, dict.fromkeys(OF_NODE, 0))
        self.assertFalse([name for name, labels in values if "pid" in dict(labels)])

    def test_names_of_files(self):
        # Cut to 15 bytes, the last of which is half a character.
        name = 'a"\\{b}=,nwxyz é'
        self.assertEqual(name.encode()[:15][-1:], b"\xc3")
        link = self.folder / name
        link.symlink_to(self.steady)
        with Program([link, "idle"], WEFT_NUM_CPUS="2") as program:
            program.await_first_region()
            found = self.metrics()
            (label,) = {
                x.labels["command"] for x in found["weft_process"].samples if x.labels["pid"] == str(program.pid)
            }
            self.assertEqual(label, 'a"\\{b}=,nwxyz \N{REPLACEMENT CHARACTER}')
            self.assertEqual(label, rows()[program.pid]["command"])

    def test_any_bytes(self):
        """A name that another process has written is what it may."""
        odd = b'\n"\\\\n\xff\t\r{pid="1"} 5\n# EOF\n\x7f'
        link = self.folder / "found by it"
        link.symlink_to(self.steady)
        with Program([link, "idle"], WEFT_NUM_CPUS="2") as program:
            program.await_first_region()
            with open(segment(), "r+b") as file:
                content = file.read()
                start = content.index(b"found by it\0")
                self.assertEqual(content.count(b"found by it\0"), 1)
                file.seek(start)
                file.write(odd.ljust(32, b"x")[:32])
            # All of the room, whose last byte is that of the end.
            wanted = odd.ljust(32, b"x")[:31].decode(errors="replace")
            self.assertEqual(rows()[program.pid]["command"], wanted)
            for text, parse in zip(self.texts(), (families, families_of_prometheus)):
                values = samples(parse(text))
                of_process = [dict(labels) for name, labels in values if name == "weft_process_slots_held"]
                self.assertEqual(of_process, [{"pid": str(program.pid), "command": wanted}], text)


class Formats(OpenMetricsTest):
    def test_same_values(self):
        with self.program("idle"):
            # The slots that the regions had go back.
            self.eventually(lambda: all(row["slots"]["held"] == 0 for row in rows().values()))
            texts = self.texts()
            self.assertTrue(texts[0].endswith("\n# EOF\n"))
            self.assertNotIn("# EOF", texts[1])
            self.assertNotIn("# UNIT", texts[1])
            one, other = families(texts[0]), families_of_prometheus(texts[1])
            self.assertEqual(samples(one), samples(other))
            kinds = {"info": "gauge"}
            self.assertEqual(
                {
                    sample.name: kinds.get(family.type, family.type)
                    for family in one.values()
                    for sample in family.samples
                },
                {sample.name: family.type for family in other.values() for sample in family.samples},
            )


class Pages(OpenMetricsTest):
    def test_they_name_what_there_is(self):
        with self.program("idle", WEFT_MODE="counting"):
            known = {name for name, _ in samples(families(weft("top", "--openmetrics", "-").stdout))}
        dashboard = json.loads((ROOT / "examples/monitoring/weft-dashboard.json").read_text())
        shown = set()
        places = set()
        for panel in dashboard["panels"]:
            at = panel["gridPos"]
            squares = {(x, y) for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])}
            self.assertFalse(places & squares, panel["title"])
            places |= squares
            for target in panel["targets"]:
                shown |= set(METRIC.findall(target["expr"]))
        self.assertLessEqual({x for x, _ in places}, set(range(24)))
        self.assertGreater(len(shown), 10)
        self.assertLessEqual(shown, known)
        for page in "docs/how-to/share-a-node.md", "examples/monitoring/README.md":
            named = set(METRIC.findall((ROOT / page).read_text()))
            self.assertTrue(named)
            self.assertLessEqual(named, known, page)


class Arguments(unittest.TestCase):
    def test_wrong_places(self):
        no_port = "serves no port"
        for place, why in {
            "weft.txt": ".prom",
            ".prom": ".prom",
            "/tmp/.prom": ".prom",
            "/tmp/x:1": ".prom",
            "9810": no_port,
            ":9810": no_port,
            ":": no_port,
            "localhost:9810": no_port,
            "0.0.0.0:9810": no_port,
            "[::]:9810": no_port,
        }.items():
            done = weft("top", "--openmetrics", place)
            self.assertEqual((done.returncode, done.stdout), (2, ""), place)
            self.assertRegex(
                done.stderr, rf"^weft: --openmetrics: {re.escape(place)}: .*{re.escape(why)}.*weft top --help\n$"
            )

    def test_options_that_do_not_go_together(self):
        for options in ("--json",), ("--once", "--json"), ("--json", "x.json"):
            done = weft("top", "--openmetrics", "x.prom", *options)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn("--json", done.stderr)


if __name__ == "__main__":
    own_node.enter()
    unittest.main()
