# SPDX-License-Identifier: Apache-2.0
"""The command `weft`, as built: what it passes through, what it refuses, what it loads."""

import json
import os
import pathlib
import re
import shutil
import signal
import stat
import subprocess
import tempfile
import unittest

from finished import finished

WEFT = os.environ["WEFT_COMMAND"]
GCC = os.environ.get("WEFT_TEST_GCC", "gcc")
CLANG = os.environ.get("WEFT_TEST_CLANG", "clang-19")
TIMEOUT_S = 60

# Prints the members of a region and every OpenMP runtime that is mapped.
MAPS = r"""
#include <stdio.h>
#include <string.h>
static int region(void) {
  int members = 0;
#pragma omp parallel num_threads(4) reduction(+ : members)
  members++;
  return members;
}
static void print_maps(void) {
  char line[4096], last[4096] = "";
  FILE *maps = fopen("/proc/self/maps", "r");
  while (fgets(line, sizeof line, maps)) {
    char *path = strchr(line, '/');
    if (!path || !strstr(path, "omp") || strcmp(path, last) == 0) continue;
    if (strstr(path, "libgomp") || strstr(path, "libomp") || strstr(path, "libiomp")) fputs(strcpy(last, path), stdout);
  }
}
"""
LINKED = MAPS + 'int main(void) { printf("%d\\n", region()); print_maps(); return 0; }'
LATE = (
    MAPS.replace("#pragma omp", "//")
    + r"""
#include <dlfcn.h>
int main(int count, char **names) {
  if (!dlopen(names[count - 1], RTLD_NOW)) return fprintf(stderr, "%s\n", dlerror()), 1;
  puts("4");
  print_maps();
  return 0;
}
"""
)

# Ends in the way of its first argument, once there is the file of its second, or of its number with the second behind
# it in the folder of the records; at once without.
DIES = r"""
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static volatile double sink;
__attribute__((noinline)) static void region(void) {
#pragma omp parallel for num_threads(2) schedule(dynamic, 100)
  for (int i = 0; i < 20000; i++) sink = i;
}
int main(int count, char **arguments) {
  char file[4096] = "";
  const char *folder = getenv("WEFT_PROFILE_FOLDER");
  if (count > 2 && folder) snprintf(file, sizeof file, "%s/%d%s", folder, (int)getpid(), arguments[2]);
  else if (count > 2) snprintf(file, sizeof file, "%s", arguments[2]);
  do region();
  while (count > 2 && access(file, F_OK) != 0);
  const char *how = arguments[1];
  if (strcmp(how, "fault") == 0) *(volatile int *)8 = 1;
  if (strcmp(how, "abort") == 0) abort();
  if (strcmp(how, "kill") == 0) kill(getpid(), SIGKILL);
  if (strcmp(how, "_exit") == 0) _exit(6);
  return 0;
}
"""
# Stands in for the dynamic linker of another libc: ends with 7 where something is preloaded.
OTHER_LINKER = r"""
__asm__(".globl _start\n_start: mov %rsp, %rdi\n call start\n");
static int begins(const char *text, const char *with) {
  while (*with && *text == *with) text++, with++;
  return !*with;
}
__attribute__((noreturn, used)) void start(long *stack) {
  long code = 5;
  for (char **variable = (char **)(stack + 2 + stack[0]); *variable; variable++) {
    if (begins(*variable, "LD_PRELOAD=") || begins(*variable, "LD_AUDIT=")) code = 7;
  }
  for (;;) __asm__ volatile("syscall" : : "a"(231L), "D"(code));
}
"""
DEATHS = (
    ("fault", 128 + signal.SIGSEGV, "signal 11"),
    ("abort", 128 + signal.SIGABRT, "signal 6"),
    ("kill", 128 + signal.SIGKILL, "signal 9"),
    ("_exit", 6, "_exit"),
)


class CommandTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory(prefix="weft-cli-")))

    def build(self, name, source, *flags, compiler=GCC):
        file = self.folder / f"{name}.c"
        file.write_text(source)
        subprocess.run([compiler, "-O1", "-fopenmp", str(file), "-o", str(self.folder / name), *flags], check=True)
        return self.folder / name

    def weft(self, *arguments, **options):
        return self.command(WEFT, *arguments, **options)

    def command(self, *words, **options):
        environment = {k: v for k, v in os.environ.items() if not k.startswith(("OMP_", "WEFT_", "LD_"))}
        environment.update(options.pop("env", {}))
        return finished(words, env=environment, timeout=TIMEOUT_S, **options)

    def one_complaint(self, done, *words):
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertTrue(done.stderr.startswith("weft: "), done.stderr)
        for word in words:
            self.assertIn(str(word), done.stderr)


