# SPDX-License-Identifier: Apache-2.0
"""Decision files: what is written is read back, and damaged ones are refused with their line."""

import json
import pathlib
import tempfile
import unittest

from tune import files, mpich, mpich_rules, openmpi, openmpi_json, openmpi_rules, openmpi_safe, weft_rules
from tune.decision import Rule, Table
from tune.faults import Fault
from tune.operations import OPERATIONS

TABLES = [
    Table("alltoall", 4, [Rule(0, 3, "modified_bruck"), Rule(257, 0), Rule(4096, 2, "pairwise"), Rule(4097, 0)]),
    Table("alltoall", 8, [Rule(0, 1, "linear")]),
    Table("bcast", 4, [Rule(0, 0), Rule(8192, 2, "chain, segments of 8K", 4, 8192)]),
]
BASE = {
    "collective=alltoall": {
        "comm_type=intra": {"is_sendbuf_inplace=any": {"algorithm=MPIR_Alltoall_intra_scattered": {}}},
        "comm_type=inter": {"algorithm=MPIR_Alltoall_inter_pairwise_exchange": {}},
    },
    "collective=allreduce": {"comm_type=intra": {"algorithm=MPIR_Allreduce_intra_recursive_doubling": {}}},
}


def plain(rules: list[Rule]) -> list[tuple[int, int, int, int]]:
    return [(rule.size, rule.algorithm, rule.fanout, rule.segment) for rule in rules]


class OpenMpiTextTest(unittest.TestCase):
    def test_round_trip(self) -> None:
        text = openmpi_rules.write(TABLES, "a title")
        found = openmpi_rules.parse(text, "rules")
        self.assertEqual(found.faults, [])
        for table in TABLES:
            self.assertEqual(plain(found.of(table.operation, table.ranks).rules), plain(table.rules))

    def test_other_ranks_keep_their_own_rules(self) -> None:
        found = openmpi_rules.parse(openmpi_rules.write(TABLES, ""), "rules")
        ranks = [table.ranks for table in found.tables if table.operation == "alltoall"]
        self.assertEqual(ranks, [0, 4, 5, 8, 9])
        for other in (0, 5, 9):
            self.assertEqual(plain(found.of("alltoall", other).rules), [(0, 0, 0, 0)])

    def test_sizes_are_those_of_all_blocks(self) -> None:
        text = openmpi_rules.write([Table("alltoall", 4, [Rule(0, 0), Rule(1024, 2)])], "")
        self.assertIn("\n4096 2 0 0", text)

    def test_second_version(self) -> None:
        found = openmpi_rules.parse("rule-file-version-2\n1\n3\n1\n4\n1\n0 4 0 0 16\n", "rules")
        self.assertEqual(found.tables[0].rules[0].requests, 16)
        found = openmpi_rules.parse("rule-file-version-2\n1\n3\n1\n4\n2\n0 4 0 0\n64 2 0 0 # four\n", "rules")
        self.assertEqual([rule.requests for rule in found.tables[0].rules], [0, 0])
        self.assertEqual(found.faults, [])

    def test_numbers_as_open_mpi_reads_them(self) -> None:
        found = openmpi_rules.parse("1\n7\n1\n010\n1\n00 0x1 0 010000\n", "rules")
        self.assertEqual((found.tables[0].ranks, found.tables[0].rules[0].segment), (8, 4096))
        for word in ("08", "9" * 5000, "1e3", "-1"):
            with self.assertRaises(Fault):
                openmpi_rules.parse(f"1\n7\n1\n4\n1\n0 {word} 0 0\n", "rules")

    def test_damaged(self) -> None:
        good = openmpi_rules.write(TABLES, "")
        for text, words in (
            (good.replace("4096 ", "40x6 ") if "4096 " in good else "40x6", "line"),
            ("\n".join(good.splitlines()[:-2]), "ends where"),
            ("1\n99\n1\n4\n1\n0 0 0 0\n", "line 2: 99"),
            ("hello\n", "line 1: hello"),
        ):
            with self.assertRaises(Fault) as caught:
                openmpi_rules.parse(text, "rules")
            self.assertIn(words, str(caught.exception))

    def test_faults_that_can_be_read(self) -> None:
        found = openmpi_rules.parse("1\n7\n1\n4\n3\n8 1 0 0\n64 2 0 0\n16 3 0 0\n5\n", "rules")
        self.assertEqual(len(found.faults), 3)
        self.assertIn("size 0", found.faults[1])
        self.assertIn("line 8", found.faults[2])


