# SPDX-License-Identifier: Apache-2.0
"""The list of differences that have an explanation (differences.toml)."""
import dataclasses
import fnmatch
import pathlib
import tomllib

FILE = pathlib.Path(__file__).with_name("differences.toml")
KINDS = {"internal": "libomp's own internals", "choice": "weft does it another way, on purpose", "pending": "to come",
         "unreliable": "tests that also fail under the other runtime now and then"}


@dataclasses.dataclass
class Difference:
    kind: str  # one of KINDS
    tests: list  # patterns of SUITE/COMPILER/TEST
    reason: str

    def covers(self, key):
        return any(fnmatch.fnmatchcase(key, pattern) for pattern in self.tests)


def load(file=FILE):
    rows = tomllib.loads(file.read_text()).get("difference", [])
    found = [Difference(row["kind"], row["tests"], " ".join(row["reason"].split())) for row in rows]
    for difference in found:
        if difference.kind not in KINDS:
            raise ValueError(f"{file}: no such kind: {difference.kind}; there are {', '.join(KINDS)}")
    return found


def markdown(differences):
    """The list as the section of docs/openmp-support.md that tests/docs/support_test.py compares with it."""
    lines = []
    for kind, title in KINDS.items():
        rows = [difference for difference in differences if difference.kind == kind]
        if rows:
            lines += [f"**{title[0].upper() + title[1:]}**", "", "| tests | why |", "|---|---|"]
            lines += [f"| {', '.join(f'`{test}`' for test in row.tests)} | {row.reason} |" for row in rows]
            lines.append("")
    return "\n".join(lines).strip() + "\n"
