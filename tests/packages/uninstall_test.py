# SPDX-License-Identifier: Apache-2.0
"""What an installation leaves when it is removed: nothing of weft's, and all that others have put beside it. And what
lies in the prefix, as far as it can be looked at there: pages without dead links, manual pages, the module."""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = os.environ["WEFT_BUILD_DIR"]
CMAKE = os.environ.get("WEFT_TEST_CMAKE", "cmake")
LINK = re.compile(r"\]\(([^)\s#]+)(?:#[^)\s]*)?\)")


def install(prefix: pathlib.Path, *options: str, **variables: str) -> None:
    command = [CMAKE, "--install", BUILD, "--prefix", str(prefix), *options]
    subprocess.run(command, check=True, capture_output=True, env={**os.environ, **variables})


def uninstall(prefix: "pathlib.Path | str", **variables: str) -> subprocess.CompletedProcess:
    command = [str(ROOT / "scripts/uninstall"), str(prefix)]
    return subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **variables})


def tree(folder: pathlib.Path) -> "set[str]":
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


class Uninstall(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="weft-uninstall-")))
        self.prefix = self.folder / "pre fix"

    def check_removed(self, prefix: "pathlib.Path | str | None" = None, **variables: str) -> None:
        done = uninstall(prefix or self.prefix, **variables)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_what_others_have_stays(self) -> None:
        theirs = ("share/man/man3/other.3", "lib/pkgconfig/other.pc", "share/doc/other/README", "lib/weft-not/x")
        for name in theirs:
            (self.prefix / name).parent.mkdir(parents=True, exist_ok=True)
            (self.prefix / name).touch()
        (self.prefix / "bin").mkdir()
        (self.prefix / "include").mkdir()
        before = tree(self.prefix)
        install(self.prefix)
        later = "share/zsh/site-functions/_other"
        (self.prefix / later).touch()
        self.check_removed()
        self.assertEqual(tree(self.prefix), before | {later, "share/zsh", "share/zsh/site-functions"})

    def test_a_prefix_of_its_own_goes(self) -> None:
        """Installed twice, used and moved. What is installed elsewhere meanwhile, as for a package, changes nothing,
        though it writes the list of files that CMake keeps in the build."""
        install(self.prefix)
        listed = next(self.prefix.glob("lib*/**/weft/installed.txt"))
        with listed.open("a") as file:
            file.write("file bin/of-an-earlier-version\n")
        (self.prefix / "bin/of-an-earlier-version").touch()
        install(self.prefix)
        stage = self.folder / "stage"
        install(pathlib.Path("/usr"), DESTDIR=str(stage))
        compiled = next(self.prefix.rglob("tune/*.py")).parent / "__pycache__"
        subprocess.run(["python3", "-m", "compileall", "-q", str(compiled.parent)], check=True, capture_output=True)
        self.assertTrue(any(compiled.iterdir()))
        moved = self.folder / "moved"
        self.prefix.rename(moved)
        self.check_removed(moved)
        self.assertEqual([path.name for path in self.folder.iterdir()], ["stage"])
        self.check_removed("/usr", DESTDIR=str(stage))
        self.assertEqual(tree(stage), set())

    def test_packages_have_no_list(self) -> None:
        for component in ("python", "Unspecified"):
            install(self.prefix / component, "--component", component)
        self.assertEqual(list(self.prefix.rglob("installed.txt")), [])
        self.assertEqual(list(self.prefix.rglob("modulefiles")), [])

    def test_refusals(self) -> None:
        done = uninstall(self.folder)
        self.assertEqual(done.returncode, 1)
        self.assertIn(str(self.folder), done.stderr)
        self.assertIn("make uninstall PREFIX=", done.stderr)
        self.assertEqual(uninstall("").returncode, 2)

    def test_a_list_that_leads_out_is_refused(self) -> None:
        kept = self.folder / "kept"
        kept.touch()
        listed = self.prefix / "lib/weft/installed.txt"
        listed.parent.mkdir(parents=True)
        (self.prefix / "file").touch()
        for name in ("../kept", "bin/../../kept", str(kept)):
            listed.write_text(f"file file\nfile {name}\n")
            done = uninstall(self.prefix)
            self.assertEqual(done.returncode, 1)
            self.assertIn(name, done.stderr)
            self.assertTrue(kept.exists() and (self.prefix / "file").exists())


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        folder = tempfile.TemporaryDirectory(prefix="weft-installed-")
        cls.addClassCleanup(folder.cleanup)
        cls.prefix = pathlib.Path(folder.name) / "prefix"  # Lmod takes no blanks
        install(cls.prefix)

    def test_links_of_pages_lead_to_installed_pages(self) -> None:
        documents = self.prefix / "share/doc/weft"
        pages = list(documents.rglob("*.md"))
        self.assertIn(documents / "README.md", pages)
        self.assertIn(documents / "docs/how-to/install.md", pages)
        broken = [
            f"{page.relative_to(documents)}: {target}"
            for page in pages
            for target in LINK.findall(page.read_text())
            if not re.match(r"[a-z]+:", target) and not (page.parent / target).exists()
        ]
        self.assertEqual(broken, [])

    def test_the_first_page_begins_with_what_is_installed(self) -> None:
        page = (self.prefix / "share/doc/weft/README.md").read_text()
        self.assertIn("weft run ./program", page)
        self.assertNotIn("make demo", page)

    def test_the_page_of_the_wheel_has_no_links_to_files(self) -> None:
        name = re.search(r'^readme = "(.*)"', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)[1]
        self.assertEqual([link for link in LINK.findall((ROOT / name).read_text()) if ":" not in link], [])

    def test_manual_pages_of_the_compilers(self) -> None:
        for name in ("weftcc", "weftc++", "weftfort"):
            page = self.prefix / f"share/man/man1/{name}.1"
            self.assertTrue(page.is_file(), name)
            if shutil.which("man"):
                environment = {
                    **os.environ,
                    "MANPATH": str(self.prefix / "share/man"),
                    "MANPAGER": "cat",
                    "MANWIDTH": "80",
                }
                done = subprocess.run(["man", name], env=environment, capture_output=True, text=True, check=False)
                self.assertIn("--weft-report", done.stdout, done.stderr)

    def test_module(self) -> None:
        """By whichever of the two there is."""
        shells = ("/usr/share/modules/init/bash", "/usr/share/lmod/lmod/init/bash")
        shell = next((file for file in shells if os.path.exists(file)), None)
        if not shell:
            self.skipTest("neither Environment Modules nor Lmod")
        script = f"""
        source {shell}
        module use "{self.prefix}/share/modulefiles"
        module load weft || exit 1
        command -v weft; command -v weftcc; echo "$PKG_CONFIG_PATH"; echo "$CMAKE_PREFIX_PATH"
        module unload weft
        case $PATH in *{self.prefix.name}/bin*) echo still there ;; esac
        """
        environment = {name: value for name, value in os.environ.items() if not name.endswith("_PREFIX_PATH")}
        environment.pop("PKG_CONFIG_PATH", None)
        done = subprocess.run(["bash", "-c", script], env=environment, capture_output=True, text=True, check=False)
        real = self.prefix.resolve()
        expected = [f"{real}/bin/weft", f"{real}/bin/weftcc", f"{real}/lib/pkgconfig", str(real)]
        self.assertEqual(done.stdout.splitlines(), expected, done.stderr)


if __name__ == "__main__":
    unittest.main()
