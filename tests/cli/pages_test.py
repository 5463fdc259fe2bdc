# SPDX-License-Identifier: Apache-2.0
"""The manual pages and the completions: whatever --help names stands in them, tools for manual pages have nothing to say,
and the shells really complete."""

import functools
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

WEFT = os.environ["WEFT_COMMAND"]
SHARE = pathlib.Path(os.environ["WEFT_PAGES_DIR"])
ROOT = pathlib.Path(__file__).resolve().parents[2]
BASH = SHARE / "bash-completion/completions/weft"
ZSH = SHARE / "zsh/site-functions/_weft"
FISH = SHARE / "fish/vendor_completions.d/weft.fish"
# Of the calls of libraries and of the compilers; written by hand.
CALLS = sorted((ROOT / "docs/man").glob("*.3"))
COMPILERS = ROOT / "docs/man/weftcc.1"
TIMEOUT_S = 60


def run(*command: object, **options: object) -> subprocess.CompletedProcess:
    words = [str(word) for word in command]
    return subprocess.run(words, capture_output=True, text=True, timeout=TIMEOUT_S, check=False, **options)


@functools.cache
def commands() -> "dict[tuple[str, ...], set[str]]":
    """Each command with the options that its --help names."""
    found = {}
    ahead: list[tuple[str, ...]] = [()]
    while ahead:
        command = ahead.pop(0)
        text = run(WEFT, *command, "--help").stdout
        head, _, below = text.partition("\nSubcommands:\n")
        options = head.partition("\nOptions:\n")[2]
        found[command] = {name for row in re.findall(r"^  (-\S+)", options, re.MULTILINE) for name in row.split(",")}
        ahead += [(*command, name) for name in re.findall(r"^  ([a-z]+)", below, re.MULTILINE)]
    return found


def path_of(command: "tuple[str, ...]") -> str:
    return " ".join(("weft", *command))


def page_of(command: "tuple[str, ...]") -> pathlib.Path:
    return SHARE / "man/man1" / f"{path_of(command).replace(' ', '-')}.1"


class PagesTest(unittest.TestCase):
    def test_help_is_understood(self) -> None:
        self.assertIn("--stats", commands()[("run",)])
        self.assertIn("-f", commands()[("trace",)])
        self.assertIn("--force", commands()[("node", "reset")])

    def test_each_command_has_a_page(self) -> None:
        pages = {page_of(command) for command in commands()}
        self.assertEqual(set(SHARE.glob("man/man*/*")), pages)

    def test_each_option_is_in_the_page(self) -> None:
        for command, options in commands().items():
            rows = re.findall(r"^\.TP\n(\\fB\\-.*)$", page_of(command).read_text(), re.MULTILINE)
            listed = {
                name for row in rows for name in re.findall(r"-[\w-]+", re.sub(r"\\f.", " ", row).replace("\\-", "-"))
            }
            self.assertEqual(listed, options, page_of(command).name)

    def test_the_environment_is_in_the_page(self) -> None:
        table = (ROOT / "src/base/options.def").read_text()
        variables = re.findall(r"^WEFT_OPTION\(\w+, (\w+)", table, re.MULTILINE)
        self.assertGreater(len(variables), 20)
        environment = page_of(()).read_text().partition(".SH ENVIRONMENT")[2]
        self.assertEqual(re.findall(r"^\.TP\n\.B (\w+)$", environment, re.MULTILINE), variables)

    def test_each_call_of_the_library_is_in_a_page(self) -> None:
        exported = re.findall(r"(weft_\w+[^_]);", (ROOT / "src/shm/weft-shm.map").read_text())
        self.assertIn("weft_rwlock_rdlock", exported)
        described = {name for page in CALLS for name in re.findall(r"^\.Nm (weft_\w+)", page.read_text(), re.MULTILINE)}
        self.assertEqual(set(exported) - described, set())

    def test_each_option_of_the_compilers_is_in_their_page(self) -> None:
        said = run(pathlib.Path(WEFT).with_name("weftcc"), "--help").stdout
        options = set(re.findall(r"^  (--[\w-]+)", said, re.MULTILINE))
        self.assertIn("--weft-report", options)
        text = COMPILERS.read_text()
        self.assertEqual({f"--{name}" for name in re.findall(r"^\.It Fl Fl ([\w-]+)", text, re.MULTILINE)}, options)
        variables = set(re.findall(r"^  (WEFT\w+)", said, re.MULTILINE))
        self.assertEqual(variables - set(re.findall(r"WEFT\w+", text)), set())
        keys = re.search(r"the names: (.*?)\(the folder.*?\), (.*)", said, re.DOTALL)
        for key in re.findall(r"[a-z-]+", f"{keys[1]} {keys[2]}"):
            self.assertRegex(text, rf"\.Cm .*\b{key}\b")

    def check_lint(self, tool: str, *options: str, ignored: str = "$^") -> None:
        if not shutil.which(tool):
            self.skipTest(f"no {tool}")
        environment = {**os.environ, "LC_ALL": "C.UTF-8", "MANWIDTH": "80"}
        for page in (*map(page_of, commands()), *CALLS, COMPILERS):
            done = run(tool, *options, page, env=environment)
            said = done.stderr + (done.stdout if tool == "mandoc" else "")
            complaints = [line for line in said.splitlines() if not re.search(ignored, line)]
            self.assertEqual(complaints, [], page.name)

    def test_man(self) -> None:
        self.check_lint("man", "--warnings", "-l")

    def test_groff(self) -> None:
        self.check_lint("groff", "-ww", "-mandoc", "-Tutf8")

    def test_mandoc(self) -> None:
        # A date would differ from build to build.
        self.check_lint("mandoc", "-Tlint", "-Wwarning", ignored="missing date")


