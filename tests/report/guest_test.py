#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`weft report` on a machine with two NUMA nodes, which an emulator makes: memory that lies on one of them is found,
and memory that does not is not.

WEFT_BUILD_DIR is the build. scripts/setup-numa fetches the emulator.
"""

from __future__ import annotations

import json
import os
import pathlib
import re
import sys
import tempfile
import unittest

import planted

sys.path.insert(0, str(planted.HERE.parent / "numa/guest"))
import guest

BUILD = pathlib.Path(os.environ.get("WEFT_BUILD_DIR", planted.HERE.parents[1] / "build/release"))
LIBRARIES = BUILD / "lib/weft"
WEFT = BUILD / "bin/weft"
PARTS = ("libgomp.so.1", "libweft-audit.so", "libweft-observe.so", "report/report-page.html")
# The command loads libdw where it is, to name lines of sources.
LIBDW = sorted(pathlib.Path("/usr/lib").glob("*/libdw.so.1"))[:1]
FILES = [WEFT, *(LIBRARIES / part for part in PARTS), *LIBDW]


class OneNode(unittest.TestCase):
    """Both variants, in one guest."""

    @classmethod
    def setUpClass(cls) -> None:
        folder = tempfile.TemporaryDirectory(prefix="weft-report-")
        cls.addClassCleanup(folder.cleanup)
        cls.program = planted.read(planted.FOLDER / "one_node.c")
        builder = planted.Builder(pathlib.Path(folder.name))
        programs = {
            "planted": builder.command(cls.program, "gcc"),
            "fixed": builder.command(cls.program, "gcc", fixed=True),
        }
        settings = " ".join(f"{name}={value}" for name, value in cls.program.environment.items())
        script = "echo 0 > /proc/sys/kernel/numa_balancing\necho never > /sys/kernel/mm/transparent_hugepage/enabled\n"
        for name, command in programs.items():
            script += (
                f"{settings} {WEFT} report --json /tmp/report --output /tmp/page.html -- {' '.join(command)} "
                f"> /tmp/said 2>&1 || cat /tmp/said\necho '[[{name}]]'; cat /tmp/report; echo '[[end]]'\n"
            )
        files = FILES + [pathlib.Path(command[0]) for command in programs.values()]
        _, cls.printed = guest.run(script, files, timeout=600)

    def report(self, name: str) -> dict:
        found = re.search(rf"\[\[{name}\]\]\s*(\{{.*?\}})\s*\[\[end\]\]", self.printed, re.S)
        self.assertIsNotNone(found, self.printed[-3000:])
        return json.loads(found[1])

    def test_memory_on_one_node_is_found(self) -> None:
        report = self.report("planted")
        given = [advice for advice in report["advice"] if advice["kind"] == self.program.fault]
        self.assertEqual(len(given), 1, planted.described(report))
        place = report["sites"][given[0]["site"]]["place"]
        self.assertTrue(self.program.is_marked(place), f"{place}\n{planted.described(report)}")

    def test_memory_that_threads_have_initialised_is_right(self) -> None:
        report = self.report("fixed")
        self.assertEqual(report["run"]["memory_nodes"], 2)
        self.assertNotIn(self.program.fault, [advice["kind"] for advice in report["advice"]], planted.described(report))


if __name__ == "__main__":
    try:
        guest.machine(2, 4, 2048, "tcg")
    except guest.NoGuest as missing:
        print(missing, file=sys.stderr)
        sys.exit(77)
    unittest.main(verbosity=2)
