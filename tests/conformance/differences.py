# SPDX-License-Identifier: Apache-2.0
"""The list of differences that have an explanation (differences.toml). Started by itself it writes the list into
docs/reference/openmp-support.md."""

import dataclasses
import fnmatch
import pathlib
import re
import tomllib

FILE = pathlib.Path(__file__).with_name("differences.toml")
PAGE = FILE.parents[2] / "docs/reference/openmp-support.md"
BEGIN, END = "<!-- differences: begin -->", "<!-- differences: end -->"
KINDS = {
    "internal": "libomp's own internals",
    "choice": "weft does it another way, on purpose",
    "pending": "not there yet",
}


@dataclasses.dataclass
class Difference:
    kind: str  # one of KINDS
    tests: list  # patterns of SUITE/COMPILER/TEST
    reason: str
    output: str = ""  # what the failing program must have printed, a regular expression

    def names(self, key):
        return any(fnmatch.fnmatchcase(key, pattern) for pattern in self.tests)

    def covers(self, result):
        return self.names(result.key) and (not self.output or re.search(self.output, result.detail) is not None)


def load(file=FILE):
    rows = tomllib.loads(file.read_text()).get("difference", [])
    found = [
        Difference(row["kind"], row["tests"], " ".join(row["reason"].split()), row.get("output", "")) for row in rows
    ]
    for difference in found:
        if difference.kind not in KINDS:
            raise ValueError(f"{file}: no such kind: {difference.kind}; there are {', '.join(KINDS)}")
    return found


def markdown(differences):
    """The list as the section of docs/reference/openmp-support.md that tests/docs/support_test.py compares with it."""
    lines = []
    for kind, title in KINDS.items():
        rows = [difference for difference in differences if difference.kind == kind]
        if rows:
            lines += [f"**{title[0].upper() + title[1:]}**", "", "| tests | why |", "|---|---|"]
            lines += [f"| {', '.join(f'`{test}`' for test in row.tests)} | {row.reason} |" for row in rows]
            lines.append("")
    return "\n".join(lines).strip() + "\n"


def write_page():
    """Puts the list between the two marks of the page."""
    text = PAGE.read_text()
    block = f"{BEGIN}\n\n{markdown(load())}\n{END}"
    PAGE.write_text(re.sub(f"{BEGIN}.*{END}", lambda _: block, text, flags=re.DOTALL))


if __name__ == "__main__":
    write_page()
