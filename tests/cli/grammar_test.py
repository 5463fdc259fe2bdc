# SPDX-License-Identifier: Apache-2.0
"""The grammar of the commands (docs/reference/commands.md): an option means the same in each command, those that run a
program have the options of `weft run`, and earlier spellings still work."""

import functools
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

WEFT = os.environ["WEFT_COMMAND"]
ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/reference/commands.md"
LIBRARIES = pathlib.Path(WEFT).parents[1] / "lib/weft"
TIMEOUT_S = 60
# Commands that start what stands behind their options.
RUN_PROGRAMS = ("run", "trace", "report", "numa")


def weft(*words: object, **options: object) -> subprocess.CompletedProcess:
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("OMP_", "WEFT_", "LD_"))}
    environment = kept | options.pop("env", {})
    command = [WEFT, *map(str, words)]
    return subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=TIMEOUT_S, check=False, **options
    )


@functools.cache
def commands() -> "dict[tuple[str, ...], dict[str, str]]":
    """By command what --help says: by option the name of its value, "" for none."""
    found = {}
    ahead: list[tuple[str, ...]] = [()]
    while ahead:
        command = ahead.pop(0)
        head, _, below = weft(*command, "--help").stdout.partition("\nSubcommands:\n")
        options = {}
        for names, value in re.findall(r"^  (-\S+) ?(\S*)", head.partition("\nOptions:\n")[2], re.MULTILINE):
            options |= dict.fromkeys(names.split(","), value.split("=")[0])  # FILE=what.holds.without
        found[command] = options
        ahead += [(*command, name) for name in re.findall(r"^  ([a-z]+)", below, re.MULTILINE)]
    return found


def help_of(command: str, option: str) -> str:
    """The words behind the option, in one line."""
    text = weft(command, "--help").stdout
    rows = re.split(r"^  (?=-)", text.partition("\nOptions:\n")[2], flags=re.MULTILINE)
    row = next(row for row in rows if option in row.split(" ")[0].split(","))
    return " ".join(row.partition("\n\n")[0].split()[1:])


class Grammar(unittest.TestCase):
    def test_help_is_understood(self) -> None:
        self.assertEqual(commands()[("run",)]["--stats"], "")
        self.assertEqual(commands()[("trace",)]["--library"], "FILE")
        self.assertEqual(commands()[("run",)]["--factor"], commands()[("run",)]["-f"])
        self.assertIn(("tune", "check"), commands())

    def test_json_takes_a_file(self) -> None:
        having = {command for command, options in commands().items() if "--json" in options}
        self.assertLessEqual({("report",), ("compare",), ("numa",), ("top",), ("info",), ("node", "status")}, having)
        for command in having:
            self.assertEqual(commands()[command]["--json"], "FILE", command)

    def test_output_is_a_place(self) -> None:
        for command, options in commands().items():
            self.assertEqual("-o" in options, "--output" in options, command)
            if "-o" in options:
                self.assertIn(options["-o"], ("FILE", "FOLDER"), command)
                self.assertEqual(options["-o"], options["--output"], command)

    def test_an_option_means_the_same_everywhere(self) -> None:
        values: dict[str, dict[str, list]] = {}
        for command, options in commands().items():
            for name, value in options.items():
                values.setdefault(name, {}).setdefault(value, []).append(command)
        unlike = {name: forms for name, forms in values.items() if len(forms) > 1}
        self.assertEqual(set(unlike) - {"-o", "--output"}, set(), unlike)

    def test_each_command_that_runs_programs_takes_the_options_of_run(self) -> None:
        of_run = commands()[("run",)]
        self.assertGreater(len(of_run), 10)
        for command in RUN_PROGRAMS:
            self.assertLessEqual(of_run.items(), commands()[(command,)].items(), command)
            for option in set(of_run) - {"-h", "--help"}:
                self.assertEqual(help_of(command, option), help_of("run", option))

    def test_each_option_of_run_has_its_variable_or_a_reason(self) -> None:
        table = (ROOT / "src/base/options.def").read_text()
        variables = set(re.findall(r"^WEFT_OPTION\(\w+, (\w+)", table, re.MULTILINE))
        page = PAGE.read_text()
        for option in commands()[("run",)]:
            if option in ("-h", "--help", "-f"):
                continue
            named = re.search(r"WEFT_\w+", help_of("run", option))
            row = re.search(rf"^\| `{option}[^|]*\| ([^|]*) \|", page, re.MULTILINE)
            self.assertIsNotNone(row, option)
            if named:
                self.assertIn(named[0], variables)
                self.assertIn(f"`{named[0]}`", row[1], option)
            else:
                self.assertRegex(row[1], r"^none: \w+", option)

    def test_libraries_have_one_form_of_name(self) -> None:
        own = [path for path in LIBRARIES.glob("*weft*.so*") if not path.is_symlink()]
        self.assertGreater(len(own), 5)
        for path in own:
            now = path.name.replace("libweft_", "libweft-").replace("_", "-")
            if now != path.name and path.with_name(now) in own:
                continue  # an earlier build has left it
            # Open MPI looks for components by names of its own.
            self.assertRegex(path.name, r"^libweft-[a-z-]+\.so(\.\d+)?$|^mca_coll_weft\.so$")