class Passes(CommandTest):
    def test_exit_code_streams_and_arguments(self):
        done = self.weft("run", "sh", "-c", 'cat; echo "$0 $1" >&2; exit 7', "--stats", "b c", input="in")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (7, "in", "--stats b c\n"))

    def test_scripts_that_do_not_say_what_runs_them(self):
        script = self.folder / "plain_script"
        script.write_text('echo "$0 $1 $2"; exit 5\n')
        script.chmod(0o755)
        done = self.weft("run", script, "a b", "c")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (5, f"{script} a b c\n", ""))

    def test_separator(self):
        self.assertEqual(self.weft("run", "--", "echo", "--", "-x").stdout, "-- -x\n")

    def test_signals(self):
        self.assertEqual(self.weft("run", "sh", "-c", "kill -TERM $$").returncode, -signal.SIGTERM)

    def test_settings(self):
        done = self.weft(
            "run",
            "--set",
            "A=1",
            "--set",
            "B=x=y",
            "--cpus",
            "3",
            "--stats",
            "sh",
            "-c",
            'echo "$A $B $WEFT_NUM_CPUS $WEFT_STATS"',
        )
        self.assertEqual(done.stdout, "1 x=y 3 1\n")

    def test_more_cpus_than_there_are(self):
        done = self.weft("run", "--cpus", "4096", "true")
        self.assertEqual(done.returncode, 0)
        self.one_complaint(done, "--cpus 4096")
        self.assertRegex(done.stderr, r"may use \d+ here")
        self.assertEqual(self.weft("run", "--cpus", "1", "true").stderr, "")

    def test_modes(self):
        self.assertEqual(self.weft("run", "--mode", "counting", "sh", "-c", 'echo "$WEFT_MODE"').stdout, "counting\n")


