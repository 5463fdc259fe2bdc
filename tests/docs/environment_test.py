# SPDX-License-Identifier: Apache-2.0
"""docs/reference/environment.md and the table of options name the same variables in the same words."""

import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def options():
    text = (ROOT / "src/base/options.def").read_text()
    text = "\n".join(line for line in text.splitlines() if not line.startswith("//"))
    rows = re.findall(r"WEFT_OPTION\(\w+, (\w+),.*?((?:\"[^\"]*\"\s*)+)\)", text, re.DOTALL)
    return {variable: "".join(re.findall(r'"([^"]*)"', words)) for variable, words in rows}


def documented():
    rows = re.findall(r"^\| `(\w+)` \| (.*) \|$", (ROOT / "docs/reference/environment.md").read_text(), re.MULTILINE)
    return dict(rows)


class Environment(unittest.TestCase):
    def test_same_variables_and_words(self):
        self.maxDiff = None
        self.assertGreater(len(options()), 20)
        self.assertEqual(documented(), options())


if __name__ == "__main__":
    unittest.main()