class BashTest(unittest.TestCase):
    # In place of the shell's own splitting at COMP_WORDBREAKS.
    SCRIPT = """
    set -u
    source "$1"; shift
    COMP_WORDS=("$@")
    COMP_CWORD=$(($# - 1))
    _weft
    printf '%s\\n' "${COMPREPLY[@]}"
    """

    def complete(self, *words: str, cwd: "str | None" = None) -> "list[str]":
        done = run("bash", "--norc", "-c", self.SCRIPT, "bash", BASH, *words, cwd=cwd)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout.split()

    def test_commands(self) -> None:
        for command in {(), *(command[:-1] for command in commands() if command)}:
            below = [other[-1] for other in commands() if other and other[:-1] == command]
            self.assertEqual(sorted(self.complete("weft", *command, "")), sorted(below))
        self.assertEqual(self.complete("weft", "no"), ["node"])

    def test_options(self) -> None:
        for command, options in commands().items():
            self.assertEqual(set(self.complete("weft", *command, "-")), options, command)
        self.assertEqual(self.complete("weft", "run", "--cpus", "3", "--rep"), ["--reproducible"])

    def test_values(self) -> None:
        modes = ["dynamic", "static", "exclusive", "counting"]
        self.assertEqual(self.complete("weft", "run", "--mode", ""), modes)
        self.assertEqual(self.complete("weft", "run", "--stats", "--mode", "=", "st"), ["static"])
        self.assertEqual(self.complete("weft", "run", "--mode", "="), modes)
        self.assertEqual(self.complete("weft", "run", "--cpus", ""), [])
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "trace-1.json").touch()
            self.assertEqual(self.complete("weft", "trace", "-o", "tr", cwd=folder), ["trace-1.json"])

    def test_programs(self) -> None:
        self.assertIn("bash", self.complete("weft", "run", "--cpus", "3", "bas"))
        self.assertIn("bash", self.complete("weft", "run", "--mode", "=", "static", "--", "bas"))
        # What follows the program is the program's.
        self.assertEqual(self.complete("weft", "run", "bash", "--stat"), [])
        self.assertEqual(self.complete("weft", "run", "bash", "--mode", ""), self.complete("weft", "run", "bash", ""))


@unittest.skipUnless(shutil.which("fish"), "no fish")
class FishTest(unittest.TestCase):
    def complete(self, line: str) -> "set[str]":
        with tempfile.TemporaryDirectory() as home:
            environment = {**os.environ, "HOME": home, "XDG_CONFIG_HOME": home, "XDG_DATA_HOME": home}
            done = run(
                "fish", "--no-config", "-c", 'source $argv[1]; complete -C "$argv[2]"', FISH, line, env=environment
            )
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return {row.split("\t")[0] for row in done.stdout.splitlines()}

    def test_commands_and_options(self) -> None:
        for command, options in commands().items():
            below = {other[-1] for other in commands() if other and other[:-1] == command}
            if below:
                self.assertEqual(self.complete(f"{path_of(command)} "), below)
            long_names = {name for name in options if name.startswith("--")}
            self.assertEqual(self.complete(f"{path_of(command)} --"), long_names)

    def test_values_and_programs(self) -> None:
        self.assertEqual(self.complete("weft run --mode st"), {"static"})
        self.assertIn("bash", self.complete("weft run --cpus 3 bas"))
        self.assertNotIn("--stats", self.complete("weft run --cpus 3 bash --stat"))


@unittest.skipUnless(shutil.which("zsh"), "no zsh")
class ZshTest(unittest.TestCase):
    # An interactive zsh on a terminal of its own. It reads until it has seen the text that is wanted.
    SCRIPT = """
    zmodload zsh/zpty
    zpty shell zsh -f -i
    zpty -w shell "PS1= ; fpath=($1 \\$fpath); autoload -U compinit; compinit -u -D; stty -onlcr; LISTMAX=9999"
    zpty -w shell "zstyle ':completion:*' list-prompt ''; echo READ''Y"
    zpty -r shell line '*READY*'
    zpty -n -w shell "$2"$'\\t\\t\\t'
    zpty -r shell line "*$3*"
    zpty -d shell
    """

    def check(self, line: str, wanted: str) -> None:
        done = run("zsh", "-f", "-c", self.SCRIPT, "zsh", ZSH.parent, line, wanted)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_it_is_zsh(self) -> None:
        done = run("zsh", "-n", ZSH)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_every_option_is_in_the_file(self) -> None:
        text = ZSH.read_text()
        for command, options in commands().items():
            function = text.partition(f"\n_{path_of(command).replace(' ', '_')}() {{\n")[2].partition("\n}\n")[0]
            listed = set(re.findall(r"(?:(?<=[{,'])|(?<=\*))(--?\w[\w-]*)(?=[+=,}\[])", function))
            self.assertEqual(listed, options, command)

    def test_it_completes(self) -> None:
        self.check("weft ", "-- Run the program as")
        self.check("weft run --mode ", "exclusive")
        self.check("weft run --cpus 3 --rep", "--reproducible")


if __name__ == "__main__":
    unittest.main()