class Loads(CommandTest):
    def check(self, done):
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr, "")
        members, *mapped = done.stdout.split()
        self.assertEqual(members, "4")
        self.assertEqual(len(set(mapped)), 1, mapped)
        self.assertTrue(mapped[0].endswith("/weft/libgomp.so.1"), mapped)

    def test_linked_programs(self):
        for compiler in (GCC, CLANG):
            program = self.build("linked_" + pathlib.Path(compiler).name, LINKED, compiler=compiler)
            with self.subTest(compiler=compiler):
                self.check(self.weft("run", program))

    def test_runtimes_opened_later(self):
        program = self.build("late", LATE, "-fno-openmp", "-ldl")
        for name in ("libgomp.so.1", "libomp.so.5", "libiomp5.so", "libgomp-a34b3233.so.1.0.0"):
            with self.subTest(name=name):
                self.check(self.weft("run", program, name))

    def test_preload(self):
        program = self.build("preloaded", LINKED)
        done = self.weft("run", "--preload", "--stats=all", program)
        self.assertEqual(done.returncode, 0)
        self.assertIn("regions by level: 1", done.stderr)

    def test_library_by_a_relative_path(self):
        program = self.build("relative", LINKED)
        library = os.path.relpath(pathlib.Path(WEFT).parents[1] / "lib/weft/libgomp.so.1", self.folder)
        for more in [], ["--preload"]:
            done = self.weft("run", *more, "--stats=all", "--library", library, program, cwd=self.folder)
            self.assertEqual(done.returncode, 0)
            self.assertIn("regions by level: 1", done.stderr)

    def test_statistics_have_a_heading(self):
        program = self.build("counted", LINKED)
        for option, word in ("--stats", "it ran on weft; parallel regions: 1,"), ("--stats=all", "libraries adopted"):
            with self.subTest(option=option):
                done = self.weft("run", option, program)
                first, *rest = done.stderr.splitlines()
                self.assertRegex(first, r"^weft statistics: counted \(process \d+\)$")
                self.assertTrue(any(word in line for line in rest))
                self.assertTrue(all(line.startswith("  ") for line in rest), done.stderr)

    def test_statistics_answer_in_five_lines(self):
        """Whether it ran on weft, what it used, what it had no use for, and what to do."""
        program = self.build(
            "waits", "#include <unistd.h>\n" + LINKED.replace("return 0;", "usleep(300000); return 0;")
        )
        lines = self.weft("run", "--stats", program, env={"WEFT_NUM_CPUS": "2"}).stderr.splitlines()
        self.assertRegex(lines[1], r"^  it ran on weft; parallel regions: 1, inside of these: 0$")
        self.assertRegex(lines[2], r"^  0\.\d+ s, 0\.\d\d of 2 CPUs used; .*for [12]\.\d\d it had no work: ")
        self.assertTrue(any(line.startswith("  -> weft re") for line in lines[3:5]), lines)
        self.assertEqual(self.weft("run", "--stats=some", program).returncode, 2)

    def test_one_libc(self):
        """Tools such as valgrind look after one copy of it."""
        maps = [line.split() for line in self.weft("run", "cat", "/proc/self/maps").stdout.splitlines()]
        mapped = [words[-1] for words in maps if int(words[2], 16) == 0]
        self.assertEqual(sum("libweft-audit.so" in path for path in mapped), 1)
        self.assertEqual(sum("/libc.so" in path for path in mapped), 1)

    def test_existing_audit_and_preload_variables_are_kept(self):
        done = self.weft("run", "sh", "-c", 'echo "$LD_AUDIT"', env={"LD_AUDIT": "/nonexistent.so"})
        self.assertTrue(done.stdout.endswith(":/nonexistent.so\n"), done.stdout)

    def test_mpi_library_stands_behind_what_is_preloaded_already(self):
        """Tools that count calls of MPI see those of the program then."""
        library = pathlib.Path(WEFT).parents[1] / "lib/weft/libweft-mpi.so"
        if not library.exists():
            self.skipTest("built without MPI")
        done = self.weft("run", "--mpi", "sh", "-c", 'echo "$LD_PRELOAD"', env={"LD_PRELOAD": "libm.so.6"})
        self.assertTrue(re.fullmatch(r"libm\.so\.6:\S*/libweft-mpi\.so", done.stdout.strip()), done.stdout)


