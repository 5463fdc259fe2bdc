# SPDX-License-Identifier: Apache-2.0
"""The recipes of packaging/ that compile weft: what they tell CMake configures it where its libraries lie in a folder of their own
and nowhere else. Neither Spack, nor conda, nor a container is started; tests/packages/deployment starts those that take the archive.
"""

import glob
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import types
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGING = ROOT / "packaging"
BUILD = pathlib.Path(os.environ["WEFT_BUILD_DIR"])
CMAKE = os.environ.get("WEFT_TEST_CMAKE", "cmake")
CHART_JS = "/usr/share/javascript/chart.js/chart.min.js"
# Nothing is found by the system's folders: only what a recipe or its package manager names.
ALONE = (
    "-DCMAKE_FIND_USE_CMAKE_SYSTEM_PATH=OFF",
    "-DCMAKE_FIND_USE_SYSTEM_ENVIRONMENT_PATH=OFF",
    f"-DCMAKE_CXX_COMPILER={shutil.which('c++')}",
    f"-DCMAKE_C_COMPILER={shutil.which('cc')}",
    f"-DCMAKE_MAKE_PROGRAM={shutil.which('ninja')}",
    f"-DPython3_EXECUTABLE={sys.executable}",
)


def make_prefix(prefix: pathlib.Path) -> None:
    """Links to the libraries that weft is built with, as a package manager's prefix has them. Debian's files for CMake
    find each other by their folders' depth, so that it stays."""
    wanted = (
        ("/usr", "include", ("boost", "CLI", "xxhash.h", "elfutils")),
        ("/usr", "lib/*-linux-gnu", ("libboost_context.*",)),
        ("/usr", "lib/*-linux-gnu/cmake", ("Boost*", "boost_*")),
        ("/usr", "share/cmake", ("CLI11*",)),
    )
    for root, folder, patterns in wanted:
        for pattern in patterns:
            for found in glob.glob(f"{root}/{folder}/{pattern}"):
                link = prefix / pathlib.Path(found).relative_to(root)
                link.parent.mkdir(parents=True, exist_ok=True)
                link.symlink_to(found)


class Configured(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory(prefix="weft-recipes-")))
        cls.prefix = cls.folder / "prefix"
        make_prefix(cls.prefix)
        # Not where CMake would look for it.
        cls.chart_js = cls.folder / "else where" / "chart.min.js"
        cls.chart_js.parent.mkdir()
        shutil.copy(CHART_JS, cls.chart_js)

    def run_command(self, command: "list[object] | str", **variables: str) -> subprocess.CompletedProcess:
        shell = isinstance(command, str)
        words = command if shell else [str(word) for word in command]
        environment = {**os.environ, **variables}
        return subprocess.run(
            words, shell=shell, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=240, check=False
        )


class Spack(Configured):
    """The package's own method says what CMake gets."""

    def arguments(self, **variants: object) -> "list[str]":
        directives = {
            name: lambda *_, **__: None for name in ("license", "version", "depends_on", "generator", "conflicts")
        }
        directives |= {"variant": lambda name, default, **_: self.variants.setdefault(name, default)}
        self.variants: dict[str, object] = {}
        package = types.SimpleNamespace(
            **directives,
            CMakePackage=object,
            run_after=lambda _: lambda function: function,
        )
        text = (PACKAGING / "spack/package.py").read_text()
        names = dict(vars(package))
        exec(compile(text.replace("from spack.package import *", ""), "package.py", "exec"), names)
        self.assertEqual(set(variants) - set(self.variants), set())
        chosen = {**self.variants, **variants}
        weft = names["Weft"]()
        weft.spec = types.SimpleNamespace(
            variants={name: types.SimpleNamespace(value=value) for name, value in chosen.items()}
        )

        def define(name: str, value: object) -> str:
            return f"-D{name}={'ON' if value is True else 'OFF' if value is False else value}"

        weft.define = define
        weft.define_from_variant = lambda name, variant: define(name, chosen[variant])
        return weft.cmake_args()

    def configure(self, **variants: object) -> subprocess.CompletedProcess:
        build = tempfile.mkdtemp(dir=self.folder)
        return self.run_command(
            [
                *(CMAKE, "-G", "Ninja", "-S", ROOT, "-B", build, f"-DCMAKE_PREFIX_PATH={self.prefix}"),
                *ALONE,
                *self.arguments(**variants),
            ]
        )

    def test_it_configures(self) -> None:
        done = self.configure(chart_js=str(self.chart_js))
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_without_chart_js_the_error_names_the_way_out(self) -> None:
        done = self.configure()
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("-DWEFT_CHART_JS=FILE", done.stderr)
        # All else is there.
        self.assertEqual(re.findall(r"Debian: (\S+);", done.stderr), ["libjs-chart.js"])

    def test_each_library_is_a_dependency(self) -> None:
        text = (PACKAGING / "spack/package.py").read_text()
        self.assertEqual(
            set(re.findall(r'depends_on\("([a-z0-9-]+)', text)) - {"cxx", "cmake", "ninja", "python"},
            {"boost", "cli11", "xxhash", "elfutils"},
        )


