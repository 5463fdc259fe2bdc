# SPDX-License-Identifier: Apache-2.0
"""`python -m weft`: what a program sees is what it sees under plain python."""

from __future__ import annotations

import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import unittest

import weft
from support import TIMEOUT_S, ProgramTest, environment
from weft import _options

SEEN = """
    import json, os, sys
    main = sys.modules["__main__"]
    print(json.dumps({
        "argv": sys.argv, "original": getattr(sys, "orig_argv", None), "flags": str(sys.flags), "path": sys.path,
        "name": __name__, "file": main.__dict__.get("__file__"), "spec": str(main.__spec__ and main.__spec__.name),
        "warn": sys.warnoptions,
        "options": {k: str(v) for k, v in sys._xoptions.items()}, "optimized": not __debug__,
        "executable": sys.executable, "prefix": sys.prefix, "main": main.__name__,
    }))
"""


class SameAsPlain(ProgramTest):
    def compare(self, flags: list[str], program: list[str], input: str | None = None, **more: str) -> None:
        plain = self.run_python(*flags, *program, input=input, **more)
        on_weft = self.run_python(*flags, "-m", "weft", *program, input=input, **more)
        self.maxDiff = None
        self.assertEqual(on_weft.stdout, plain.stdout)
        self.assertEqual((on_weft.returncode, on_weft.stderr), (plain.returncode, plain.stderr))

    def test_what_a_program_sees(self) -> None:
        app = self.write("app.py", SEEN)
        self.write("module.py", SEEN)
        for flags in ([], ["-X", "utf8", "-W", "error", "-O"], ["-Xdev", "-uOO"], ["-B", "-s"]):
            for program in ([app], [app, "-x", "--mode", "static"], ["-m", "module", "a"], ["-mmodule"]):
                with self.subTest(flags=flags, program=program):
                    self.compare(flags, program)
            self.compare(flags, ["-c", SEEN.replace("\n    ", "\n"), "a", "-b"])
            self.compare(flags, ["-"], input=SEEN.replace("\n    ", "\n"))

    def test_separator(self) -> None:
        app = self.write("app.py", SEEN)
        done = self.weft("--stats", "--", app, "x")
        self.assertEqual(json.loads(done.stdout)["argv"], [app, "x"])

    def test_folders_are_programs(self) -> None:
        self.write("__main__.py", SEEN)
        self.compare([], [str(self.folder), "x"])

    def test_ends(self) -> None:
        for end in (
            "sys.exit(7)",
            "sys.exit('words')",
            "raise ValueError('x')",
            "1/0",
            "os._exit(3)",
            "f(",
            "exit()",
            "import no_such_module",
            "raise KeyboardInterrupt",
        ):
            with self.subTest(end=end):
                self.compare([], [self.write("app.py", f"import os, sys\n{end}\n")])
        self.compare([], ["-m", "no_such_module"])

    def test_streams(self) -> None:
        self.compare([], [self.write("app.py", "import sys\nprint(sys.stdin.read()[::-1])\n")], input="abc")

    def test_signals(self) -> None:
        app = self.write("app.py", "import os, signal\nos.kill(os.getpid(), signal.SIGTERM)\n")
        self.assertEqual(self.weft(app).returncode, -signal.SIGTERM)

    def test_the_process_is_the_one_that_was_started(self) -> None:
        with subprocess.Popen(
            [sys.executable, "-m", "weft", "-c", "import os; print(os.getpid())"],
            env=environment(),
            stdout=subprocess.PIPE,
            text=True,
        ) as process:
            output, _ = process.communicate(timeout=TIMEOUT_S)
        self.assertEqual(int(output), process.pid)

    def test_other_sitecustomize_modules_run(self) -> None:
        self.write("sitecustomize.py", "import sys\nsys.flag_of_test = 'here'\n")
        path = os.pathsep.join([str(self.folder), environment().get("PYTHONPATH", "")])
        done = self.weft("-c", "import sys; print(sys.flag_of_test)", PYTHONPATH=path)
        self.assertEqual((done.stdout, done.stderr), ("here\n", ""))

    def test_spawned_children(self) -> None:
        code = """
            import multiprocessing, sys, os
            def f(x):
                import weft
                return x + 1, weft.status()["how"]
            if __name__ == "__main__":
                for method in ("fork", "spawn", "forkserver"):
                    with multiprocessing.get_context(method).Pool(2) as pool:
                        print(method, pool.map(f, [1, 2]))
        """
        told = "[(2, 'audit'), (3, 'audit')]"
        expected = "".join(f"{method} {told}\n" for method in ("fork", "spawn", "forkserver"))
        self.assertEqual(self.succeed(code), expected)


