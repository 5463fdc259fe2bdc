# SPDX-License-Identifier: Apache-2.0
"""cmake/WriteVersion.cmake: which commit a build says it is of, for each kind of source tree."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PARTS = ("cmake/WriteVersion.cmake", "tools/weft/weft_version.h.in", "python/version.py.in", ".git_archival.txt")
GIT = shutil.which("git")
CMAKE = os.environ.get("WEFT_TEST_CMAKE", "cmake")


@unittest.skipUnless(GIT, "no git")
class VersionTest(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="weft-version-")))
        self.source = self.tree("source")

    def tree(self, name: str) -> pathlib.Path:
        tree = self.folder / name
        for part in (*PARTS, ".gitattributes"):
            (tree / part).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / part, tree / part)
        return tree

    def git(self, *words: str) -> str:
        identity = {f"GIT_{who}_{what}": "x" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
        command = [GIT, "-C", str(self.source), *words]
        done = subprocess.run(command, env={**os.environ, **identity}, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    def commit(self, tag: str) -> str:
        if not (self.source / ".git").exists():
            self.git("init", "--quiet")
        self.git("add", ".")
        self.git("commit", "--quiet", "--allow-empty", "-m", tag)
        self.git("tag", "-a", "-m", tag, tag)
        return self.git("rev-parse", "HEAD")[:9]

    def written(self, source: pathlib.Path, git: str = GIT) -> str:
        into = self.folder / "into"
        script = source / "cmake/WriteVersion.cmake"
        settings = {"VERSION": "1.2.3", "SOURCE": source, "INTO": into, "GIT": git}
        command = [CMAKE, *(f"-D{name}={value}" for name, value in settings.items()), "-P", script]
        subprocess.run(command, check=True, capture_output=True)
        found: dict[str, str] = {}
        exec((into / "python/_version.py").read_text(), found)  # noqa: S102
        self.assertIn(f'"{found["WHOLE_VERSION"]}"', (into / "version/weft_version.h").read_text())
        return found["WHOLE_VERSION"]

    def test_each_commit_has_its_own(self) -> None:
        for tag in ("v1", "v2"):
            commit = self.commit(tag)
            self.assertEqual(self.written(self.source), f"1.2.3 ({commit})")

    def test_changed_files_show(self) -> None:
        commit = self.commit("v1")
        with (self.source / "python/version.py.in").open("a") as file:
            file.write("\n")
        self.assertEqual(self.written(self.source), f"1.2.3 ({commit}-dirty)")

    def test_an_archive_names_its_commit(self) -> None:
        commit = self.commit("v1")
        archive = self.folder / "archive"
        archive.mkdir()
        self.git("archive", "-o", str(self.folder / "archive.tar"), "HEAD")
        shutil.unpack_archive(self.folder / "archive.tar", archive)
        self.assertEqual(self.written(archive), f"1.2.3 ({commit})")
        self.assertEqual(self.written(archive, git=""), f"1.2.3 ({commit})")

    def test_without_git_the_version_stands_alone(self) -> None:
        self.assertEqual(self.written(self.source), "1.2.3")
        self.commit("v1")
        self.assertEqual(self.written(self.source, git=""), "1.2.3")

    def test_the_commit_of_another_repository_is_not_ours(self) -> None:
        inner = self.tree("source/third_party/weft")
        self.commit("v1")
        self.assertEqual(self.written(inner), "1.2.3")

    def test_files_are_left_alone_when_nothing_changes(self) -> None:
        self.commit("v1")
        self.written(self.source)
        header = self.folder / "into/version/weft_version.h"
        before = header.stat().st_mtime_ns
        self.written(self.source)
        self.assertEqual(header.stat().st_mtime_ns, before)


if __name__ == "__main__":
    unittest.main()