class Files(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="weft-grammar-")))
        self.file = self.folder / "result.json"

    def test_json(self) -> None:
        """Into a file beside the text; to stdout in its place."""
        for command in ("info",), ("node", "status"), ("top",):
            with self.subTest(command=command):
                done = weft(*command, "--json", self.file)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertNotEqual(done.stdout, "")
                self.assertIsInstance(json.loads(self.file.read_text()), dict)
                self.file.unlink()
                done = weft(*command, "--json", "-")
                self.assertIsInstance(json.loads(done.stdout), dict)
                done = weft(*command, "--json", "/nonexistent/x")
                self.assertEqual((done.returncode, done.stdout), (1, ""))
                self.assertRegex(done.stderr, r"^weft: .*/nonexistent/x: .*\n$")

    def test_numa(self) -> None:
        text = self.folder / "text"
        done = weft("numa", "-o", text, "--json", self.file, "true")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        self.assertIn("true", text.read_text())
        json.loads(self.file.read_text())
        done = weft("numa", "-o", "-", "true")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertNotEqual(done.stdout, "")
        done = weft("numa", "-o", "-", "--json", "-", "true")
        self.assertEqual(done.returncode, 2)
        self.assertIn("only one of them", done.stderr)

    def test_names_of_255_bytes(self) -> None:
        longest = self.folder / f"{'x' * 250}.json"
        for _ in range(2):  # over an older one, too
            done = weft("info", "--json", longest)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            json.loads(longest.read_text())
            self.assertEqual(list(self.folder.iterdir()), [longest])

    def test_hard_links_stay(self) -> None:
        other = self.folder / "other.json"
        self.file.write_text("{}")
        other.hardlink_to(self.file)
        self.assertEqual(weft("info", "--json", self.file).returncode, 0)
        self.assertTrue(other.samefile(self.file))
        self.assertIn("cpus", json.loads(other.read_text()))
        # An older one stays where there is none.
        before = other.read_text()
        done = weft("report", "-o", self.folder / "page.html", "--json", self.file, self.folder)
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(other.read_text(), before)

    @unittest.skipIf(os.geteuid() != 0, "only root can give a file to somebody else")
    def test_owners_stay(self) -> None:
        nobody = 65534
        self.file.write_text("{}")
        os.chown(self.file, nobody, nobody)
        self.file.chmod(0o640)
        self.assertEqual(weft("info", "--json", self.file).returncode, 0)
        found = self.file.stat()
        self.assertEqual((found.st_uid, found.st_gid, found.st_mode & 0o7777), (nobody, nobody, 0o640))
        self.assertIn("cpus", json.loads(self.file.read_text()))
        # Whoever may write the file, but not give one away.
        self.folder.chmod(0o777)
        self.file.write_text("{}")
        os.chown(self.file, 0, 0)
        self.file.chmod(0o666)
        try:
            done = weft("info", "--json", self.file, user=nobody, group=nobody, extra_groups=[])
        except PermissionError:
            self.skipTest("the build is not there for others")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(self.file.stat().st_uid, 0)
        self.assertIn("cpus", json.loads(self.file.read_text()))
        self.assertEqual(list(self.folder.iterdir()), [self.file])

    def test_numa_runs_on_weft_where_that_is_asked_for(self) -> None:
        seen = 'echo "${LD_AUDIT##*/} $WEFT_NUM_CPUS"'
        self.assertEqual(weft("numa", "sh", "-c", seen).stdout, " \n")
        self.assertEqual(weft("numa", "--cpus", "1", "sh", "-c", seen).stdout, "libweft-audit.so 1\n")
        done = weft("numa", "--cpus", "1", os.getpid())
        self.assertEqual(done.returncode, 2)
        self.assertIn("runs already", done.stderr)

    def test_variables_stand_for_options(self) -> None:
        seen = 'echo "$LD_PRELOAD" | grep -o "libweft-[a-z]*"'
        if (LIBRARIES / "libweft-mpi.so").exists():
            self.assertEqual(weft("run", "sh", "-c", seen, env={"WEFT_MPI": "true"}).stdout, "libweft-mpi\n")
            self.assertEqual(weft("run", "sh", "-c", seen, env={"WEFT_MPI": "0"}).stdout, "")

    @unittest.skipUnless(pathlib.Path("/proc/self/numa_maps").exists(), "the kernel has no NUMA")
    def test_memory_is_placed_by_the_variable_too(self) -> None:
        policy = ("sh", "-c", "head -1 /proc/self/numa_maps | cut -d' ' -f2")
        done = weft("run", *policy, env={"WEFT_NUMA": "interleave"})
        self.assertRegex(done.stdout, r"^interleave:")
        self.assertEqual(done.stderr, "")
        self.assertRegex(weft("run", *policy, env={"WEFT_NUMA": " Interleave"}).stdout, r"^interleave:")
        self.assertEqual(weft("run", *policy, env={"WEFT_NUMA": "spread"}).stdout, "default\n")
        asks = ("python3", "-c", "import ctypes; ctypes.CDLL('libgomp.so.1').omp_get_max_threads()")
        self.assertEqual(weft("run", *asks, env={"WEFT_NUMA": "interleave"}).stderr, "")
        self.assertEqual(weft("run", "--numa", "spread", *policy, env={"WEFT_NUMA": "interleave"}).stdout, "default\n")