class Options(ProgramTest):
    def test_settings(self) -> None:
        names = (
            "WEFT_MODE",
            "WEFT_NODE",
            "WEFT_WEIGHT",
            "WEFT_NUM_CPUS",
            "WEFT_STATS",
            "WEFT_STATIC_FACTOR",
            "WEFT_REPRODUCIBLE",
        )
        code = f"import os; print(*(os.environ.get(name) for name in {names}))"
        for options, seen in (
            ("--mode exclusive --cpus 3", "exclusive None None 3 None None None"),
            ("--mode=static -f 1.5", "static None None None None 1.5 None"),
            ("--mode static -f2", "static None None None None 2 None"),
            ("--reproducible", "None None None None None None true"),
            ("--node --weight 50 --stats", "None 1 50 None 1 None None"),
        ):
            with self.subTest(options=options):
                self.assertEqual(self.weft(*options.split(), "-c", code).stdout, seen + "\n")

    def test_they_are_those_of_the_command(self) -> None:
        command = str(pathlib.Path(weft.__file__).parent / "bin/weft")
        rows = re.findall(r"^  (-\S+) ?(\S*)", self.run_program(command, "run", "--help").stdout, re.MULTILINE)
        takes_value = {name: value != "" for names, value in rows for name in names.split(",")}
        self.assertIn("--collectives", takes_value)
        here = {name: value != "" for names, value, _ in _options.OPTIONS for name in names}
        self.assertLessEqual(takes_value.items(), here.items())

    def test_what_the_command_does(self) -> None:
        code = "import os; print(*(os.environ.get(name) for name in ('A', 'B', 'WEFT_NUMA', 'WEFT_NUM_CPUS')))"
        done = self.weft("--set", "A=1", "--cpus", "2", "--set=B=x y", "--numa", "spread", "-c", code)
        self.assertEqual((done.returncode, done.stdout), (0, "1 x y spread 2\n"), done.stderr)
        code = "import os; print('LD_AUDIT' in os.environ, 'libgomp' in os.environ.get('LD_PRELOAD', ''))"
        self.assertEqual(self.weft("--preload", "-c", code).stdout, "False True\n")
        done = self.weft("--numa", "frob", "-c", "")
        self.assertEqual(done.returncode, 2)
        self.assertIn("weft: --numa: frob: wanted is none, local", done.stderr)
        done = self.weft("--library", "/no/such", "-c", "")
        self.assertEqual(done.returncode, 2)

    def test_variables_that_the_command_reads(self) -> None:
        code = "import os; print('libweft-mpi' in os.environ.get('LD_PRELOAD', ''))"
        done = self.weft("--mpi", "-c", code)
        if "build weft where an MPI is installed" in done.stderr:
            self.skipTest("built without MPI")
        self.assertEqual((done.stdout, done.stderr), ("True\n", ""))
        self.assertEqual(self.weft("-c", code, WEFT_MPI="true").stdout, "True\n")
        self.assertEqual(self.weft("-c", code, WEFT_MPI="false").stdout, "False\n")

    def test_audit_is_named_once(self) -> None:
        names = ("LD_AUDIT", "PYTHONPATH", "GLIBC_TUNABLES")
        code = f"import os; print(*(os.environ[name] for name in {names}))"
        nested = f"import subprocess, sys; subprocess.run([sys.executable, '-m', 'weft', '-c', {code!r}], check=True)"
        self.assertEqual(self.weft("-c", nested).stdout, self.weft("-c", code).stdout)

    def test_libraries_with_much_thread_local_data(self) -> None:
        self.assertEqual(self.weft("-c", "print('well')", LD_PRELOAD="libjemalloc.so.2").stdout, "well\n")
        code = """
            import subprocess, sys, weft
            weft.enable()
            subprocess.run([sys.executable, "-c", "print('well')"], check=True)
        """
        self.assertEqual(self.succeed(code, weft=False, LD_PRELOAD="libjemalloc.so.2"), "well\n")

    def test_tunables_of_the_user_are_kept(self) -> None:
        code = "import os; print(os.environ['GLIBC_TUNABLES'])"
        name, kept = "glibc.rtld.optional_static_tls", "glibc.malloc.arena_max=1"
        for before, after in (
            (kept, f"{kept}:{name}=4096"),
            (f"{name}=0x2000:{kept}:{name}=010", f"{kept}:{name}=3592"),
            (f"{name}=8000", f"{name}=11584"),
        ):
            with self.subTest(before=before):
                self.assertEqual(self.weft("-c", code, GLIBC_TUNABLES=before).stdout, after + "\n")

    def test_more_cpus_than_there_are(self) -> None:
        done = self.weft("--cpus", "4096", "-c", "print('well')")
        self.assertEqual((done.returncode, done.stdout), (0, "well\n"))
        self.assertRegex(done.stderr, r"^weft: --cpus 4096: the program may use \d+ here .*\n$")

    def test_statistics_of_nothing(self) -> None:
        done = self.weft("--stats", "-c", "print('well')")
        self.assertEqual((done.returncode, done.stdout), (0, "well\n"))
        self.assertIn("nothing ran on weft: no part of the program has asked for an OpenMP runtime", done.stderr)

    def test_mistakes(self) -> None:
        for arguments, words in (
            ([], "which program"),
            (["no_such.py"], "no_such.py: no such file"),
            (["-m"], "a module is wanted"),
            (["--mode", "frob", "x.py"], "dynamic, static, exclusive and counting"),
            (["--mode", "static", "-f", "-1", "x.py"], "above 0"),
            (["--mode", "static", "-f", "many", "x.py"], "many"),
            (["-f", "2", "x.py"], "--mode static"),
            (["--weight", "50", "x.py"], "--node"),
            (["--node", "--weight", "0", "x.py"], "from 1 to 10000"),
            (["--cpus", "0", "x.py"], "from 1 to"),
            (["--frob", "x.py"], "--frob"),
            (["--mode"], "--mode"),
            (["--explain-json", "--stats", "x.py"], "--explain-json: the name of a file is wanted, not --stats"),
            (["--explain-json=", "x.py"], "--explain-json: the name of a file is wanted; this one is empty"),
            (["--explain-json", "-", "x.py"], "./-"),
            (["--report", "--mpi", "x.py"], "--report: the name of a file is wanted, not --mpi"),
            (["--library", "-m", "x"], "--library: the name of a file is wanted, not -m"),
            (["--report", "a", "--report", "b", "x.py"], "--report: is given twice"),
        ):
            with self.subTest(arguments=arguments):
                done = self.weft(*arguments)
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
                self.assertTrue(done.stderr.startswith("weft: "), done.stderr)
                self.assertIn(words, done.stderr)

    def test_no_result_is_written_over_a_program(self) -> None:
        for name, text in ("first.py", "print(1)"), ("tool", "#!/bin/sh"), ("run.sh", "echo ran"):
            file = self.folder / name
            file.write_text(text)
            file.chmod(0o755)
            for option, code in ("--report", 2), ("--explain-json", 1):
                with self.subTest(option=option, name=name):
                    done = self.weft(option, str(file), "-c", "print('ran')")
                    self.assertEqual((done.returncode, done.stdout), (code, ""))
                    self.assertIn("is a program or a library, over which no result is written", done.stderr)
                    self.assertEqual(file.read_text(), text)
        older = self.folder / "older.json"
        older.write_text('{"a": 1}')
        older.chmod(0o777)
        self.assertEqual(self.weft("--explain-json", str(older), "-c", "").returncode, 0)

    def test_help_and_version(self) -> None:
        self.assertIn("--explain", self.weft("--help").stdout)
        self.assertRegex(self.weft("--version").stdout, r"^weft \d+\.\d+\.\d+( \([0-9a-f]{9,}(-dirty)?\))?\n$")

    def test_flags_that_hide_the_environment(self) -> None:
        done = self.run_python("-S", "-m", "weft", "--explain", "-c", "")
        self.assertEqual(done.returncode, 2)
        self.assertIn("-S", done.stderr)
        for option, words in ("--explain-json=x", "--explain-json"), ("--mode=static", "--mode static"):
            done = self.run_python("-S", "-m", "weft", option, "-c", "")
            self.assertEqual(done.returncode, 2)
            self.assertTrue(done.stderr.startswith(f"weft: {words}: "), done.stderr)


class Import(ProgramTest):
    def test_is_small(self) -> None:
        code = "import sys; before = set(sys.modules); import weft; print(*set(sys.modules) - before)"
        done = self.run_python("-c", code)
        self.assertLessEqual(set(done.stdout.split()), {"weft", "weft._import_hooks", "__future__"})


if __name__ == "__main__":
    unittest.main()
