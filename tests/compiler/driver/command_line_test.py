# SPDX-License-Identifier: Apache-2.0
"""weftcc's command line, under a compiler that only says how it was called."""

import json
import pathlib
import shlex
import signal
import unittest

from finished import finished
from support import DriverTest, clean_environment


class PassedOn(DriverTest):
    """Command lines that ask for no OpenMP."""

    def test_words(self):
        (self.work / "words.rsp").write_text("-O2 -c a.c")
        for words in (
            [],
            ["--version"],
            ["-v"],
            ["-c", "a.c", "-o", "a b.o"],
            ["-o", "-fopenmp", "a.c"],
            ["@words.rsp"],
            ["-D", "-fopenmp", "a.c"],
            ['-DX="-fopenmp"', "a.c"],
            ["-fopenmp-simd", "a.c"],
            ["-E", "-"],
            ["-fopenmp", "-fno-openmp", "a.c"],
            ["a.c", "--", "-fopenmp"],
            [""],
            ["-Wl,-fopenmp", "a.c"],
            ["-fopenmp", "--version"],
            ["-fopenmp", "missing.c"],
            ["-fopenmp", "-v"],
            ["@missing", "a.c"],
            ["-help"],
            ["--help", "-v"],
        ):
            for name in ("weftcc", "weftc++", "weftfort"):
                with self.subTest(words=words, name=name):
                    self.assertEqual(self.words(*words, name=name), words)

    def test_streams_and_exit_code(self):
        done = finished(
            [self.bin / "weftcc", "-E", "-"],
            input="in",
            env=clean_environment(
                PATH=f"{self.compilers}:/usr/bin:/bin", FAKE_INPUT="1", FAKE_ERROR="said\n", FAKE_EXIT="3"
            ),
        )
        self.assertEqual((done.returncode, done.stderr, done.stdout.splitlines()[1]), (3, "said\n", "in"))

    def test_signal(self):
        for more in [], ["-fopenmp", "--weft-report"]:
            self.assertEqual(self.drive("a.c", *more, FAKE_SIGNAL="15").returncode, -signal.SIGTERM)

    def test_own_options_are_taken_out(self):
        self.assertEqual(self.words("-O2", "--weft-lower=hint", "-c", "a.c", "--weft-report"), ["-O2", "-c", "a.c"])
        (self.work / "own.rsp").write_text("--weft-keep '-DA=b c'")
        self.assertEqual(self.words("@own.rsp", "a.c"), ["-DA=b c", "a.c"])

    def test_environment_is_not_touched(self):
        self.assertEqual(self.called("a.c", "--weft-lower=hint")["environment"], {})


