# SPDX-License-Identifier: Apache-2.0
"""The names that a library with stubs has, by its names.def."""

import pathlib
import re

SOURCES = pathlib.Path(__file__).resolve().parents[2] / "src"


def named(folder: str) -> tuple[set[str], set[str]]:
    """The functions, and what replacements of them are called."""
    text = re.sub(r"/\*.*?\*/", "", (SOURCES / folder / "names.def").read_text(), flags=re.S)
    calls = set(re.findall(r"(?:CALL|OWN)\((\w+)\)", text))
    fortran = set(re.findall(r"FORTRAN\((\w+), \w+\)", text))
    forms = {name + end for name in fortran for end in ("", "_", "__", "_f08_")} | {name.upper() for name in fortran}
    return calls | forms, calls | fortran