class Refuses(CommandTest):
    def copy_without(self, name, *words):
        """An installation without the libraries that have one of these words in their names."""
        bare = self.folder / name
        (bare / "bin").mkdir(parents=True)
        (bare / "lib/weft").mkdir(parents=True)
        shutil.copy(WEFT, bare / "bin/weft")
        for library in (pathlib.Path(WEFT).parents[1] / "lib/weft").iterdir():
            if not any(word in library.name for word in words):
                (bare / "lib/weft" / library.name).symlink_to(library)
        return bare

    def test_parts_that_are_missing(self):
        """Where they are needed."""
        bare = self.copy_without("in_part", "preload", "observe")
        trace, page = ("-o", self.folder / "t.json"), ("-o", self.folder / "p.html")
        for words, missing in (
            (("run",), None),
            (("run", "--preload"), "libweft-preload.so"),
            (("trace", *trace), "libweft-observe.so"),
            (("report", *page), "libweft-observe.so"),
        ):
            with self.subTest(words=words):
                done = self.command(bare / "bin/weft", *words, "echo", "ran")
                if missing is None:
                    self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "ran\n", ""))
                else:
                    self.assertEqual((done.returncode, done.stdout), (1, ""))
                    self.one_complaint(done, bare / "lib/weft" / missing, "install weft again")

    def test_libraries_that_are_not_there(self):
        """An option ends the command; a variable keeps no program from running."""
        bare = self.copy_without("bare", "mpi", "coll")
        for option, variable in ("--mpi", "WEFT_MPI"), ("--collectives", "WEFT_COLLECTIVES"):
            done = self.command(bare / "bin/weft", "run", option, "echo", "ran")
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.one_complaint(done, f"weft: {option}: ", "install weft again")
            done = self.command(bare / "bin/weft", "run", "echo", "ran", env={variable: "true"})
            self.assertEqual((done.returncode, done.stdout), (0, "ran\n"))
            self.one_complaint(done, f"weft: {variable}: ", "install weft again", "the default is used")

    def test_what_cannot_run(self):
        plain = self.folder / "plain"
        plain.write_text("text")
        for program, code, words in (
            ("no-such-program", 127, ["no such program"]),
            ("/no/such/file", 127, ["No such file"]),
            (self.folder, 126, ["directory"]),
            (plain, 126, ["not executable", "chmod"]),
        ):
            with self.subTest(program=program):
                done = self.weft("run", program)
                self.assertEqual(done.returncode, code)
                self.one_complaint(done, program, *words)

    def test_what_runs_without_weft(self):
        static = self.build("static", "int main(void) { return 3; }", "-static", "-fno-openmp")
        done = self.weft("run", static)
        self.assertEqual(done.returncode, 3)
        self.one_complaint(done, static, "statically linked")

        script = self.folder / "script"
        script.write_text(f"#!{static}\n")
        script.chmod(0o755)
        done = self.weft("run", script)
        self.assertEqual(done.returncode, 3)
        self.one_complaint(done, script, static, "statically linked")

    @unittest.skipIf(os.uname().machine != "x86_64", "the linker of the test knows no other machine")
    def test_programs_for_another_libc(self):
        linker = self.build("ld-musl-test.so.1", OTHER_LINKER, "-nostdlib", "-static", "-fno-openmp")
        program = self.build(
            "for_musl", "int main(void) { return 0; }", f"-Wl,--dynamic-linker={linker}", "-fno-openmp"
        )
        for options in ("run",), ("run", "--preload"), ("numa",):
            with self.subTest(options=options):
                done = self.weft(*options, program)
                self.assertEqual(done.returncode, 5)
                self.assertIn(f"weft: {program} is started by {linker}", done.stderr)
                self.assertIn("runs without weft", done.stderr)
        self.assertIn(f"is started by {linker}", self.weft("info", "--", program).stdout)
        done = self.weft("numa", "--protect", program)
        self.assertEqual(done.returncode, 2)
        self.assertIn(str(linker), done.stderr)
        # As the user may call it himself.
        done = self.weft("run", linker, program)
        self.assertEqual(done.returncode, 5)
        self.one_complaint(done, linker, "runs without weft")
        # By a name of glibc's.
        link = self.folder / "ld-linux-test.so.2"
        own = self.build("own", "int main(void) { return 0; }", "-fno-openmp")
        named = subprocess.run(["readelf", "-l", own], capture_output=True, text=True, check=True).stdout
        link.symlink_to(re.search(r"interpreter: (\S+)\]", named)[1])
        other = self.folder / "ld-other.so.3"
        other.symlink_to(link)
        program = self.build("by_links", LINKED, f"-Wl,--dynamic-linker={other}")
        done = self.weft("run", program)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_versions_that_weft_lacks(self):
        """Of a later libgomp: the dynamic linker would end the program."""
        folder = self.folder / "later"
        folder.mkdir()
        versions = self.folder / "later.versions"
        versions.write_text("GOMP_4.0 { GOMP_parallel; };\nGOMP_9.9 { GOMP_later; } GOMP_4.0;\n")
        source = "void GOMP_parallel(void) {}\nint GOMP_later(void) { return 3; }\n"
        flags = ("-shared", "-fPIC", "-Wl,-soname,libgomp.so.1", f"-Wl,--version-script={versions}", "-fno-openmp")
        library = self.build("later/libgomp.so.1", source, *flags)
        source = "extern int GOMP_later(void);\nint main(void) { return GOMP_later(); }"
        program = self.build("later_program", source, library, f"-Wl,-rpath,{folder}", "-fno-openmp")
        for option in (), ("--preload",):
            with self.subTest(option=option):
                done = self.weft("run", *option, program)
                self.assertEqual(done.returncode, 3)
                self.one_complaint(done, f"{program} needs GOMP_9.9 of libgomp.so.1", "runs without weft")
        self.assertIn("needs GOMP_9.9 of libgomp.so.1", self.weft("info", "--", program).stdout)
        done = self.weft("run", "--library", library, program)
        self.assertEqual((done.returncode, done.stderr), (3, ""))
        # As a library needs it with which a program is linked: the audit library sees that, and preloaded nobody would.
        source = "extern int GOMP_later(void);\nint later(void) { return GOMP_later(); }"
        inner = self.build("liblater.so", source, library, "-shared", "-fPIC", f"-Wl,-rpath,{folder}", "-fno-openmp")
        source = "extern int later(void);\nint main(void) { return later(); }"
        paths = (f"-Wl,-rpath,{self.folder}", "-Wl,--allow-shlib-undefined")
        program = self.build("through_library", source, inner, *paths, "-fno-openmp")
        for option, said in (
            ((), "program runs on its own OpenMP runtime"),
            (("--preload",), f"{program} runs without weft"),
        ):
            with self.subTest(option=option):
                done = self.weft("run", *option, program)
                self.assertEqual(done.returncode, 3, done.stderr)
                self.one_complaint(done, "GOMP_9.9", inner, said)

    def test_the_dynamic_linker_runs_programs_too(self):
        program = self.build("by_linker", LINKED)
        said = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
        linker = re.search(r"(/\S*/ld-linux\S*)", said)
        if linker is None:
            self.skipTest("ldd names no dynamic linker")
        done = self.weft("run", linker[1], program)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertTrue(done.stdout.split()[1].endswith("/weft/libgomp.so.1"), done.stdout)

    def test_what_has_its_own_runtime(self):
        archive = subprocess.run([GCC, "-print-file-name=libgomp.a"], capture_output=True, text=True, check=True)
        source = "#include <omp.h>\nint main(void) { int n = 0;\n#pragma omp parallel reduction(+ : n)\nn++;\nreturn n > 0 ? 6 : 0; }"
        file = self.folder / "inside.c"
        file.write_text(source)
        program = self.folder / "inside"
        subprocess.run([GCC, "-fopenmp", "-c", file, "-o", f"{program}.o"], check=True)
        subprocess.run([GCC, f"{program}.o", archive.stdout.strip(), "-lpthread", "-ldl", "-o", program], check=True)
        for flag in "--strip-debug", "--strip-all":
            with self.subTest(flag=flag):
                subprocess.run(["strip", flag, program], check=True)
                done = self.weft("run", program)
                self.assertEqual(done.returncode, 6)
                self.one_complaint(done, program, "libgomp.a", "shared one")
        linked = self.build("shared", source)
        self.assertEqual(self.weft("run", linked).stderr, "")

    def test_setuid(self):
        program = self.build("setuid", "int main(void) { return 4; }", "-fno-openmp")
        if os.geteuid() != 0:
            self.skipTest("only root can give a file to somebody else")
        os.chown(program, 54321, 54321)
        program.chmod(0o755 | stat.S_ISUID)
        done = self.weft("run", program)
        self.assertEqual(done.returncode, 4)
        self.one_complaint(done, program, "setuid")

    def test_other_machines(self):
        program = self.build("wide", "int main(void) { return 0; }", "-fno-openmp")
        data = bytearray(program.read_bytes())
        data[18] = 243  # RISC-V
        foreign = self.folder / "foreign"
        foreign.write_bytes(data)
        foreign.chmod(0o755)
        done = self.weft("run", foreign)
        self.assertEqual(done.returncode, 126)  # this machine cannot run it at all
        self.assertIn("another kind of machine", done.stderr.splitlines()[0])

    @unittest.skipIf(os.uname().machine != "x86_64", "there is no narrower sibling here")
    def test_narrow_programs(self):
        narrow = self.build(
            "narrow",
            """
void _start(void) { __asm__ volatile("mov $1, %eax; mov $5, %ebx; int $0x80"); }
""",
            "-m32",
            "-nostdlib",
            "-static",
            "-fno-openmp",
        )
        done = self.weft("run", narrow)
        self.assertIn(done.returncode, (5, 126))  # not every kernel runs such a program
        self.assertIn("32-bit", done.stderr.splitlines()[0])

    def test_help_of_what_is_no_command(self):
        for word in "help", "version":
            done = self.weft("help", word)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, self.weft("--help").stdout, ""))

    def test_usage(self):
        for arguments, words in (
            (("run",), "program"),
            (("frob",), "frob"),
            (("",), "weft: '': no such command"),
            (("help", ""), "weft: '': no such command"),
            (("help", "run", ""), "weft: help: '': weft run has no such command"),
            (("node", ""), "weft: node: '': no such command"),
            (("tune", ""), "weft: tune: '': no such command"),
            (("run", "--cpus", "0", "true"), "cpus"),
            (("run", "--set", "x", "true"), "NAME=VALUE"),
            (("run", "--mode", "frob", "true"), "dynamic"),
            (("run", "--library", "/no", "true"), "/no"),
            (("run", "--frob", "true"), "--frob"),
            (("run", "--library", "/", "true"), "no file"),
            (("top", "--interval", "nan"), "nan"),
            (("run", "--mode", "static", "-f", "nan", "true"), "nan"),
            (("top", "--interval", "inf"), "inf"),
            (("node", "frob"), "frob"),
            (("run", "--frob", "true"), "weft run --help"),
            (("node",), "weft node --help"),
            (("node", "status", "--frob"), "weft node status --help"),
        ):
            with self.subTest(arguments=arguments):
                done = self.weft(*arguments)
                self.assertEqual(done.returncode, 2)
                self.one_complaint(done, words)

    def test_alone_is_helped(self):
        done = self.weft()
        self.assertEqual((done.returncode, done.stderr), (2, ""))
        for command in "run", "trace", "merge", "node", "top", "info":
            self.assertRegex(done.stdout, rf"\n  {command} ")

    def test_merge_wants_traces_of_ranks(self):
        self.one_complaint(self.weft("merge"), "TRACE")
        alone = self.folder / "alone.json"
        rank = self.folder / "rank.json"
        into = self.folder / "merged.json"
        alone.write_text('{"traceEvents": [], "otherData": {"rank": -1}}')
        rank.write_text('{"traceEvents": [], "otherData": {"rank": 0, "host": "a", "began": 1, "together": 2}}')
        for files, words in (
            ((self.folder / "none",), "none: No such file"),
            ((alone,), "no trace of a rank"),
            ((WEFT,), "no trace of a rank"),
            ((rank, rank), "of one run"),
        ):
            with self.subTest(words=words):
                done = self.weft("merge", "-o", into, *files)
                self.assertEqual(done.returncode, 1)
                self.one_complaint(done, words)
                self.assertFalse(into.exists())

    def test_output_that_cannot_be_written(self):
        for command in (
            ("info",),
            ("info", "--json"),
            ("node", "status"),
            ("top", "--once"),
            ("--help",),
            ("--version",),
        ):
            with self.subTest(command=command), open("/dev/full", "w") as full:
                environment = {k: v for k, v in os.environ.items() if not k.startswith(("OMP_", "WEFT_", "LD_"))}
                done = subprocess.run(
                    [WEFT, *command],
                    env=environment,
                    stdout=full,
                    stderr=subprocess.PIPE,
                    text=True,
                    timeout=TIMEOUT_S,
                    check=False,
                )
                self.assertEqual(done.returncode, 1)
                self.one_complaint(done, "No space left")

    def test_paths_that_cannot_be_listed(self):
        for folder, option in (
            ("with space", "--preload"),
            ("with:colon", "--preload"),
            ("with:colon", None),
            ("with$ORIGIN", None),
        ):
            with self.subTest(folder=folder):
                prefix = self.folder / folder
                if not prefix.exists():
                    shutil.copytree(pathlib.Path(WEFT).parents[1] / "lib/weft", prefix / "lib/weft", symlinks=True)
                    (prefix / "bin").mkdir()
                    shutil.copy(WEFT, prefix / "bin/weft")
                done = self.command(prefix / "bin/weft", "run", *([option] if option else []), "true")
                self.assertEqual(done.returncode, 2)
                self.one_complaint(done, folder, "install weft elsewhere")
        self.assertEqual(self.command(self.folder / "with space/bin/weft", "run", "true").returncode, 0)


