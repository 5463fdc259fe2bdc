# SPDX-License-Identifier: Apache-2.0
"""Pictures and the progress bar, where matplotlib and rich are there (scripts/setup-bench); else exit code 77."""

import pathlib
import sys
import tempfile
import unittest

try:
    import matplotlib  # noqa: F401
    import rich  # noqa: F401
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

from tune import console, plots
from tune.record import Record, read
from tune.ways import DEFAULT, WEFT, Way


def record() -> Record:
    made = Record({"mpi": {"family": "openmpi", "version": "4.1.4"}})
    for size, scale in ((8, 1.0), (1024, 3.0), (65536, 40.0)):
        for way, factor in ((DEFAULT, 1.0), (Way("ring", algorithm=4), 0.5), (WEFT, 0.7)):
            times = [1000 * scale * factor * (1 + i / 50) for i in range(20)]
            made.add((4, "allgather", size), way, times, 100.0, "")
    made.add((4, "barrier", 0), DEFAULT, [500.0], 0.0, "")
    return made


class PicturesTest(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def test_both_forms(self) -> None:
        chosen = {(4, "allgather", 8): "default", (4, "allgather", 1024): "ring", (4, "allgather", 65536): "ring"}
        files = plots.draw(record(), chosen, self.folder)
        # A line through one size says nothing, so that barrier has none.
        self.assertEqual([file.name for file in files], ["allgather-4.png"])
        self.assertTrue(files[0].read_bytes().startswith(b"\x89PNG"))
        self.assertIn("<svg", (self.folder / "allgather-4.svg").read_text())
        self.assertTrue(plots.draw(record(), {}, self.folder, paper=True))

    def test_measurements_are_read_back(self) -> None:
        file = self.folder / "measured.json"
        record().write(file)
        found = read(file)
        self.assertEqual(found.estimates((4, "allgather", 8)), record().estimates((4, "allgather", 8)))
        self.assertEqual(found.ways, record().ways)

    def test_bar(self) -> None:
        bar = console._bar()
        with bar:
            bar.update(bar.add_task("round 1", total=10), completed=5)


if __name__ == "__main__":
    unittest.main()