class Conda(Configured):
    def test_it_configures(self) -> None:
        text = (PACKAGING / "conda/meta.yaml").read_text()
        script = re.search(r"^  script:\n((?:    .*\n)+)", text, re.MULTILINE)[1]
        commands = [" ".join(item.split()) for item in re.split(r"^    - ", script, flags=re.MULTILINE) if item]
        configures = [command for command in commands if command.startswith("cmake -S")]
        self.assertEqual(len(configures), 1)
        # As conda's compilers set it.
        root = f"-DCMAKE_PREFIX_PATH={self.prefix} -DCMAKE_FIND_ROOT_PATH={self.prefix}"
        modes = " ".join(
            f"-DCMAKE_FIND_ROOT_PATH_MODE_{kind}={mode}"
            for kind, mode in (("PROGRAM", "NEVER"), ("LIBRARY", "ONLY"), ("INCLUDE", "ONLY"))
        )
        build = self.folder / "conda build"
        command = configures[0].replace("cmake -S", f"{CMAKE} -S").replace("-B build-conda", f"-B '{build}'")
        done = self.run_command(
            command,
            CMAKE_ARGS=f"{root} {modes} {' '.join(ALONE)}",
            PREFIX=str(self.prefix),
            WEFT_CHART_JS=str(self.chart_js),
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("libboost_context.so", (build / "build.ninja").read_text())


class Versions(unittest.TestCase):
    def test_each_recipe_has_that_of_the_project(self) -> None:
        version = re.search(r"^project\(weft VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text(), re.MULTILINE)[1]
        stated = {"easybuild": [path.name for path in (PACKAGING / "easybuild").iterdir()]}
        for name in ("spack/package.py", "conda/meta.yaml", "conda/recipe.yaml"):
            stated[name] = re.findall(r"version\S*[( ](?:= )?\"([\d.]+)\"", (PACKAGING / name).read_text())
        (easyconfig,) = stated["easybuild"]
        stated[easyconfig] = re.findall(
            r"^version = '(.*)'", (PACKAGING / "easybuild" / easyconfig).read_text(), re.MULTILINE
        )
        expected = {name: [version] for name in stated} | {"easybuild": [f"weft-{version}.eb"]}
        self.assertEqual(stated, expected)


class Containers(unittest.TestCase):
    def setUp(self) -> None:
        self.docker = (PACKAGING / "container/Dockerfile.source").read_text()
        self.apptainer = (PACKAGING / "container/weft.def").read_text()

    def packages(self) -> "list[str]":
        return re.search(r"--no-install-recommends ([^\\\n]*)", self.docker)[1].split()

    def test_both_do_the_same(self) -> None:
        for part in ("make install PREFIX=/opt/weft", "scripts/setup --build", "debian:12-slim", "rm -rf build"):
            self.assertIn(part, self.docker)
            self.assertIn(part, self.apptainer)
        self.assertIn(f"--no-install-recommends {' '.join(self.packages())}\n", self.apptainer)

    def test_what_is_copied_exists(self) -> None:
        for source in re.findall(r"^COPY (?!--from)(\S+) ", self.docker, re.MULTILINE):
            self.assertTrue((ROOT / source).exists(), source)

    def test_the_second_stage_has_each_library(self) -> None:
        """By the packages that this system knows; a slim Debian has those that apt itself needs."""
        if not shutil.which("dpkg-query"):
            self.skipTest("no dpkg")
        files = (BUILD / "bin/weft", BUILD / "bin/weftcc", BUILD / "lib/weft/libgomp.so.1")
        said = subprocess.run(["ldd", *map(str, files)], capture_output=True, text=True, check=True).stdout
        needed = set()
        for library in set(re.findall(r"=> (/\S+)", said)):
            # dpkg may know it by the one name or the other, where /lib is a link.
            words = ["dpkg-query", "-S", library, os.path.realpath(library)]
            owners = subprocess.run(words, capture_output=True, text=True, check=False).stdout
            self.assertNotEqual(owners, "", library)
            needed.add(owners.split(":")[0])
        self.assertIn("libc6", needed)
        ahead, there = ["apt", "dpkg", *self.packages()], set()
        while ahead:
            package = ahead.pop()
            if package not in there:
                there.add(package)
                words = ["dpkg-query", "-W", "-f=${Depends},${Pre-Depends}", package]
                depends = subprocess.run(words, capture_output=True, text=True, check=False).stdout
                ahead += re.findall(r"(?:^|,)\s*([a-z0-9.+-]+)", depends)
        self.assertEqual(needed - there, set())


if __name__ == "__main__":
    unittest.main()
