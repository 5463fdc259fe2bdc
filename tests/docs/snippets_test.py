# SPDX-License-Identifier: Apache-2.0
"""The programs of the pages on shared memory, as they are printed there: they compile without a warning, and run."""

import os
import pathlib
import re
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/how-to/shared-memory.md"
MANUAL = sorted((ROOT / "docs/man").glob("*.3"))
LIBRARY = pathlib.Path(os.environ["WEFT_TEST_SHM"])
GCC, CLANG = os.environ["WEFT_TEST_GCC"], os.environ["WEFT_TEST_CLANG"]
STRICT = ("-Wall", "-Wextra", "-Wpedantic", "-Werror")
TIMEOUT_S = 120


def blocks(language: str) -> "list[str]":
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)


def examples(page: pathlib.Path) -> "list[str]":
    """Of a manual page. They have no backslashes, which man would not print."""
    return re.findall(r"^\.Bd -literal\n(.*?)^\.Ed$", page.read_text(), re.MULTILINE | re.DOTALL)


def plus_plus(compiler: str) -> str:
    folder, name = os.path.split(compiler)
    return os.path.join(folder, name.replace("gcc", "g++").replace("clang", "clang++"))


class Snippets(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="weft-snippets-")))

    def run_command(self, *command: object) -> str:
        words = [str(word) for word in command]
        done = subprocess.run(words, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
        self.assertEqual(done.returncode, 0, f"{command}: {done.stdout}{done.stderr}")
        return done.stdout

    def check(self, text: str, compiler: str, suffix: str, standard: str) -> str:
        # A store of the user who runs the test may have the name.
        source = self.folder / f"program{suffix}"
        source.write_text(text.replace('"settings"', f'"snippets-test-{os.getpid()}"'))
        program = self.folder / "program"
        self.run_command(
            compiler,
            f"-std={standard}",
            *STRICT,
            f"-I{ROOT}/include",
            source,
            "-o",
            program,
            LIBRARY,
            f"-Wl,-rpath,{LIBRARY.parent}",
        )
        return self.run_command(program)

    def check_all(self, texts: "list[str]", suffix: str, standards: "tuple[str, ...]") -> "list[str]":
        compilers = [plus_plus(one) if suffix == ".cpp" else one for one in (GCC, CLANG)]
        said = []
        for number, text in enumerate(texts):
            for compiler in compilers:
                for standard in standards:
                    with self.subTest(number=number, compiler=compiler, standard=standard):
                        said.append(self.check(text, compiler, suffix, standard))
        return said

    def test_c(self) -> None:
        texts = blocks("c")
        self.assertEqual(len(texts), 2)
        said = self.check_all(texts, ".c", ("c11", "gnu17"))
        self.assertIn("2 2\n", said)

    def test_cpp(self) -> None:
        texts = blocks("cpp")
        self.assertEqual(len(texts), 2)
        said = self.check_all(texts, ".cpp", ("c++17", "c++20"))
        self.assertEqual(set(said), {"2 2\n", "value\n"})

    def test_manual_pages(self) -> None:
        for page in MANUAL:
            texts = examples(page)
            self.assertEqual(len(texts), 1, page.name)
            self.check_all(texts, ".c", ("c11", "gnu17"))


if __name__ == "__main__":
    unittest.main()
