# SPDX-License-Identifier: Apache-2.0
"""A file that begins with a dot is no source and no test: editors keep their locks so, as links that lead nowhere."""

import os
import pathlib
import re
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROJECT = f"""
cmake_minimum_required(VERSION 3.25)
project(hidden LANGUAGES NONE)
include({ROOT}/cmake/WeftFolders.cmake)
weft_sources(found folder)
file(WRITE found "${{found}}")
"""


class HiddenFilesTest(unittest.TestCase):
    def test_sources_of_a_folder(self) -> None:
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="weft-hidden-")))
        (folder / "CMakeLists.txt").write_text(PROJECT)
        (folder / "folder").mkdir()
        for name in "a.cpp", "_b.cpp", ".c.cpp":
            (folder / "folder" / name).touch()
        (folder / "folder/.#a.cpp").symlink_to("somebody@somewhere.1")
        command = [os.environ["WEFT_TEST_CMAKE"], "-S", folder, "-B", folder / "build"]
        subprocess.run(command, capture_output=True, check=True)
        self.assertEqual((folder / "found").read_text(), "folder/_b.cpp;folder/a.cpp")

    def test_all_patterns(self) -> None:
        patterns = []
        folders = [folder for folder in ROOT.iterdir() if folder.is_dir() and folder.name not in ("build", ".git")]
        for file in (file for folder in folders for file in folder.rglob("*")):
            if file.name != "CMakeLists.txt" and file.suffix != ".cmake":
                continue
            calls = re.findall(r"(?:file\(GLOB|TRANSFORM \w+ APPEND)\b([^)]*)", file.read_text())
            patterns += [word for call in calls for word in call.split() if "*" in word]
        self.assertGreater(len(patterns), 10)
        self.assertEqual([pattern for pattern in patterns if pattern.split("/")[-1].startswith("*")], [])


if __name__ == "__main__":
    unittest.main()