class Names(unittest.TestCase):
    """Of files: what each option says of those that cannot be, before a program runs."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="weft-grammar-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def refused(self, *words: object, code: int = 2) -> str:
        """The one line that is said; nothing is written."""
        before = set(self.folder.rglob("*"))
        done = weft(*words, cwd=self.folder)
        self.assertEqual((done.returncode, done.stdout), (code, ""), done.stderr)
        self.assertRegex(done.stderr, r"^weft: .*\n$")
        self.assertEqual(set(self.folder.rglob("*")), before)
        return done.stderr

    def test_they_are_no_options(self) -> None:
        """Where a file was forgotten, the option behind is not taken for one. Nor is what is empty, nor one of two."""
        seen = 0
        for command, options in commands().items():
            for option in (option for option, value in options.items() if value in ("FILE", "FOLDER")):
                seen += 1
                with self.subTest(command=command, option=option):
                    kind = options[option].lower()
                    attached = f"{option}=--frob" if option.startswith("--") else f"{option}--frob"
                    says = f": the name of a {kind} is wanted, not --frob; a {kind} of that name is ./--frob"
                    self.assertIn(says, self.refused(*command, attached, "touch", "ran"))
                    # In these places --json was a flag.
                    if option != "--json" or command in (("report",), ("numa",)):
                        self.assertIn(says, self.refused(*command, option, "--frob", "touch", "ran"))
                    self.assertIn("this one is empty", self.refused(*command, option, ""))
                    self.assertIn(": is given twice", self.refused(*command, option, "a", option, "b"))
        self.assertGreater(seen, 20)
        for words in ("merge", ""), ("merge", "--", "-x"), ("tune", "check", ""), ("compare", "", "b"):
            self.assertIn(": the name of a file is wanted", self.refused(*words))
        for words in ("trace", "-o"), ("report", "--trace"), ("merge", "-o"), ("run", "--library"):
            self.assertIn("not -; a file of that name is ./-", self.refused(*words, "-", "true"))

    def test_they_are_no_programs(self) -> None:
        """Where a file was forgotten, the program behind stays: nothing is written over it, and nothing runs."""
        program, library = self.folder / "prog", self.folder / "library"
        script = self.folder / "script.prom"
        shutil.copy(shutil.which("true"), program)
        shutil.copy(program, library)
        library.chmod(0o644)
        script.write_text("#!/bin/sh")
        script.chmod(0o755)
        runs = ("sh", "-c", "touch ran")
        for command, options, behind in (
            ("trace", ("-o",), runs),
            ("report", ("-o", "--json", "--trace"), runs),
            ("numa", ("-o", "--json", "--svg"), runs),
            ("merge", ("-o",), ("a.json",)),
            ("compare", ("--json",), ("a.json", "b.json")),
            ("info", ("--json",), ("true",)),
            ("node status", ("--json",), ()),
            ("top", ("--json", "--openmetrics"), ()),
        ):
            for option in options:
                files = [script] if option == "--openmetrics" else [program, library, script]
                for file in files:
                    with self.subTest(command=command, option=option, file=file):
                        before = file.read_bytes()
                        name = f"./{file.name}"
                        given = (f"{option}={name}",) if option.startswith("--") else (option, name)
                        said = self.refused(*command.split(), *given, *behind)
                        long = "--output" if option == "-o" else option
                        self.assertIn(f"{long}: {name} is a program or a library", said)
                        self.assertIn("name another file", said)
                        self.assertEqual(file.read_bytes(), before)
        link = self.folder / "link"
        link.symlink_to(program)
        self.assertIn("is a program", self.refused("report", "--json", "link", "true"))

    def test_what_a_program_is(self) -> None:
        """Begins like one, or is Python's, or a text that may be executed: but results may on some file systems."""
        result, script, source = (self.folder / name for name in ("result.json", "script", "app.py"))
        script.write_text("#!/bin/sh")
        source.write_text("print(1)")
        shutil.copy(shutil.which("true"), self.folder / "prog-0")
        for file in script, source:
            said = self.refused("info", "--json", f"./{file.name}")
            self.assertIn(f"--json: ./{file.name} is a program or a library", said)
        for words in ("trace", "-o"), ("report", "--json"), ("numa", "--svg"):
            self.assertIn("prog-0 is a program or a library", self.refused(*words, "prog-%r", "touch", "ran"))
        plain = self.folder / "run.sh"
        plain.write_text("echo ran\n")
        plain.chmod(0o755)
        for words in ("trace", "-o", "./run.sh"), ("info", "--json=./run.sh"):
            self.assertIn("run.sh is a program or a library", self.refused(*words, "true"))
        self.assertEqual(plain.read_text(), "echo ran\n")
        for text in (
            "",
            '{\n  "an": "older one"}',
            "<!DOCTYPE html>\n",
            "weft numa: process 1 (true)\n",
            "# TYPE weft_x gauge\n",
        ):
            result.write_text(text)
            result.chmod(0o777)
            self.assertEqual(weft("node", "status", "--json", result).returncode, 0, text)
            json.loads(result.read_text())

    def test_they_are_no_results_of_the_kind_that_is_read(self) -> None:
        """By a pattern of names, the first of which stands where a file was forgotten."""
        for rank in range(3):
            run = {"rank": rank, "host": "here", "began": 0, "together": 0}
            (self.folder / f"wt-{rank}.json").write_text(json.dumps({"traceEvents": [], "otherData": run}))
            (self.folder / f"report-{rank}.json").write_text('{"format": "weft report 1"}')
        said = self.refused("merge", "-o", "wt-0.json", "wt-1.json", "wt-2.json")
        self.assertIn("-o wt-0.json: is the trace of a rank", said)
        said = self.refused("compare", "--json", *(f"report-{rank}.json" for rank in range(3)))
        self.assertIn("--json report-0.json: is a report", said)
        self.assertEqual((self.folder / "report-0.json").read_text(), '{"format": "weft report 1"}')
        merged = self.folder / "merged.json"
        for _ in range(2):  # over an earlier one, too
            done = weft("merge", "-o", merged, self.folder / "wt-1.json", self.folder / "wt-2.json")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertEqual(json.loads(merged.read_text())["otherData"], {"ranks": 2})

    def test_a_folder_that_is_not_there(self) -> None:
        """All say it alike."""
        runs = ("sh", "-c", "touch ran")
        for command, option, behind in (
            ("trace", "-o", runs),
            ("report", "-o", runs),
            ("report", "--json", runs),
            ("report", "--trace", runs),
            ("report", "--json", ("--against", "stock", *runs)),
            ("report", "--trace", ("--against", "stock", *runs)),
            ("numa", "-o", runs),
            ("numa", "--json", runs),
            ("numa", "--svg", runs),
            ("merge", "-o", ("a.json",)),
            ("compare", "--json", ("a.json", "b.json")),
            ("info", "--json", ("true",)),
            ("node status", "--json", ()),
            ("top", "--json", ()),
            ("top", "--openmetrics", ()),
            ("top", "--openmetrics", ("--once",)),
        ):
            with self.subTest(command=command, option=option):
                says = (
                    f"weft: {command}: {option} no/where.prom: there is no folder no; make it, or name a file elsewhere"
                )
                said = self.refused(*command.split(), option, "no/where.prom", *behind, code=1)
                self.assertEqual(said, says + "\n")

    def test_one_file_for_two(self) -> None:
        for command in ("report", "numa"):
            said = self.refused(command, "-o", "x", "--json", "./x", "touch", "ran")
            self.assertIn("--json ./x: is the file of -o too; each needs its own", said)
            said = self.refused(command, "-o", "-", "--json", "-", "touch", "ran")
            self.assertIn("--json -, -o -: only one of them can go to stdout", said)
        said = self.refused("report", "--json", "x", "--trace", "x", "touch", "ran")
        self.assertIn("--trace x: is the file of --json too", said)
        self.assertIn("--svg x: is the file of -o too", self.refused("numa", "--svg", "x", "-o", "x", "touch", "ran"))
        for words in ("compare", "a.json", "b.json", "--json", "b.json"), ("merge", "a.json", "-o", "./a.json"):
            self.assertIn("is the file that is read; name another one", self.refused(*words))
        # Numbers are in their places first; a link is what it leads to, also where that is not there yet.
        said = self.refused("report", "--json", "r-0.x", "-o", "r-%r.x", "touch", "ran")
        self.assertIn("--json r-0.x: is the file of -o too", said)
        (self.folder / "trace-0.json").write_text("{}")
        said = self.refused("report", "trace-0.json", "-o", "trace-%r.json")
        self.assertIn("-o trace-0.json: is the file that is read", said)
        (self.folder / "link").symlink_to("later")
        self.assertIn("is the file of -o too", self.refused("report", "--json", "later", "-o", "link", "touch", "ran"))

    def test_each_rank_has_its_own(self) -> None:
        rank = {"OMPI_COMM_WORLD_RANK": "3", "OMPI_COMM_WORLD_SIZE": "4"}
        options = ("-o", "text-%r", "--json", "%r-of-%p.json", "--svg", "%r%r.svg")
        done = weft("numa", *options, "true", env=rank, cwd=self.folder)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        found = sorted(re.sub(r"of-\d+", "of-N", path.name) for path in self.folder.iterdir())
        self.assertEqual(found, ["3-of-N.json", "33.svg", "text-3"])
        (self.folder / "of-3").mkdir()
        done = weft("trace", "-o", "of-%r/%p.json", "true", env=rank, cwd=self.folder)
        self.assertNotIn("no folder", done.stderr)