class OlderLibc(CommandTest):
    LIBRARIES = pathlib.Path(WEFT).parents[1] / "lib/weft"
    ASK = r"""
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
int main(int count, char **arguments) {
  void *library = dlopen(arguments[1], RTLD_NOW);
#pragma omp parallel if (count > 9)
  printf("%u\n", ((unsigned (*)(unsigned))dlsym(library, "la_version"))(atoi(arguments[2])));
  return 0;
}
"""

    def ask(self, version, *flags, **variables):
        """What the audit library says to a dynamic linker with that version of the interface, in a program of OpenMP."""
        program = self.build("asks", self.ASK, *flags)
        variables = {"WEFT_LIBRARY": str(self.LIBRARIES / "libgomp.so.1"), **variables}
        return self.command(program, self.LIBRARIES / "libweft-audit.so", str(version), env=variables)

    def test_is_declined(self):
        for flags in (), ("-no-pie",):
            done = self.ask(1, *flags)
            self.assertEqual((done.returncode, done.stdout), (0, "0\n"))
            self.one_complaint(done, "glibc 2.35", "its own OpenMP runtime")
        done = self.ask(2)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "2\n", ""))

    def test_is_declined_without_a_line_where_it_does_not_matter(self):
        """The runtime is preloaded, or the program has no OpenMP."""
        preloaded = self.ask(1, LD_PRELOAD=f"libm.so.6:{self.LIBRARIES}/libgomp.so.1")
        for done in preloaded, self.ask(1, "-fno-openmp"):
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "0\n", ""))

    def test_info_asks_as_programs_are_run(self):
        """By preloading weft, which is there then whether something asks for it or not."""
        flags = ("-shared", "-fPIC", "-fno-openmp")
        older = self.build("older.so", 'const char *gnu_get_libc_version(void) { return "2.31"; }', *flags)

        def told(program):
            done = self.weft("info", "--json", "-", "--", program, env={"LD_PRELOAD": str(older)})
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            told = json.loads(done.stdout)
            self.assertIn("LD_PRELOAD", told["system"]["loaded"])
            return told["program"]["weft"], told["program"]["other_runtimes"]

        how, others = told(self.build("told_gcc", LINKED))
        self.assertIn("gets weft's", how)
        self.assertIsNone(others)
        how, others = told(self.build("told_clang", LINKED, compiler=CLANG))
        self.assertIn("gets weft's", how)
        [(file, why)] = dict(others).items()
        self.assertRegex(file, "/libomp")
        self.assertIn("not called", why)
        how, others = told("true")
        self.assertIn("nothing that it is linked with", how)
        self.assertIsNone(others)

    def test_nothing_newer_is_needed(self):
        for library in "libgomp.so.1", "libtcm.so.1", "libweft-audit.so":
            symbols = subprocess.run(["nm", "-D", self.LIBRARIES / library], capture_output=True, text=True, check=True)
            needed = {int(minor) for minor in re.findall(r"@GLIBC_2\.(\d+)", symbols.stdout)}
            self.assertLessEqual(max(needed), 35, library)