class OpenMpiSafetyTest(unittest.TestCase):
    def parse(self, *tables: Table) -> list[str]:
        return openmpi_safe.faults(openmpi_rules.parse(openmpi_rules.write(tables, ""), "rules"))

    def test_order_of_ranks(self) -> None:
        for operation, safe, all_numbers in (("allreduce", (1, 3, 6), 6), ("reduce", (1, 6, 7), 7)):
            for number in range(1, all_numbers + 1):
                found = self.parse(Table(operation, 4, [Rule(0, number)]))
                self.assertEqual([], found) if number in safe else self.assertIn("do not commute", found[0])

    def test_size_of_the_root(self) -> None:
        for operation in ("gather", "scatter"):
            self.assertIn("only the root", self.parse(Table(operation, 4, [Rule(0, 2)]))[0])

    def test_names_in_json(self) -> None:
        for name, faults in (("ring", 1), ("recursive_doubling", 0)):
            document = json.loads(openmpi_json.write([Table("allreduce", 4, [Rule(0, 4, name)])]))
            self.assertEqual(len(openmpi_safe.faults(openmpi_json.parse(document, "rules"))), faults)

    def test_only_ways_that_are_right_are_taken(self) -> None:
        names = {"allreduce": ["basic_linear", "nonoverlapping", "recursive_doubling", "ring"], "gather": ["binomial"]}
        variables = {
            f"coll_tuned_{name}_algorithm": {"items": list(enumerate(["ignore", *items]))}
            for name, items in names.items()
        }
        mpi = openmpi.OpenMpi({"library": "Open MPI v4.1.4"}, variables)
        found = mpi.ways(OPERATIONS["allreduce"], 8, 4)
        self.assertEqual([way.name for way in found], ["basic_linear", "recursive_doubling"])
        self.assertEqual([way.deployable for way in mpi.ways(OPERATIONS["gather"], 8, 4)], [False])

    def test_allgather_in_place_is_left_alone(self) -> None:
        text = openmpi_rules.write([Table("allgather", 4, [Rule(0, 4), Rule(64, 0)])], "")
        found = openmpi_rules.parse(text, "rules")
        rules = [(rule.size, rule.algorithm) for rule in found.of("allgather", 4).rules]
        self.assertEqual(rules, [(0, 0), (1, 4), (64, 0)])


class OpenMpiJsonTest(unittest.TestCase):
    def test_round_trip(self) -> None:
        document = json.loads(openmpi_json.write(TABLES))
        self.assertEqual(document["rule_file_version"], 3)
        found = openmpi_json.parse(document, "rules")
        rules = found.of("alltoall", 4).rules
        self.assertEqual([(rule.size, rule.most, rule.name) for rule in rules],
                         [(0, 256, "modified_bruck"), (4096, 4096, "pairwise")])  # fmt: skip
        chain = found.of("bcast", 4).rules[0]
        self.assertEqual((chain.name, chain.fanout, chain.segment, chain.most), ("chain", 4, 8192, None))

    def test_damaged(self) -> None:
        with self.assertRaises(Fault):
            openmpi_json.parse({"rule_file_version": 3, "collectives": {"bcast": [{}]}}, "rules")
        with self.assertRaises(Fault):
            openmpi_json.parse({"rule_file_version": 9}, "rules")