class Lines(unittest.TestCase):
    """What --help says, and what is said of a line that cannot be understood."""

    def test_help_has_one_usage(self) -> None:
        for command in commands():
            with self.subTest(command=command):
                text = weft(*command, "--help").stdout
                name = " ".join(("weft", *command))
                lines = [line for line in text.partition("Options:")[0].splitlines() if f"{name} " in line]
                self.assertEqual(len(lines), 1, lines)
                self.assertTrue(lines[0].startswith(f"Usage: {name} "), lines)
                self.assertNotRegex(text, r"INT in|TEXT:|Excludes:|Needs:|REQUIRED")
                if command and command[0] in RUN_PROGRAMS:
                    self.assertIn(f"Usage: {name} [OPTIONS] [--] PROGRAM [ARGUMENTS...]", text)
        self.assertRegex(weft("run", "--help").stdout, r"--cpus INT \(1 - 4096\)")
        self.assertIn("Usage: weft [OPTIONS] ", weft().stdout)

    def test_help_and_version_as_commands(self) -> None:
        for command in (), ("run",), ("node", "status"):
            done = weft("help", *command)
            self.assertEqual((done.returncode, done.stdout), (0, weft(*command, "--help").stdout))
        self.assertEqual(weft("version").stdout, weft("--version").stdout)
        self.assertEqual(weft("-V").stdout, weft("--version").stdout)
        self.assertEqual(weft("help", "--", "run").stdout, weft("run", "--help").stdout)
        # Nothing runs.
        with tempfile.TemporaryDirectory(prefix="weft-grammar-") as folder:
            for words, said in (
                (("help", "frob"), "frob: no such command"),
                (("help", "run", "touch", "x"), "help: touch: weft run has no such command; see weft run --help"),
                (("help", "node", "frob"), "help: frob: weft node has no such command; see weft node --help"),
                (("version", "foo"), "version: foo: nothing is wanted there"),
            ):
                done = weft(*words, cwd=folder)
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertRegex(done.stderr, rf"^weft: {said}.*\n$")
            self.assertEqual(os.listdir(folder), [])

    def test_an_option_that_is_none(self) -> None:
        for words in ("-v",), ("--json",), ("node", "--frob"), ("merge", "--frob"):
            done = weft(*words)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            wrong = next(word for word in words if word.startswith("-"))
            self.assertRegex(done.stderr, rf"^weft: {wrong}: no such option; see weft .*--help\n$")

    def test_what_may_be_meant(self) -> None:
        for words, meant in (
            (("inof",), "info"),
            (("rep",), "report"),
            (("node", "stauts"), "status"),
            (("run", "--stat", "--", "true"), "--stats"),
            (("run", "--cpu=192", "true"), "--cpus"),
            (("top", "--jsno"), "--json"),
        ):
            done = weft(*words)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn(f"did you mean {meant}?", done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1)
        # As near to several as to one, or to none.
        for words in ("t",), ("frobnicate",), ("run", "--x", "true"):
            self.assertNotIn("did you mean", weft(*words).stderr)

    def test_an_option_that_needs_another(self) -> None:
        for options, words in (
            (("--weight", "2"), "add --node"),
            (("--factor", "2"), "add --mode static"),
            (("--factor", "2", "--mode", "dynamic", "--set", "WEFT_MODE=static"), "add --mode static"),
        ):
            for command in RUN_PROGRAMS:
                done = weft(command, *options, "sh", "-c", "echo ran")
                self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
                self.assertIn(words, done.stderr)
        seen = ("sh", "-c", "echo $WEFT_WEIGHT")
        for options in ("--node",), ("--set", "WEFT_NODE=1"):
            self.assertEqual(weft("run", "--weight", "2", *options, *seen).stdout, "2\n")
        self.assertEqual(weft("run", "--weight", "2", *seen, env={"WEFT_NODE": "1"}).stdout, "2\n")
        done = weft("tune", "check", "--budget", "1s", "file")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("--budget requires --measure", done.stderr)


