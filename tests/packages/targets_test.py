# SPDX-License-Identifier: Apache-2.0
"""What `make install`, `make deb` and pip build: all that they install, and no more. Read from the rules of the build,
so that it costs no second one."""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

import ninja_graph

try:
    import tomllib
except ImportError:
    from pip._vendor import tomli as tomllib

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ["WEFT_BUILD_DIR"])
CMAKE = os.environ.get("WEFT_TEST_CMAKE", "cmake")
TESTS_ONLY = re.compile(r"^(tests|bench)/|_(scale|tsan)\.dir/|gtest")


class Case(unittest.TestCase):
    def missing(self, build: pathlib.Path, component: str, targets: "list[str]") -> "list[str]":
        """What the component installs and none of the targets makes."""
        graph = ninja_graph.Graph(build)
        files = ninja_graph.installed(build, component)
        self.assertGreater(len(files), 20)
        edges = [edge for target in targets for edge in graph.edges_of(target)]
        self.assertNotEqual(edges, [], targets)
        made = {graph.name(output) for edge in edges for output in edge.outputs}
        commands = "\n".join(edge.command for edge in edges)

        def is_there(file: str) -> bool:
            if graph.name(file) in graph.made_by:
                return graph.name(file) in made
            if file.endswith("/") and f"{build}/" in file:  # a stamp is made in the folder's place
                return pathlib.Path(file).exists() or file.rstrip("/") in commands
            return pathlib.Path(file).exists()

        return [file for file in files if not is_there(file)]


class Installation(Case):
    def test_installation(self) -> None:
        self.assertEqual(self.missing(BUILD, "Unspecified", ["weft_installed"]), [])

    def test_engines(self) -> None:
        graph = ninja_graph.Graph(BUILD)
        names = {graph.name(file) for file in ninja_graph.installed(BUILD, "engines")}
        self.assertEqual(names - graph.made_for("weft_installed_engines"), set())

    def test_no_test_is_built_for_an_installation(self) -> None:
        graph = ninja_graph.Graph(BUILD)
        objects = {name for name in graph.made_by if name.endswith(".o")}
        if not any(name.startswith("tests/") for name in objects):
            self.skipTest("this tree is set up without tests")
        for target in ("weft_installed", "weft_installed_python"):
            made = graph.made_for(target) & objects
            self.assertGreater(len(made), 100)
            self.assertEqual([name for name in sorted(made) if TESTS_ONLY.search(name)], [])

    def test_the_list_is_read(self) -> None:
        """A target that makes too little is seen: this test can fail."""
        missing = self.missing(BUILD, "python", ["weft", "weft_audit", "weft_command"])
        self.assertIn(str(BUILD / "lib/weft/libweft-mpi.so"), missing)


@unittest.skipUnless(shutil.which("git") and (ROOT / ".git").exists(), "no git")
class Pip(Case):
    """Of a tree that holds what an sdist does, configured as pip does it."""

    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory(prefix="weft-pip-"))).resolve()
        cls.project = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["scikit-build"]
        cls.build = cls.folder / "build"

    def sources(self) -> pathlib.Path:
        words = ["git", "-C", str(ROOT), "ls-files", "-co", "--exclude-standard"]
        names = subprocess.run(words, capture_output=True, text=True, check=True).stdout.splitlines()
        excluded = {pattern.strip("/") for pattern in self.project["sdist"]["exclude"]}
        self.assertIn("tests", excluded)
        for name in names:
            parts = pathlib.PurePath(name).parts
            hidden = any(part.startswith(".") for part in parts) and name not in self.project["sdist"]["include"]
            if parts[0] not in excluded and not hidden and (ROOT / name).is_file():
                copy = self.folder / "sources" / name
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / name, copy)
        return self.folder / "sources"

    def test_wheel(self) -> None:
        define = [f"-D{name}={value}" for name, value in self.project["cmake"]["define"].items()]
        command = [CMAKE, "-S", self.sources(), "-B", self.build, "-G", "Ninja", *define, "-DCMAKE_BUILD_TYPE=Release"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        (component,) = self.project["install"]["components"]
        targets = self.project["build"]["targets"]
        self.assertEqual(self.missing(self.build, component, targets), [])
        graph = ninja_graph.Graph(self.build)
        for target in targets:
            self.assertEqual(graph.lacking_for(target), set())


if __name__ == "__main__":
    unittest.main()