class Alone(CommandTest):
    """The audit library without the command, as in an environment that has been taken apart."""

    AUDIT = pathlib.Path(WEFT).parents[1] / "lib/weft/libweft-audit.so"

    def check(self, lines, *words, fault=" is not set", **environment):
        done = self.command(*words, env={"LD_AUDIT": str(self.AUDIT)} | environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        said = [line for line in done.stderr.splitlines() if not line.startswith("ERROR: ld.so: ")]
        self.assertEqual(said, lines * [f"weft: WEFT_LIBRARY{fault}; the program runs on its own OpenMP runtime"])
        return done

    def test_programs_that_use_openmp_say_so_once(self):
        program = self.build("alone", LINKED)
        self.assertNotIn("/weft/", self.check(1, program).stdout)
        self.check(2, "sh", "-c", f"{program}; exec {program}")
        self.check(1, program, LD_AUDIT=f"{self.AUDIT}:/nonexistent.so")
        self.check(1, program, LD_AUDIT=f"{self.folder}/none.so:{self.AUDIT}")
        self.check(1, program, fault="=relative is not an absolute path", WEFT_LIBRARY="relative")
        self.check(1, program, fault="=/gone cannot be read", WEFT_LIBRARY="/gone")
        self.check(1, program, fault=f"=/{'x' * 4094} is too long", WEFT_LIBRARY="/" + "x" * 9000)

    def test_others_say_nothing(self):
        spaces = self.build(
            "spaces",
            """
#define _GNU_SOURCE
#include <dlfcn.h>
int main(void) { return dlmopen(LM_ID_NEWLM, "libm.so.6", RTLD_NOW) == 0; }
""",
            "-fno-openmp",
            "-ldl",
        )
        static = self.build("static_pie", "int main(void) { return 0; }", "-fno-openmp", "-static-pie")
        for words in ((spaces,), (static,), ("sh", "-c", "env true; exec true")):
            with self.subTest(words=words):
                self.check(0, *words)

    def test_runtimes_that_are_loaded_later(self):
        program = self.build("late_alone", LATE, "-fno-openmp", "-ldl")
        self.check(1, program, "libgomp.so.1")


class Info(CommandTest):
    def test_json(self):
        done = self.weft("info", "--json", env={"OMP_NUM_THREADS": "3"})
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        told = json.loads(done.stdout)
        self.assertEqual(told["cpus"]["affinity_mask"], len(os.sched_getaffinity(0)))
        self.assertEqual(told["environment"]["OMP_NUM_THREADS"]["value"], "3")
        self.assertEqual(told["environment"]["OMP_NUM_THREADS"]["from"], "environment")
        self.assertEqual(told["environment"]["OMP_SCHEDULE"]["from"], "default")
        self.assertTrue(pathlib.Path(told["weft"]["library"]).exists())
        keys = {key for section, of in told.items() if section != "environment" for key in [section, *of]}
        self.assertFalse({key for key in keys if not re.fullmatch("[a-z0-9_]+", key)})
        page = (pathlib.Path(__file__).parents[2] / "docs/reference/commands.md").read_text()
        self.assertFalse({key for key in keys if f"`{key}`" not in page})

    def test_libraries_of_mpis(self):
        told = json.loads(self.weft("info", "--json").stdout)["collectives"]
        folder = pathlib.Path(WEFT).parents[1] / "lib/weft"
        for mpi, name in (
            ("openmpi_4_1", "mca_coll_weft.so"),
            ("all_mpis", "libweft-coll.so"),
        ):
            self.assertEqual(told[mpi], str(folder / name) if (folder / name).exists() else None)

    def test_text(self):
        done = self.weft("info", env={"OMP_WAIT_POLICY": "passive"})
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stdout, r"OMP_WAIT_POLICY +passive")
        self.assertRegex(done.stdout, r"used at once +\d")

    def test_places(self):
        done = self.weft("info", "--json", env={"OMP_PLACES": "threads(1)"})
        places = json.loads(done.stdout)["places"]
        self.assertEqual((places["bound"], places["places"]), (True, 1))
        done = self.weft("info", env={"OMP_PROC_BIND": "false"})
        self.assertRegex(done.stdout, r"threads are bound +false")
        self.assertNotIn("threads are bound", self.weft("info").stdout)

    def test_programs(self):
        """Which runtime one would have, without any of its code being run."""
        source = MAPS + 'int main(void) { puts("has run"); return region(); }'
        linked = self.build("told_of", source)
        told = json.loads(self.weft("info", "--json", "--", linked).stdout)["program"]
        self.assertEqual(told["file"], str(linked))
        self.assertIn("gets weft's", told["weft"])
        self.assertIsNone(told["other_runtimes"])
        self.assertIn("nothing that it is linked with", self.weft("info", "true").stdout)

        archive = subprocess.run([GCC, "-print-file-name=libgomp.a"], capture_output=True, text=True, check=True)
        inside = self.folder / "told_inside"
        subprocess.run([GCC, "-fopenmp", "-c", self.folder / "told_of.c", "-o", f"{inside}.o"], check=True)
        subprocess.run([GCC, f"{inside}.o", archive.stdout.strip(), "-lpthread", "-o", inside], check=True)
        told = json.loads(self.weft("info", "--json", "--", inside).stdout)["program"]
        self.assertEqual(told["other_runtimes"], {str(inside): "libgomp.a was linked into it"})

        static = self.build("told_static", "int main(void) { return 3; }", "-static", "-fno-openmp")
        self.assertIn("is statically linked: it runs without weft", self.weft("info", static).stdout)
        library = self.folder / "liblibrary.so"
        subprocess.run(["gcc", "-shared", "-fPIC", "-x", "c", "/dev/null", "-o", library], check=True)
        for mode in 0o755, 0o644:
            library.chmod(mode)
            done = self.weft("info", "--", library)
            self.assertIn(f"{library}: is a library; it runs on weft in each program", done.stdout + done.stderr)
        done = self.weft("info", "no-such-program")
        self.assertEqual((done.returncode, done.stdout), (127, ""))

    def test_help_and_version(self):
        self.assertRegex(self.weft("--version").stdout, r"^weft \d+\.\d+\.\d+( \([0-9a-f]{9,}(-dirty)?\))?\n$")
        for arguments in (("--help",), ("run", "--help"), ("info", "--help")):
            self.assertEqual(self.weft(*arguments).returncode, 0)


if __name__ == "__main__":
    unittest.main()