class Acts(DriverTest):
    def setUp(self):
        self.compile = ["-fopenmp=libomp", f"-fpass-plugin={self.libraries}/libweft-pass.so"]
        self.link = [f"-L{self.libraries}", f"-Wl,-rpath,{self.libraries}"]

    def test_compile(self):
        for words in (["-fopenmp", "-c", "a.c"], ["-fopenmp", "-S", "a.c"], ["-c", "-xc", "-", "-fopenmp"]):
            self.assertEqual(self.words(*words), self.compile + words)

    def test_link(self):
        for words in (["-fopenmp", "a.o", "-o", "a"], ["-fopenmp", "-shared", "a.o"], ["-fopenmp", "-lfoo"]):
            self.assertEqual(self.words(*words), self.compile[:1] + self.link + words)

    def test_both(self):
        words = ["-fopenmp", "a.c", "-o", "a"]
        self.assertEqual(self.words(*words), self.compile + self.link + words)
        for name in ("weftc++", "weftfort"):
            self.assertEqual(
                self.words("-fopenmp", "a.f90" if name == "weftfort" else "a.cpp", name=name)[:4],
                self.compile + self.link,
            )

    def test_preprocess_and_partial_link(self):
        for words in (
            ["-E", "a.c"],
            ["-M", "a.c"],
            ["-MM", "a.c"],
            ["-fsyntax-only", "a.c"],
            ["-r", "a.o", "-o", "b.o"],
        ):
            self.assertEqual(self.words("-fopenmp", *words), self.compile[:1] + ["-fopenmp", *words])
        words = ["-fopenmp", "-MD", "-MF", "-c", "-c", "a.c"]
        self.assertEqual(self.words(*words), self.compile + words)

    def test_what_is_no_source(self):
        for words in (["-c", "a.s"], ["-c", "a.ll"], ["-x", "assembler", "-c", "a.c"]):
            self.assertEqual(self.words("-fopenmp", *words), self.compile[:1] + ["-fopenmp", *words])

    def test_spellings(self):
        for word in ("-qopenmp", "-mp", "--openmp", "-mp=multicore"):
            self.assertEqual(self.words(word, "-c", "a.c"), self.compile + ["-fopenmp", "-c", "a.c"])
            self.assertEqual(self.words(word, "-c", "a.c", WEFT_CC="gcc-12"), ["-fopenmp", "-c", "a.c"])
            self.assertEqual(self.words(word, "-c", "a.c", WEFT_CC="strange"), [word, "-c", "a.c"])

    def test_response_files(self):
        (self.work / "inner.rsp").write_text("-c\n'a b.c'")
        (self.work / "outer.rsp").write_text("-fopenmp @inner.rsp")
        self.assertEqual(self.words("@outer.rsp"), self.compile + ["@outer.rsp"])
        (self.work / "alias.rsp").write_text("-qopenmp @inner.rsp")
        self.assertEqual(self.words("@alias.rsp"), self.compile + ["-fopenmp", "-c", "a b.c"])
        (self.work / "itself.rsp").write_text("-fopenmp -c a.c @itself.rsp")
        self.assertEqual(self.words("@itself.rsp"), self.compile + ["@itself.rsp"])

    def test_files_behind_two_dashes(self):
        words = ["-fopenmp", "-c", "--", "a.c"]
        self.assertEqual(
            self.words(*words, WEFTCC_COMPILE_FLAGS_APPEND="-DA"), self.compile + ["-fopenmp", "-c", "-DA", "--", "a.c"]
        )

    def test_appended_flags(self):
        flags = {"WEFTCC_COMPILE_FLAGS_APPEND": "-DA='b c'", "WEFTCC_LINK_FLAGS_APPEND": "-lm"}
        self.assertEqual(self.words("-fopenmp", "-c", "a.c", **flags)[-1], "-DA=b c")
        self.assertEqual(self.words("-fopenmp", "a.o", **flags)[-1], "-lm")
        self.assertEqual(self.words("-c", "a.c", **flags), ["-c", "a.c"])

    def test_thread_sanitizer(self):
        if (self.libraries / "tsan").exists():
            words = self.words("-fopenmp", "-fsanitize=thread", "a.o")
            self.assertEqual(words[1], f"-L{self.libraries}/tsan")

    def test_gcc(self):
        words = ["-fopenmp", "a.c", "-o", "a"]
        self.assertEqual(self.words(*words, WEFT_CC="gcc-12"), self.link + words)
        self.assertEqual(self.words("--weft-cc=gcc-12", "-fopenmp", "-c", "a.c"), ["-fopenmp", "-c", "a.c"])

    def test_lower(self):
        for lower in ("hint", "range"):
            self.assertEqual(
                self.called("-fopenmp", "-c", "a.c", f"--weft-lower={lower}")["environment"], {"WEFTCC_LOWER": lower}
            )
        self.assertEqual(self.called("-fopenmp", "-c", "a.c")["environment"], {"WEFTCC_LOWER": "range"})
        self.assertEqual(
            self.called("-fopenmp", "-c", "a.c", WEFTCC_LOWER="hint")["environment"], {"WEFTCC_LOWER": "hint"}
        )
        self.assertEqual(
            self.words("-fopenmp", "-c", "a.c", "--weft-lower=none"), ["-fopenmp=libomp", "-fopenmp", "-c", "a.c"]
        )

    def test_keep(self):
        for words, prefix in (
            (["-c", "a.c"], "a"),
            (["-c", "dir.x/a.c", "-o", "out.d/b"], "out.d/b"),
            (["a.c", "-o", "x.exe"], "x"),
            (["-c", "../a.b.c"], "a.b"),
        ):
            self.assertEqual(self.called("-fopenmp", *words, "--weft-keep")["environment"]["WEFTCC_KEEP"], prefix)

    def test_configuration_file(self):
        (self.bin / "weftcc.cfg").write_text(
            "# what holds here\ncc = clang-19 -v\ncxx = other\nlower = hint\n"
            "compile-flags = -DA\nlink-flags = -lm -lz\n"
        )
        called = self.called("-fopenmp", "a.c")
        self.assertEqual(called["words"], ["-v", *self.compile, *self.link, "-fopenmp", "a.c", "-DA", "-lm", "-lz"])
        self.assertEqual(called["environment"], {"WEFTCC_LOWER": "hint"})
        self.assertEqual(self.words("-c", "a.c", WEFT_CC="gcc-12"), ["-c", "a.c"])

    def test_libraries_elsewhere(self):
        (self.bin / "weftcc.cfg").write_text(f"libraries = {self.libraries.resolve()}/.\n")
        self.assertIn(f"-L{self.libraries}/.", self.words("-fopenmp", "a.o"))


