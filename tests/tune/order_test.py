# SPDX-License-Identifier: Apache-2.0
"""order_test.py PROGRAM: what may stand in Open MPI's rules is right for operators that do not commute."""

import pathlib
import sys
import tempfile
import unittest

import jobs
from tune import openmpi_rules, openmpi_safe
from tune.decision import Decision, Rule, Table

PROGRAM = ""


class OrderTest(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def is_right(self, ranks: int, tables: list[Table]) -> bool:
        file = self.folder / "rules"
        file.write_text(openmpi_rules.write(tables, ""))
        variables = {
            "OMPI_MCA_coll_tuned_use_dynamic_rules": "1",
            "OMPI_MCA_coll_tuned_dynamic_rules_filename": str(file),
        }
        return jobs.run([*jobs.launcher("openmpi", ranks), PROGRAM], self.folder, **variables).returncode == 0

    def test_what_may_be_written(self) -> None:
        pairs = [(1, 1, 0), (3, 6, 0), (6, 7, 0), (6, 6, 1024)]
        for ranks in (3, 4):
            for allreduce, reduce, segment in pairs:
                tables = [
                    Table("allreduce", ranks, [Rule(0, allreduce)]),
                    Table("reduce", ranks, [Rule(0, reduce, segment=segment)]),
                ]
                for table in tables:
                    self.assertEqual(openmpi_safe.faults(Decision("", [table])), [])
                self.assertTrue(self.is_right(ranks, tables), f"{ranks} ranks, {allreduce}, {reduce}, {segment}")

    def test_no_rule_is_for_an_allgather_in_place(self) -> None:
        # There is no such algorithm, so that the call would fail.
        self.assertTrue(self.is_right(3, [Table("allgather", 3, [Rule(0, 99)])]))

    def test_the_check_notices_a_wrong_order(self) -> None:
        self.assertFalse(self.is_right(4, [Table("allreduce", 4, [Rule(0, 4)])]))


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main()
