# SPDX-License-Identifier: Apache-2.0
"""The folder of results: only weft tune's own files are written over, and no rules are lost."""

import pathlib
import tempfile
import unittest

from tune import mpich_rules, openmpi_rules, results, weft_rules
from tune.decision import Rule, Table
from tune.faults import USAGE, Fault
from tune.record import Record

TABLES = [Table("bcast", 4, [Rule(0, 1, "basic_linear")])]


class ResultsTest(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.file = self.folder / "openmpi.conf"
        self.record = self.folder / "openmpi.measured.json"

    def refused(self, *measured: tuple[str, int]) -> str:
        """The reason; empty: it may be written over."""
        try:
            results.check_decision(self.file, self.record, measured)
        except Fault as fault:
            self.assertEqual(fault.code, USAGE)
            return str(fault)
        return ""

    def test_files_of_others(self) -> None:
        self.assertEqual(self.refused(), "")
        for text in ("1\n7\n1\n4\n1\n0 1 0 0\n", "# mine\n", "", weft_rules.HEAD + "\nbcast 4 0 weft\n", "\xff"):
            self.file.write_text(text, encoding="latin-1")
            self.assertIn("was not written by weft tune", self.refused(("bcast", 4)))

    def test_links_are_not_followed(self) -> None:
        """At the name of the file that takes the place of the older one."""
        elsewhere = self.folder / "elsewhere"
        elsewhere.write_text("precious")
        (self.folder / f".{self.file.name}.new").symlink_to(elsewhere)
        results.replace(self.file, "1\n")
        self.assertEqual((self.file.read_text(), elsewhere.read_text()), ("1\n", "precious"))
        self.assertFalse(self.file.is_symlink())
        self.assertEqual(set(self.folder.iterdir()), {self.file, elsewhere})

    def test_own_files(self) -> None:
        title = "Written by weft tune collectives for Open MPI 4.1.4, 4 ranks"
        for text in (openmpi_rules.write(TABLES, title), weft_rules.write(TABLES)):
            self.file.write_text(text)
            self.assertEqual(self.refused(("bcast", 4), ("reduce", 4)), "")
            self.assertIn("bcast (4 ranks)", self.refused(("bcast", 2), ("reduce", 4)))

    def test_json_is_known_by_its_record(self) -> None:
        text = mpich_rules.write(TABLES, {"collective=bcast": {"comm_type=intra": {"algorithm=x": {}}}})
        self.file.write_text(text)
        self.assertIn("was not written", self.refused(("bcast", 4)))
        Record({"decision": results.hash_of(text)}).write(self.record)
        self.assertEqual(self.refused(("bcast", 4)), "")
        self.file.write_text(text + " ")
        self.assertIn("was not written", self.refused(("bcast", 4)))

    def test_records(self) -> None:
        results.check_record(self.record)
        Record().write(self.record)
        results.check_record(self.record)
        self.record.write_text('{"format": "something else"}')
        with self.assertRaises(Fault):
            results.check_record(self.record)

    def test_replaced_as_a_whole(self) -> None:
        results.replace(self.file, "one")
        results.replace(self.file, "two")
        self.assertEqual([(file.name, file.read_text()) for file in self.folder.iterdir()], [("openmpi.conf", "two")])


if __name__ == "__main__":
    unittest.main()
