# SPDX-License-Identifier: Apache-2.0
"""scripts/release-notes takes one version's section out of a changelog; scripts/release refuses what is wrong."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
CHANGELOG = """# Changelog

## Unreleased

- later

## [1.10.0] - 2030-02-01

### Added

- ten

## 1.1.0 - 2030-01-01

- one

## 1.0.0

[1.10.0]: https://example.invalid
"""


class ReleaseNotesTest(unittest.TestCase):
    def notes(self, version: str) -> subprocess.CompletedProcess:
        with tempfile.TemporaryDirectory() as folder:
            changelog = pathlib.Path(folder) / "CHANGELOG.md"
            changelog.write_text(CHANGELOG)
            command = [sys.executable, ROOT / "scripts/release-notes", version, changelog]
            return subprocess.run(command, capture_output=True, text=True, check=False)

    def test_a_section(self) -> None:
        self.assertEqual(self.notes("1.10.0").stdout, "### Added\n\n- ten\n")
        self.assertEqual(self.notes("1.1.0").stdout, "- one\n")

    def test_no_section_or_nothing_in_it(self) -> None:
        for version in ("1.0.0", "1.1", "1x1.0", "2.0.0"):
            done = self.notes(version)
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assertIn(f"says nothing of {version}", done.stderr)

    def test_release_wants_a_version(self) -> None:
        for words in ((), ("next",), ("1.2.3", "--push")):
            done = subprocess.run([ROOT / "scripts/release", *words], capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 2)
            self.assertIn("usage: scripts/release", done.stderr)


if __name__ == "__main__":
    unittest.main()
