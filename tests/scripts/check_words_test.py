# SPDX-License-Identifier: Apache-2.0
"""scripts/check-words: this tree keeps to its glossary, and each kind of fault is found."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
GLOSSARY = """# Glossary

## Threads

| word | elsewhere | meaning |
|---|---|---|
| CPU slot, slot | processor | The right to run. |
| stand-in | | Runs in another's place. |

## Words that belong to one place

| word | folders | elsewhere say |
|---|---|---|
| slot | `core` `openmp/team` | record |
| util | | what it does |

## How it is checked

| word | is |
|---|---|
| no row of | any table |
"""
PLAIN = "# plain\ntable entry\n"


def run(root: pathlib.Path) -> subprocess.CompletedProcess:
    command = [sys.executable, ROOT / "scripts/check-words", root]
    return subprocess.run(command, capture_output=True, text=True, check=False)


class CheckWordsTest(unittest.TestCase):
    def check(self, name: str, code: str, glossary: str = GLOSSARY, plain: str = PLAIN) -> subprocess.CompletedProcess:
        """What is said of a tree with one file, src/`name`, of this code."""
        with tempfile.TemporaryDirectory() as folder:
            files = {"docs/glossary.md": glossary, "scripts/plain-words.txt": plain, f"src/{name}": code}
            for file, text in files.items():
                path = pathlib.Path(folder) / file
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            return run(pathlib.Path(folder))

    def assert_fine(self, name: str, code: str) -> None:
        result = self.check(name, code)
        self.assertEqual((result.returncode, result.stdout), (0, ""), code)

    def assert_found(self, name: str, code: str, *said: str) -> None:
        result = self.check(name, code)
        self.assertEqual(result.returncode, 1, code)
        self.assertEqual(len(result.stdout.splitlines()), 1, result.stdout)
        for text in said:
            self.assertIn(text, result.stdout)

    def test_this_tree_keeps_to_its_glossary(self) -> None:
        result = run(ROOT)
        self.assertEqual((result.returncode, result.stdout), (0, ""))

    def test_known_words(self) -> None:
        for code in (
            "struct SlotTable {\n};\n",
            "class StandIn final : public Entry {\n",
            "enum class Slots : uint8_t { one };\n",
            "struct Entries {\n",
            "template <class T>\nstruct alignas(64) CPUSlot\n{\n",
            "struct Foreign;\n",
            "enum { kForeign };\n",
            "// class Foreign {\n",
        ):
            self.assert_fine("core/a.h", code)

    def test_an_unknown_word_is_found(self) -> None:
        way_out = ("Use a word of docs/glossary.md", "scripts/plain-words.txt")
        self.assert_found("core/a.h", "\nstruct SlotGizmo {\n", "src/core/a.h:2: type SlotGizmo:", '"gizmo"', *way_out)
        self.assert_found("core/a.h", "  enum class Gizmo : int { one };\n", "src/core/a.h:1: type Gizmo:")
        self.assert_found("core/a.h", "class alignas(64) gizmo_table : Entry {\n", "type gizmo_table:")

    def test_types_of_sources_are_their_own(self) -> None:
        self.assert_fine("core/a.cpp", "struct Gizmo {\n")

    def test_an_entry_stands_once(self) -> None:
        again = GLOSSARY.replace("| stand-in |", "| thing, slot | | Something else. |\n| stand-in |")
        result = self.check("core/a.h", "", glossary=again)
        self.assertEqual(result.returncode, 1)
        self.assertIn('docs/glossary.md: "slot" stands there 2 times', result.stdout)

    def test_a_defined_word_is_not_plain(self) -> None:
        self.assertIn(
            '"slot" stands in docs/glossary.md too', self.check("core/a.h", "", plain=PLAIN + "slot\n").stdout
        )
        self.assertIn('"table" stands there twice', self.check("core/a.h", "", plain=PLAIN + "table\n").stdout)

    def test_a_word_belongs_to_its_places(self) -> None:
        self.assert_fine("core/a.cpp", "int slot_of(int slots);\n")
        self.assert_fine("openmp/team/a.cpp", "int slot;\n")
        self.assert_fine("mpi/a.cpp", "weft_slot_t public;\n")
        self.assert_fine("mpi/a.cpp", '// its slot\n/* slots\n */\n#include "core/slot.h"\nchar text[] = "no slot";\n')
        self.assert_found("openmp/task/a.cpp", "\nint free_slot;\n", "src/openmp/task/a.cpp:2: free_slot:", "record")
        self.assert_found("mpi/a.h", "int slots;\nint more(slots);\n", "src/mpi/a.h:1: slots:")
        self.assert_found("core/a.cpp", "void UtilThings();\n", "UtilThings:", "what it does")


if __name__ == "__main__":
    unittest.main()