class Defaults(DriverTest):
    def data(self, *words, **options):
        called = self.called("-fopenmp", "a.o", *words, **options)
        ((name, content),) = called["objects"].items()
        self.assertFalse(pathlib.Path(name).exists())
        return bytes.fromhex(content)

    def test_settings(self):
        data = self.data("--weft-os-threads=3", "--weft-max-threads=64", "--weft-set=OMP_SCHEDULE=guided,4")
        self.assertIn(b"WEFT_NUM_CPUS=3\0OMP_THREAD_LIMIT=64\0OMP_SCHEDULE=guided,4\0\0", data)

    def test_nothing_for_what_is_not_linked(self):
        self.assertEqual(self.called("-fopenmp", "-c", "a.c", "--weft-os-threads=3")["objects"], {})
        self.assertEqual(self.called("a.o", "--weft-os-threads=3")["objects"], {})

    def test_libraries_have_none(self):
        done = self.drive("-fopenmp", "-shared", "a.o", "--weft-os-threads=3")
        self.one_line(done.stderr, "WEFT_NUM_CPUS=3")
        self.assertEqual(json.loads(done.stdout)["objects"], {})


class Reported(DriverTest):
    LINES = "".join(
        json.dumps({"file": "a.c", "line": line, "construct": "parallel for", "lowering": lowering, "reason": reason})
        + "\n"
        for line, lowering, reason in ((3, "range", ""), (9, "none", "calls f()"), (12, "range", ""))
    )
    TEXT = (
        "weft: a.c: 3 constructs: 2 range, 1 none\na.c:3: parallel for: range\na.c:9: parallel for: none: calls f()\n"
        "a.c:12: parallel for: range\n"
    )

    def test_on_stderr(self):
        done = self.drive("-fopenmp", "-c", "a.c", "--weft-report", FAKE_LINES=self.LINES)
        self.assertEqual((done.returncode, done.stderr), (0, self.TEXT))
        lines = json.loads(done.stdout)["environment"]["WEFTCC_REPORT"]
        self.assertFalse(pathlib.Path(lines).exists())

    def test_lines_are_asked_for(self):
        done = self.drive("-fopenmp", "-c", "a.c", "--weft-report")
        self.assertIn("-Rpass=weftcc-wants-lines", json.loads(done.stdout)["words"])
        self.assertNotIn("-Rpass=weftcc-wants-lines", self.words("-fopenmp", "-c", "a.c"))

    def test_in_files(self):
        for name, text in (("report.txt", self.TEXT), ("report.json", self.LINES)):
            for _ in range(2):
                done = self.drive("-fopenmp", "-c", "a.c", f"--weft-report={name}", FAKE_LINES=self.LINES)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertEqual((self.work / name).read_text(), 2 * text)

    def test_a_file_of_many_reports_says_nothing_of_sources_without_constructs(self):
        done = self.drive("-fopenmp", "-c", "a.c", "--weft-report=report.txt")
        self.assertEqual((done.returncode, done.stderr, (self.work / "report.txt").read_text()), (0, "", ""))
        done = self.drive("-fopenmp", "-c", "a.c", "--weft-report")
        self.assertEqual((done.returncode, done.stderr), (0, "weft: a.c: 0 constructs\n"))

    def test_what_is_not_lowered(self):
        for options, why in (
            (["--weft-cc=gcc-12"], "gcc-12 is not a compiler of LLVM"),
            (["--weft-lower=none"], "--weft-lower=none"),
        ):
            done = self.drive("-fopenmp", "-c", "a.c", "--weft-report", *options)
            self.one_line(done.stderr, ["a.c: nothing is lowered", why])

    def test_nothing_where_nothing_is_compiled(self):
        self.called("-fopenmp", "a.o", "--weft-report")
        self.called("-fopenmp", "-E", "a.c", "--weft-report")

    def test_exit_code(self):
        done = self.drive("-fopenmp", "-c", "a.c", "--weft-report", FAKE_EXIT="4", FAKE_ERROR="wrong\n")
        self.assertEqual((done.returncode, done.stderr), (4, "wrong\n"))