class MpichTest(unittest.TestCase):
    def test_round_trip(self) -> None:
        table = Table("alltoall", 4, [Rule(0, 1, "brucks"), Rule(257, 0), Rule(4096, 3, "pairwise")])
        document = json.loads(mpich_rules.write([table], BASE))
        found = mpich_rules.parse(document, "rules").of("alltoall", 4)
        self.assertEqual([(r.size, r.name) for r in found.rules], [(0, "brucks"), (257, ""), (4096, "pairwise")])

    def test_allgather_has_the_size_of_all_blocks(self) -> None:
        base = {
            "collective=allgather": {"comm_type=intra": {"comm_size=any": {"algorithm=MPIR_Allgather_intra_ring": {}}}}
        }
        text = mpich_rules.write([Table("allgather", 4, [Rule(0, 1, "brucks"), Rule(1025, 0)])], base)
        self.assertIn("total_msg_size<=4096", text)
        found = mpich_rules.parse(json.loads(text), "rules").of("allgather", 4)
        self.assertEqual([(rule.size, rule.name) for rule in found.rules], [(0, "brucks"), (1025, "")])

    def test_one_rule_needs_no_size(self) -> None:
        base = {
            "collective=barrier": {"comm_type=intra": {"comm_hierarchy=any": {"algorithm=MPIR_Barrier_intra_smp": {}}}}
        }
        text = mpich_rules.write([Table("barrier", 4, [Rule(0, 1, "dissemination")])], base)
        self.assertNotIn("msg_size", text)
        found = mpich_rules.parse(json.loads(text), "rules").of("barrier", 4)
        self.assertEqual([(rule.size, rule.name) for rule in found.rules], [(0, "dissemination")])

    def test_rest_of_the_tree_stays(self) -> None:
        document = json.loads(mpich_rules.write([Table("alltoall", 4, [Rule(0, 1, "brucks")])], BASE))
        self.assertEqual(document["collective=allreduce"], BASE["collective=allreduce"])
        self.assertEqual(
            document["collective=alltoall"]["comm_type=inter"], BASE["collective=alltoall"]["comm_type=inter"]
        )
        own = document["collective=alltoall"]["comm_type=intra"]
        self.assertEqual(list(own), ["comm_size<4", "comm_size<5", "comm_size=any"])
        self.assertEqual(own["comm_size=any"], BASE["collective=alltoall"]["comm_type=intra"])
        self.assertEqual(own["comm_size<5"]["is_sendbuf_inplace=yes"], own["comm_size=any"])

    def test_what_divides_data_needs_enough_of_it(self) -> None:
        table = Table("allreduce", 4, [Rule(0, 4, "reduce_scatter_allgather")])
        own = json.loads(mpich_rules.write([table], BASE))["collective=allreduce"]["comm_type=intra"]["comm_size<5"]
        self.assertEqual(list(own["is_commutative=yes"]), ["count<pow2", "count=any"])

    def test_algorithms_of_other_versions_are_left_alone(self) -> None:
        def text(*names: str) -> str:
            width = max(map(len, names)) + 1
            return "auto - Internal" + "".join(f"{name:{width}}- Force {name} algorithm" for name in names)

        self.assertTrue(mpich.are_known("barrier", text("nb", "smp", "dissemination")))
        self.assertTrue(mpich.are_known("allgather", text("brucks", "nb", "recursive_doubling", "ring")))
        for names in (
            ("nb", "smp", "k_dissemination"),
            ("nb", "smp", "dissemination", "recexch"),
            ("smp", "nb", "dissemination"),
            ("nb", "smp"),
        ):
            self.assertFalse(mpich.are_known("barrier", text(*names)), names)

    def test_numbers_of_a_list_must_be_the_known_ones(self) -> None:
        library = {"library": "MPICH Version:\t4.2.0", "path": ""}
        for items, known in (([[0, "auto"], [1, "nb"], [2, "smp"], [3, "dissemination"]], True), ([[1, "smp"]], False)):
            variables = {"MPIR_CVAR_BARRIER_INTRA_ALGORITHM": {"items": items, "text": ""}}
            mpi = mpich.Mpich(library, variables)
            self.assertEqual(mpi.name, "MPICH Version: 4.2.0")
            self.assertEqual(bool(mpi.algorithms(OPERATIONS["barrier"])), known)
            self.assertEqual(mpi.no_rules(OPERATIONS["barrier"]) == "", known)


class WeftTest(unittest.TestCase):
    def test_round_trip(self) -> None:
        tables = [Table("allreduce", 2, [Rule(0, 1), Rule(65536, 0)])]
        text = weft_rules.write(tables)
        self.assertTrue(text.startswith("# weft collectives 1\n"))
        self.assertIn("allreduce 2 65536 mpi\n", text)
        found = weft_rules.parse(text, "rules")
        self.assertEqual(plain(found.of("allreduce", 2).rules), [(0, 1, 0, 0), (65536, 0, 0, 0)])

    def test_damaged(self) -> None:
        digits = "9" * 5000
        for line in ("allreduce 2 x weft", f"allreduce 2 {digits} weft", "allreduce 2 0 sometimes", "dance 2 0 weft"):
            with self.assertRaises(Fault) as caught:
                weft_rules.parse(f"# weft collectives 1\n{line}\n", "rules")
            self.assertIn("line 2", str(caught.exception))


class AnyFileTest(unittest.TestCase):
    def read(self, content: bytes) -> str:
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "rules"
            file.write_bytes(content)
            return files.read(file).format

    def test_formats(self) -> None:
        self.assertEqual(self.read(openmpi_rules.write(TABLES, "x").encode()), openmpi_rules.FORMAT)
        self.assertEqual(self.read(openmpi_json.write(TABLES).encode()), openmpi_json.FORMAT)
        self.assertEqual(self.read(mpich_rules.write([], BASE).encode()), mpich_rules.FORMAT)
        self.assertEqual(self.read(weft_rules.write([]).encode()), weft_rules.FORMAT)

    def test_foreign(self) -> None:
        damaged = (
            b'{"collective=bcast":{"comm_type=intra":5}}',
            b'{"collective=bcast":{"comm_type=intra":{"comm_size<4":1,"comm_size<5":2}}}',
            b'{"rule_file_version":3,"collectives":{"bcast":[{"comm_size_min":Infinity,"rules":[]}]}}',
            b'{"rule_file_version":' + b"9" * 5000 + b"}",
            b"[" * 100000,
        )
        for content in (b"", b"\xff\xfe\x00", b"{", b"{}", b"[1]", b"Dear reader", *damaged):
            with self.assertRaises(Fault):
                self.read(content)


if __name__ == "__main__":
    unittest.main()
