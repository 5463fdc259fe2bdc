# SPDX-License-Identifier: Apache-2.0
"""obeys_test.py MPI MEASURING_PROGRAM FAULTY_LIBRARY: the MPI reads what the tuner writes, at the sizes that it
means."""

import json
import pathlib
import sys
import tempfile
import unittest

import jobs
from tune import mpich_rules, openmpi_rules
from tune.decision import Rule, Table

MPI = ""
PROGRAM = ""
FAULTY = ""


class ObeysTest(unittest.TestCase):
    prefix: tuple[str, ...] = ()

    def setUp(self) -> None:
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def measure(self, ranks: int, lines: list[str], **variables: str) -> dict[int, str]:
        """By number of the entry what went wrong."""
        (self.folder / "plan").write_text("\n".join(lines) + "\n")
        command = [*jobs.launcher(MPI, ranks), *self.prefix, PROGRAM, "measure", "plan", "results"]
        done = jobs.run(command, self.folder, **variables)
        if done.returncode != 0:
            return {-1: done.stdout + done.stderr}
        job, *results = [json.loads(line) for line in (self.folder / "results").read_text().splitlines()]
        self.assertEqual(job["ranks"], ranks)
        return {line["number"]: line["fault"] for line in results}

    def test_a_rank_that_fails_is_said(self) -> None:
        for fault, words in (("data", "wrong data"), ("error", "MPI returned an error")):
            self.prefix = ("env", f"LD_PRELOAD={FAULTY}", f"WEFT_TEST_FAULT={fault}")
            found = self.measure(2, ["0 bcast 4096 20 - mpi", "1 allreduce 8 2 - mpi"])
            self.assertEqual(found, {0: words, 1: ""})

    def openmpi(self, ranks: int, table: Table, lines: list[str]) -> dict[int, str]:
        file = self.folder / "rules"
        file.write_text(openmpi_rules.write([table], "a test"))
        return self.measure(
            ranks,
            lines,
            OMPI_MCA_coll_tuned_use_dynamic_rules="1",
            OMPI_MCA_coll_tuned_dynamic_rules_filename=str(file),
        )

    def test_openmpi_takes_rules_at_their_sizes(self) -> None:
        if MPI != "openmpi":
            self.skipTest("Open MPI's rules")
        # An algorithm that there is not: an error shows where the rule holds.
        for operation in ("alltoall", "allgather", "bcast", "allreduce", "reduce", "gather", "scatter"):
            table = Table(operation, 3, [Rule(0, 0), Rule(1024, 99), Rule(4096, 0)])
            lines = [f"{number} {operation} {size} 2 - mpi" for number, size in enumerate((8, 1020, 1024, 4092, 4096))]
            found = self.openmpi(3, table, lines)
            wrong = [found[number] != "" for number in range(5)]
            self.assertEqual(wrong, [False, False, True, True, False], f"{operation}: {found}")

    def test_openmpi_other_ranks_are_left_alone(self) -> None:
        if MPI != "openmpi":
            self.skipTest("Open MPI's rules")
        table = Table("alltoall", 3, [Rule(0, 99)])
        for ranks, fault in ((2, False), (3, True), (4, False)):
            found = self.openmpi(ranks, table, ["0 alltoall 64 2 - mpi"])
            self.assertEqual(found[0] != "", fault, ranks)

    def test_openmpi_forced_algorithms(self) -> None:
        if MPI != "openmpi":
            self.skipTest("Open MPI's variables")
        variable = "coll_tuned_alltoall_algorithm"
        found = self.measure(
            3,
            [
                f"0 alltoall 64 2 {variable}=5 mpi",
                f"1 alltoall 64 2 {variable}=2 mpi",
                f"2 alltoall 64 2 {variable}=99 mpi",
            ],
            OMPI_MCA_coll_tuned_use_dynamic_rules="1",
        )
        # 5 is for two ranks. It is obeyed: Open MPI refuses it.
        self.assertEqual([found[0] != "", found[1]], [True, ""])
        self.assertIn("cannot be set to 99", found[2])

    def mpich(self, tables: list[Table], lines: list[str]) -> dict[int, str]:
        done = jobs.run([*jobs.launcher(MPI, 1), PROGRAM, "variables", "about"], self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        library = json.loads((self.folder / "about").read_text().splitlines()[0])["path"]
        file = self.folder / "rules"
        file.write_text(mpich_rules.write(tables, mpich_rules.built_in(library)))
        off = {f"MPIR_CVAR_{name}_DEVICE_COLLECTIVE": "0" for name in ("BCAST", "ALLREDUCE", "REDUCE", "BARRIER")}
        return self.measure(2, lines, MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE=str(file), **off)

    def test_mpich_takes_all_that_is_written(self) -> None:
        if MPI != "mpich":
            self.skipTest("MPICH's selection")
        names = {
            "alltoall": ("brucks", "pairwise", "scattered"),
            "allgather": ("brucks", "recursive_doubling", "ring"),
            "allreduce": ("recursive_doubling", "reduce_scatter_allgather"),
            "reduce": ("binomial", "reduce_scatter_gather"),
            "bcast": ("binomial", "scatter_recursive_doubling_allgather", "scatter_ring_allgather"),
        }
        for number in range(3):
            tables = [Table("barrier", 2, [Rule(0, 1, "dissemination")])]
            tables += [
                Table(operation, 2, [Rule(0, 0), Rule(64, 1, ways[number]), Rule(4096, 0)])
                for operation, ways in names.items()
                if number < len(ways)
            ]
            lines = [
                f"{index} {table.operation} {size} 3 - mpi"
                for index, (table, size) in enumerate((table, size) for table in tables for size in (8, 512, 8192))
            ]
            found = self.mpich(tables, lines)
            self.assertEqual(set(found.values()), {""}, found)
            self.assertEqual(len(found), len(lines))

    def test_mpich_refuses_what_it_does_not_know(self) -> None:
        if MPI != "mpich":
            self.skipTest("MPICH's selection")
        found = self.mpich([Table("alltoall", 2, [Rule(0, 1, "unheard_of")])], ["0 alltoall 64 2 - mpi"])
        self.assertEqual(list(found), [-1], "a file that it reads makes it fail")


if __name__ == "__main__":
    MPI, PROGRAM, FAULTY = sys.argv.pop(1), sys.argv.pop(1), sys.argv.pop(1)
    unittest.main()