class Shown(DriverTest):
    def show(self, *words, **options):
        done = self.drive(*words, **options)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return shlex.split(done.stdout)

    def test_the_command(self):
        words = ["-fopenmp", "a b.c", "-o", "it's"]
        self.assertEqual(self.show("--showme", *words), ["clang-19", *self.words(*words)])
        self.assertEqual(self.show("--showme", "a.c"), ["clang-19", "a.c"])

    def test_parts(self):
        folder = str(self.libraries)
        link = [f"-L{folder}", f"-Wl,-rpath,{folder}"]
        for what, llvm, gcc in (
            ("compile", ["-fopenmp=libomp", f"-fpass-plugin={folder}/libweft-pass.so"], ["-fopenmp"]),
            ("link", ["-fopenmp=libomp", *link], ["-fopenmp", *link]),
            ("libs", ["omp"], ["gomp"]),
            ("libdirs", [folder], [folder]),
            ("incdirs", [], []),
            ("command", ["clang-19"], ["gcc-12"]),
        ):
            self.assertEqual(self.show(f"--showme:{what}"), llvm, what)
            self.assertEqual(self.show(f"--showme:{what}", WEFT_CC="gcc-12"), gcc, what)
        self.assertRegex(self.drive("--showme:version", name="weftc++").stdout, r"^weftc\+\+ \(weft\) \d+\.\d+\.\d+\n$")

    def test_headers(self):
        header = self.folder / "prefix/include/weft/weft.h"
        header.parent.mkdir(parents=True)
        header.touch()
        try:
            self.assertEqual(self.show("--showme:incdirs"), [str(header.parents[1])])
            self.assertEqual(self.show("--showme:compile")[-2:], ["-idirafter", str(header.parents[1])])
            self.assertNotIn("-idirafter", self.show("--showme:compile", name="weftfort"))
        finally:
            header.unlink()

    def test_help(self):
        for name, variable in (("weftcc", "WEFT_CC"), ("weftc++", "WEFT_CXX"), ("weftfort", "WEFT_FC")):
            done = self.drive("--help", name=name)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            for word in (
                name,
                variable,
                "--weft-lower",
                "--weft-report",
                "--weft-keep",
                "--weft-os-threads",
                "--weft-cc",
                "--weft-max-threads",
                "--weft-set",
                "--showme",
                "WEFTCC_LINK_FLAGS_APPEND",
                "weftcc.cfg",
            ):
                self.assertIn(word, done.stdout)


class Refused(DriverTest):
    def test_options(self):
        for option, says in (
            ("--weft-repot", "--weft-report?"),
            ("--weft-unheard-of=1", "--help"),
            ("--weft-lower=all", "none, hint or range"),
            ("--weft-lower", "a value is missing"),
            ("--weft-report=", "a value is missing"),
            ("--weft-keep=x", "takes no value"),
            ("--weft-os-threads=0", "WEFT_NUM_CPUS cannot be"),
            ("--weft-os-threads=", "a value is missing"),
            ("--weft-set=WEFT_NUM_CPU=3", "no variable WEFT_NUM_CPU"),
            ("--weft-set=3", "NAME=VALUE"),
            ("--weft-set=WEFT_LIBRARY=x", "environment only"),
            ("--weft-cc=missing", "there is no compiler missing"),
            ("--showme:all", "libdirs"),
        ):
            with self.subTest(option=option):
                self.refused(
                    "-fopenmp",
                    "a.c",
                    option,
                    says=[option.split("=")[0], says],
                    code=127 if "missing" == option[-7:] else 2,
                )

    def test_values_of_defaults(self):
        for option, variable, accepted in (
            ("--weft-region-threads=0", "WEFT_REGION_THREADS", "from 1 to 4096"),
            ("--weft-balance=best", "WEFT_BALANCE", "auto, static, affinity, steal or central"),
            ("--weft-grain=9ms", "WEFT_GRAIN", "the unit us"),
            ("--weft-numa=interleave", "WEFT_NUMA", "none, compact, spread or local"),
        ):
            self.refused(
                "-fopenmp", "a.c", option, says=[option, f"{variable} cannot be", option.split("=")[1], accepted]
            )

    def test_contradictions(self):
        for first, second in (
            ("--weft-lower=hint", "--weft-lower=none"),
            ("--weft-report=a", "--weft-report=b"),
            ("--weft-cc=clang-19", "--weft-cc=gcc-12"),
            ("--weft-os-threads=2", "--weft-set=WEFT_NUM_CPUS=3"),
            ("--showme:link", "--showme:libs"),
        ):
            self.refused("-fopenmp", "a.c", first, second, says="contradicts")
            self.words("-fopenmp", "-c", "a.c", *[o for o in (first, first) if "showme" not in o and "report" not in o])
        self.refused("-fopenmp", "-c", "a.c", "b.c", "--weft-keep", says="--weft-keep")

    def test_report_that_cannot_be_written(self):
        says = ["--weft-report=/missing/file", "there is no folder /missing; make it"]
        self.refused("-fopenmp", "-c", "a.c", "--weft-report=/missing/file", says=says)

    def test_temporary_files_that_cannot_be_written(self):
        self.refused("-fopenmp", "a.o", "--weft-os-threads=2", TMPDIR="/missing", says=["/missing", "TMPDIR"])

    def test_no_compiler(self):
        for name, variable, compiler, package in (
            ("weftcc", "WEFT_CC", "clang-19", "clang-19"),
            ("weftc++", "WEFT_CXX", "clang++-19", "clang-19"),
            ("weftfort", "WEFT_FC", "flang-new-19", "flang-19"),
        ):
            says = [compiler, variable, "--weft-cc", f"apt install {package}"]
            self.refused("a.c", name=name, path="/missing", code=127, says=says)
            self.refused("a.c", name=name, code=127, says=[variable, "nowhere"], **{variable: "nowhere"})

    def test_itself(self):
        self.refused("a.c", WEFT_CC=str(self.bin / "weftc++"), says="itself")

    def test_configuration_file(self):
        for text, says in (
            ("cc clang\n", ":1: NAME = VALUE"),
            ("\nccc = x\n", ":2: no such name: ccc"),
            ("lower = all\n", ":1: lower"),
            ("libraries = /missing\n", "/missing"),
        ):
            (self.bin / "weftcc.cfg").write_text(text)
            self.refused("-fopenmp", "a.c", says=says)

    def test_variable(self):
        self.refused("a.c", WEFTCC_LOWER="all", says="WEFTCC_LOWER=all")