class OldSpellings(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="weft-grammar-")))

    def test_json_as_a_flag(self) -> None:
        for words in (
            ("info", "--json"),
            ("info", "--json", "true"),
            ("info", "--json", "--", "true"),
            ("node", "status", "--json"),
            ("top", "--json"),
            ("top", "--json", "--once"),
            ("top", "--once", "--json"),
        ):
            with self.subTest(words=words):
                done = weft(*words, cwd=self.folder)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertIsInstance(json.loads(done.stdout), dict)
        self.assertEqual(json.loads(weft("info", "--json", "true").stdout)["program"]["file"], shutil.which("true"))
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_nothing_is_written_over_what_is_read(self) -> None:
        before, after = self.folder / "before.json", self.folder / "after.json"
        for file in before, after:
            file.write_text("{}")
        for words in (before, after, "--json"), ("--json", before, after), (before, "--json", after):
            done = weft("compare", *words)
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assertIn(f"{before}: ", done.stderr)
            self.assertEqual((before.read_text(), after.read_text()), ("{}", "{}"))
        program = pathlib.Path(shutil.copy(shutil.which("true"), self.folder))
        size = program.stat().st_size
        self.assertEqual(json.loads(weft("info", "--json", program).stdout)["program"]["file"], str(program))
        self.assertEqual(program.stat().st_size, size)

    def test_tune_report(self) -> None:
        if not (LIBRARIES / "tune").exists():
            self.skipTest("built without MPI")
        rules = self.folder / "rules"
        rules.write_text("hello")
        now = weft("tune", "check", rules)
        self.assertEqual(now.returncode, 1)
        before = weft("tune", "report", rules)
        self.assertEqual((before.returncode, before.stdout, before.stderr), (1, now.stdout, now.stderr))
        for option in "--for", "--mpi":
            done = weft("tune", "check", option, "lam", rules)
            self.assertEqual(done.returncode, 2)
            self.assertIn("--for: lam", done.stderr)

    def test_they_are_hidden(self) -> None:
        self.assertNotIn(("tune", "report"), commands())
        for command in ("check", "collectives", "explain"):
            self.assertNotIn("--mpi", commands()[("tune", command)])

    def test_libraries(self) -> None:
        names = {"audit": "audit", "preload": "preload", "profile": "observe", "trace": "observe"}
        for before, name in names.items():
            old = LIBRARIES / f"libweft_{before}.so"
            self.assertEqual(old.resolve(), LIBRARIES / f"libweft-{name}.so")
        variables = {"LD_AUDIT": str(LIBRARIES / "libweft_audit.so"), "WEFT_LIBRARY": str(LIBRARIES / "libgomp.so.1")}
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("OMP_", "WEFT_", "LD_"))}
        code = "import ctypes; ctypes.CDLL('libgomp.so.1'); print('weft' in open('/proc/self/maps').read())"
        done = subprocess.run(
            ["python3", "-c", code], env=kept | variables, capture_output=True, text=True, timeout=TIMEOUT_S, check=True
        )
        self.assertEqual((done.stdout, done.stderr), ("True\n", ""))


if __name__ == "__main__":
    unittest.main()
