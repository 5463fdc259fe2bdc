# SPDX-License-Identifier: Apache-2.0
"""docs/reference/openmp-support.md against the built library, the table of options and the list of explained differences.

usage: support_test.py LIBRARY ABI_STUBS (what src/openmp/abi/generate.py wrote for the functions that are missing)
"""

import fnmatch
import pathlib
import re
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/reference/openmp-support.md").read_text()
STATES = {"yes", "compiler", "accepted", "no"}
LIBRARY, STUBS = sys.argv[1:3]

sys.path.insert(0, str(ROOT / "tests/conformance"))
import differences  # noqa: E402


def section(title):
    return re.search(rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL)[1]


def rows(title, columns):
    """The cells of the section's table, without its head."""
    found = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in section(title).splitlines()
        if line.startswith("| ")
    ]
    assert all(len(row) == columns for row in found), f"a row of '{title}' has not {columns} cells: {found}"
    return found[1:]


def names(cell):
    return re.findall(r"`([\w*]+)`", cell)


def functions(cell):
    """Those of a remark: variables and files stand in the same quotes."""
    return [name for name in names(cell) if name.startswith(("GOMP_", "__kmpc_", "omp_"))]


def exported():
    listing = subprocess.run(["nm", "-D", "--defined-only", LIBRARY], check=True, capture_output=True, text=True).stdout
    return {match[1] for match in re.finditer(r" [TWi] (\w+)", listing)}


def stubs():
    return set(re.findall(r'weft_abi_missing\("(\w+)"\)', pathlib.Path(STUBS).read_text()))


def variables():
    """{OMP_ name: whether it has an effect}"""
    text = (ROOT / "src/base/options.def").read_text()
    text = "\n".join(line for line in text.splitlines() if not line.startswith("//"))
    found = re.findall(r"WEFT_OPTION\(\w+, (OMP_\w+),.*?\"([^\"]*)", text, re.DOTALL)
    return {name: not words.startswith("accepted") for name, words in found}


class Support(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.exported, cls.stubs = exported(), stubs()
        cls.there = cls.exported - cls.stubs

    def check(self, name, state):
        if (name in self.there) != (state != "no"):
            self.fail(f"{name} is {'there' if name in self.there else 'missing'}: its row, '{state}', has to change")

    def test_directives_and_clauses(self):
        for title in ("Directives", "Clauses"):
            self.assertGreater(len(rows(title, 3)), 20)
            for what, state, remark in rows(title, 3):
                with self.subTest(what=what):
                    self.assertIn(state, STATES)
                    for name in functions(remark):
                        self.check(name, state)

    def test_routines(self):
        described = set()
        for cell, state, _ in rows("Routines", 3):
            self.assertIn(state, STATES - {"compiler"})
            for name in names(cell):
                self.assertNotIn(name, described, "it has two rows")
                described.add(name)
                with self.subTest(name=name):
                    self.check(name, state)
        # Fortran's names end with _.
        self.assertEqual(
            {name for name in self.exported if name.startswith("omp_") and not name.endswith("_")} - described,
            set(),
            "routines without a row",
        )

    def test_variables(self):
        described = {names(cell)[0]: state for cell, state in rows("Environment variables", 2)}
        self.assertEqual(described, {name: "yes" if effect else "accepted" for name, effect in variables().items()})

    def test_functions_that_end_the_program(self):
        patterns = [name for cell, _ in rows("Functions that end the program", 2) for name in names(cell)]
        # A function for Fortran goes with that for C.
        missing = {re.sub(r"_(8_)?$", "", name) for name in self.stubs}
        self.assertEqual(
            {name for name in missing if not any(fnmatch.fnmatchcase(name, one) for one in patterns)},
            set(),
            "stubs without a row",
        )
        self.assertEqual({one for one in patterns if not fnmatch.filter(missing, one)}, set(), "rows without a stub")

    def test_differences(self):
        """Written by hand in the page, they would not be those that the command accepts."""
        written = re.search(r"<!-- differences: begin -->\n(.*?)<!-- differences: end -->", PAGE, re.DOTALL)[1]
        self.assertEqual(
            written.strip(), differences.markdown(differences.load()).strip(), "run tests/conformance/differences.py"
        )


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