class Warned(DriverTest):
    """The compiler runs, and one line says what is not as one might think."""

    def warned(self, *words, says, **options):
        done = self.drive(*words, **options)
        self.assertEqual(done.returncode, 0)
        self.one_line(done.stderr, says)
        return json.loads(done.stdout)["words"]

    def test_another_release_of_llvm(self):
        words = self.warned(
            "-fopenmp", "-c", "a.c", WEFT_CC="clang-18", says=["LLVM 18", "LLVM 19", "--weft-lower=none"]
        )
        self.assertEqual(words, ["-fopenmp=libomp", "-fopenmp", "-c", "a.c"])
        self.words("-fopenmp", "-c", "a.c", "--weft-lower=none", WEFT_CC="clang-18")

    def test_no_pass(self):
        (self.libraries / "libweft-pass.so").rename(self.libraries / "away")
        try:
            self.warned("-fopenmp", "-c", "a.c", says="libweft-pass.so")
            self.words("-fopenmp", "a.o")
        finally:
            (self.libraries / "away").rename(self.libraries / "libweft-pass.so")

    def test_lowering_by_gcc(self):
        self.warned("-fopenmp", "-c", "a.c", "--weft-lower=range", WEFT_CC="gcc-12", says="gcc-12")
        self.warned("-fopenmp", "-c", "a.c", "--weft-keep", WEFT_CC="gcc-12", says="--weft-keep")

    def test_static_programs(self):
        for option in ("-static", "-static-pie", "-static-openmp"):
            words = self.warned("-fopenmp", option, "a.o", says="shared library")
            self.assertEqual(words, ["-fopenmp=libomp", "-fopenmp", option, "a.o"])

    def test_other_machines(self):
        for words in (["-m32"], ["--target=riscv64-linux-gnu"], ["-target", "riscv64-linux-gnu"]):
            self.assertEqual(
                self.warned("-fopenmp", *words, "a.c", says=words[0]), ["-fopenmp=libomp", "-fopenmp", *words, "a.c"]
            )

    def test_no_runtime_for_thread_sanitizer(self):
        plain = self.bin.parent / "plain"
        plain.mkdir()
        for file in self.libraries.iterdir():
            if file.name != "tsan":
                (plain / file.name).symlink_to(file)
        (self.bin / "weftcc.cfg").write_text(f"libraries = {plain}\n")
        try:
            says = [f"{plain}/tsan", "make install-tsan"]
            words = self.warned("-fopenmp", "-fsanitize=thread", "a.o", says=says)
            self.assertEqual(words[1], f"-L{plain}")
            self.words("-fopenmp", "-fsanitize=thread", "-c", "a.c")
        finally:
            (self.bin / "weftcc.cfg").unlink()

    def test_libgomp_of_clang(self):
        self.warned("-fopenmp=libgomp", "-c", "a.c", says="-fopenmp=libgomp")


if __name__ == "__main__":
    unittest.main()
