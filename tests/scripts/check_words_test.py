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
USES_PLAIN = "struct TableEntry {\n};\n"


def run(root: pathlib.Path) -> subprocess.CompletedProcess:
    command = [sys.executable, ROOT / "scripts/check-words", root]
    return subprocess.run(command, capture_output=True, text=True, check=False)


class CheckWordsTest(unittest.TestCase):
    def check(self, name: str, code: str, glossary: str = GLOSSARY, plain: str = PLAIN) -> subprocess.CompletedProcess:
        """What is said of a tree with one file, src/`name`, of this code, and one that uses the plain words."""
        with tempfile.TemporaryDirectory() as folder:
            files = {"docs/glossary.md": glossary, "scripts/plain-words.txt": plain, f"src/{name}": code}
            files["src/core/plain.h"] = USES_PLAIN
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
            'const char* text = R"(\nstruct Foreign {\n)";\n',
            "using Slots = Entry*;\nusing std::foreign;\nusing namespace foreign;\n",
            "typedef struct foreign Slot;\nstruct foreign value{1};\n",
            "template <class Foreign, class Other = Foreign>\nFriend f(class Foreign* a);\n",
            "struct TabledEntries {\n",
        ):
            self.assert_fine("core/a.h", code)

    def test_an_unknown_word_is_found(self) -> None:
        way_out = ("Use a word of docs/glossary.md", "scripts/plain-words.txt")
        self.assert_found("core/a.h", "\nstruct SlotGizmo {\n", "src/core/a.h:2: type SlotGizmo:", '"gizmo"', *way_out)
        self.assert_found("core/a.h", "  enum class Gizmo : int { one };\n", "src/core/a.h:1: type Gizmo:")
        self.assert_found("core/a.h", "class alignas(64) gizmo_table : Entry {\n", "type gizmo_table:")

    def test_each_way_to_name_a_type_is_seen(self) -> None:
        for line, code in (
            (1, "using Gizmo = int;\n"),
            (1, "template <class T> using Gizmo [[gnu::may_alias]] = T;\n"),
            (1, "typedef struct {} Gizmo;\n"),
            (2, "typedef struct { struct { int inner; } a, b; }\nSlot, *Gizmo;\n"),
            (1, "typedef int (*Gizmo)(int a, int b);\n"),
            (1, "typedef int Gizmo[4];\n"),
            (1, "struct Slot {}; struct Gizmo {};\n"),
            (1, "struct Slot { enum class Gizmo { one }; };\n"),
            (2, "class\nGizmo\n{\n"),
            (1, "union Gizmo\n{\n"),
            (1, "struct WEFT_API [[nodiscard]] alignas(sizeof(Slot)) Gizmo final {\n"),
            (1, "template <> struct Slot<int> {}; struct Slot::Gizmo {};\n"),
            (1, "class WEFT_ALIGNED(64) Gizmo {\n"),
            (1, "#define MAKE struct Gizmo { int slot; }\n"),
            (1, "int million = 1'000'000; struct Gizmo {}; char c = 'x';\n"),
            (2, 'const char* text = "\'";\nstruct Gizmo {};\n'),
        ):
            self.assert_found("core/a.h", code, f"src/core/a.h:{line}: type Gizmo:")

    def test_types_of_sources_are_seen(self) -> None:
        for name in ("core/a.cpp", "core/a.hpp", "core/a.c", "core/a.inc", "../tools/a/a.cpp", "../compiler/a.h"):
            self.assert_found(name, "struct Gizmo {\n", "a.", ":1: type Gizmo:")

    def test_a_plain_word_is_used(self) -> None:
        result = self.check("core/a.h", "// a thing\nint thing;\n", plain=PLAIN + "thing\n")
        self.assertEqual(result.returncode, 1)
        self.assertEqual(result.stdout, 'scripts/plain-words.txt: no type is called "thing": take it out\n')
        self.assertEqual(self.check("core/a.h", "enum Things {\n", plain=PLAIN + "thing\n").stdout, "")

    def test_a_plain_word_stands_in_its_base_form(self) -> None:
        for form in ("tables", "tabled", "entries"):
            said = self.check("core/a.h", f"struct {form.title()} {{}};\n", plain=PLAIN + form + "\n").stdout
            self.assertIn(f'"{form}" is a form of ', said)

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

    def test_a_word_is_misplaced_in_macros_and_beside_characters(self) -> None:
        self.assert_found("mpi/a.h", "#define A_SLOT 1\n", "src/mpi/a.h:1: A_SLOT:")
        self.assert_found("mpi/a.h", "#ifdef A_SLOT\n", "src/mpi/a.h:1: A_SLOT:")
        self.assert_found("mpi/a.c", "int slot;\n", "src/mpi/a.c:1: slot:")
        self.assert_found("mpi/a.cpp", "char q='\"'; int slot_a; char r='\"';\n", "src/mpi/a.cpp:1: slot_a:")
        self.assert_found("mpi/a.cpp", "int n = 1'000; int slot_a = 2'000;\n", "src/mpi/a.cpp:1: slot_a:")
        for code in (
            "#include <slot.h>\n",
            "char q = '\\\\'; // slot\n",
            'auto a = R"("slot" slot)"; auto b = u8R"x(\nslot )" slot)x";\n',
        ):
            self.assert_fine("mpi/a.cpp", code)


if __name__ == "__main__":
    unittest.main()
