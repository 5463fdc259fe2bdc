# SPDX-License-Identifier: Apache-2.0
"""Libraries with thread-local data that is reached without a call: they find room under `weft run` where they find it
without."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

from command_test import WEFT, CommandTest

TUNABLE = "glibc.rtld.optional_static_tls"
LIBRARY = r"""
__thread char big[BYTES] __attribute__((tls_model("initial-exec")));
char *get(void) { return big; }
"""
LINKED = r"""
#include <stdio.h>
char *get(void);
int main(void) {
  int members = 0;
#pragma omp parallel num_threads(4) reduction(+ : members)
  members += get()[BYTES - 1] == 0;
  printf("%d\n", members);
  return 0;
}
"""
REGION = LINKED.replace("char *get(void);", "").replace("get()[BYTES - 1] == 0", "1")
# Loads the libraries named; the program itself has a region, so that weft is there before.
LATE = r"""
#include <dlfcn.h>
#include <stdio.h>
int main(int count, char **libraries) {
  int members = 0;
#pragma omp parallel num_threads(4) reduction(+ : members)
  members++;
  for (int i = 1; i < count; i++) puts(dlopen(libraries[i], RTLD_NOW) ? "loaded" : dlerror());
  return members != 4;
}
"""
# Shows what it has found in its environment, and then runs a command.
STARTER = r"""
#include <stdio.h>
#include <stdlib.h>
char *get(void);
int main(int count, char **arguments) {
  const char *tunables = getenv("GLIBC_TUNABLES");
  printf("%s %d\n", tunables ? tunables : "none", get()[BYTES - 1]);
  fflush(stdout);
  return count > 1 ? system(arguments[1]) : 0;
}
"""
# Executes a file that is open, when another lies where it was; ways: it is removed, or the other one mounted over it.
EXECUTE = """
import os, subprocess, sys
way, program, other = sys.argv[1:]
file = os.open(program, os.O_RDONLY)
if way == "removed":
    os.unlink(program)
    os.rename(other, program + " (deleted)")
else:
    subprocess.run(["mount", "--bind", other, program], check=True)
os.execve(file, [program], os.environ)
"""
SMALL_STACK = r"""
#include <pthread.h>
#include <string.h>
#include <stdio.h>
static void *nothing(void *argument) { return argument; }
int main(void) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 16384);
  pthread_t thread;
  puts(strerror(pthread_create(&thread, &attributes, nothing, 0)));
  return 0;
}
"""


class StaticTls(CommandTest):
    def tls_library(self, size):
        return self.build(f"libbig{size}.so", LIBRARY, f"-DBYTES={size}", "-shared", "-fPIC", "-fno-openmp")

    def linked(self, size):
        return self.build(
            f"linked{size}", LINKED, f"-DBYTES={size}", str(self.tls_library(size)), f"-Wl,-rpath,{self.folder}"
        )

    def expect(self, done, text):
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, text, ""))

    def test_linked(self):
        for size in 1500, 6000, 100000:
            program = self.linked(size)
            for command in (
                [program],
                ["--", "sh", "-c", f"{program}; true"],
                ["env", "-u", "GLIBC_TUNABLES", program],
            ):
                with self.subTest(size=size, command=command):
                    self.expect(self.weft("run", *command), "4\n")

    def test_reached_by_the_program_alone(self):
        """The compiler takes it that a program's libraries are there from the start; no flag says so in either."""
        for size in 1500, 6000, 100000:
            with self.subTest(size=size):
                library = self.build(
                    f"libdata{size}.so", f"__thread char big[{size}] = {{1}};", "-shared", "-fPIC", "-fno-openmp"
                )
                program = self.build(
                    f"reaches{size}",
                    f"extern __thread char big[{size}];"
                    + LINKED.replace("get()[BYTES - 1] == 0", "big[0] == 1").replace("char *get(void);", ""),
                    str(library),
                    f"-Wl,-rpath,{self.folder}",
                )
                self.expect(self.weft("run", program), "4\n")

    def test_preloaded(self):
        program = self.build("region", REGION)
        for size in 1500, 6000, 100000:
            with self.subTest(size=size):
                self.expect(self.weft("run", program, env={"LD_PRELOAD": str(self.tls_library(size))}), "4\n")

    def test_jemalloc(self):
        program = self.build("region", REGION)
        self.expect(self.weft("run", program, env={"LD_PRELOAD": "libjemalloc.so.2"}), "4\n")
        linked = self.build("allocates", REGION, "-l:libjemalloc.so.2", "-Wl,--no-as-needed")
        self.expect(self.weft("run", linked), "4\n")

    def test_loaded_later(self):
        program = self.build("late", LATE, "-ldl")
        for size in 100, 800, 1000:
            with self.subTest(size=size):
                library = self.tls_library(size)
                plain = subprocess.run([program, library], capture_output=True, text=True, check=False)
                self.assertEqual((plain.returncode, plain.stdout), (0, "loaded\n"))
                self.expect(self.weft("run", program, library), "loaded\n")
        # As much is left when much has been linked or preloaded.
        self.expect(
            self.weft("run", program, self.tls_library(1000), env={"LD_PRELOAD": str(self.tls_library(6000))}),
            "loaded\n",
        )
        # And as much more as the user wants.
        self.expect(
            self.weft("run", program, self.tls_library(20000), env={"GLIBC_TUNABLES": f"{TUNABLE}=20000"}), "loaded\n"
        )

    def test_started_again_as_it_was(self):
        script = self.folder / "script"
        script.write_text(f"#!{self.linked(6000)} first second\n")
        program = self.build(
            "arguments",
            r"""
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
char *get(void);
int main(int count, char **arguments) {
  char name[16];
  prctl(PR_GET_NAME, name);
  for (int i = 0; i < count; i++) printf("%s ", arguments[i]);
  printf("%s %s %d\n", name, getenv("KEPT"), get()[0]);
  return 0;
}
""",
            str(self.tls_library(6000)),
            f"-Wl,-rpath,{self.folder}",
        )
        script.write_text(f"#!{program} first second\n")
        script.chmod(0o755)
        environment = {"KEPT": "a:b=c"}
        done = self.weft("run", script, "x y", "", env=environment)
        self.expect(done, f"{program} first second {script} x y  script a:b=c 0\n".replace(" script a", " arguments a"))
        self.expect(self.weft("run", program, "--z", env=environment), f"{program} --z arguments a:b=c 0\n")

    def starter(self, size):
        return self.build(
            f"starter{size}", STARTER, f"-DBYTES={size}", str(self.tls_library(size)), f"-Wl,-rpath,{self.folder}"
        )

    def test_what_it_starts_decides_for_itself(self):
        """Each of the threads of whatever it starts would pay for its room with its stack."""
        usual = f"{TUNABLE}=4096"
        small = self.build("small_child", SMALL_STACK)
        for size in 6000, 100000:
            program = self.starter(size)
            for command, text in (
                (small, "Success\n"),
                (self.linked(100000), "4\n"),
                (self.starter(6001), f"{usual} 0\n"),
                (f"{self.starter(6001)} {small}", f"{usual} 0\nSuccess\n"),
            ):
                with self.subTest(size=size, command=command):
                    self.expect(self.weft("run", program, command), f"{usual} 0\n{text}")
            self.expect(self.weft("run", "env", "-u", "GLIBC_TUNABLES", program), " 0\n")
            kept = f"glibc.malloc.arena_max=1:{TUNABLE}=4608"
            self.expect(
                self.weft("run", program, env={"GLIBC_TUNABLES": f"glibc.malloc.arena_max=1:{TUNABLE}=1024"}),
                f"{kept} 0\n",
            )

    def in_own_mounts(self, script, *words):
        unshare = ("unshare", "--mount", "--propagation", "private")
        if self.command(*unshare, "true").returncode != 0:
            self.skipTest("no name space of mounts can be had")
        return self.command(*unshare, "sh", "-c", f'{script} && exec "$@"', "sh", *words)

    def test_without_proc(self):
        program = self.linked(6000)
        hide = "mount -t tmpfs -o ro none /proc"
        self.expect(self.in_own_mounts(hide, WEFT, "run", program), "4\n")
        self.expect(self.in_own_mounts(f"cd {self.folder} && {hide}", WEFT, "run", f"./{program.name}"), "4\n")
        # The file that has been executed is not the one that runs: the user is told what to do.
        script = self.folder / "without_proc"
        script.write_text(f"#!{program}\n")
        script.chmod(0o755)
        done = self.in_own_mounts(hide, WEFT, "run", script)
        self.assertEqual(done.returncode, 127)
        line, rest = done.stderr.split("\n", 1)
        self.assertNotIn("weft:", rest)
        setting = re.search(rf"^weft: no room for .* set (GLIBC_TUNABLES={TUNABLE}=\d+) ", line)
        self.assertIsNotNone(setting, line)
        self.expect(self.in_own_mounts(f"{hide} && export {setting[1]}", WEFT, "run", script), "4\n")

    def test_another_file_in_the_programs_place(self):
        for way in "removed", "covered":
            with self.subTest(way=way):
                program = pathlib.Path(shutil.copy(self.linked(6000), self.folder / way))
                other = self.build(f"other_{way}", '#include <stdio.h>\nint main(void) { return puts("another") < 0; }')
                done = self.in_own_mounts("true", WEFT, "run", sys.executable, "-c", EXECUTE, way, program, other)
                self.expect(done, "4\n")

    def test_smallest_stacks(self):
        program = self.build("small", SMALL_STACK)
        self.expect(self.weft("run", program), "Success\n")

    def test_settings_of_the_user(self):
        def tunables(*command, **environment):
            done = self.weft("run", *command, "sh", "-c", 'echo "$GLIBC_TUNABLES"', env=environment)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            return done.stdout.rstrip("\n").split(":")

        usual = tunables()
        self.assertEqual(usual, [f"{TUNABLE}=4096"])
        weft = os.environ["WEFT_COMMAND"]
        self.assertEqual(tunables(weft, "run"), usual)
        self.assertEqual(tunables(weft, "run", GLIBC_TUNABLES=f"{TUNABLE}=8000"), [f"{TUNABLE}=11584"])
        kept = "glibc.malloc.arena_max=1"
        self.assertEqual(tunables(GLIBC_TUNABLES=kept), [kept, *usual])
        self.assertEqual(tunables(GLIBC_TUNABLES=f"{TUNABLE}=0x2000:{kept}:{TUNABLE}=010"), [kept, f"{TUNABLE}=3592"])
        self.assertEqual(tunables("--preload", GLIBC_TUNABLES=kept), [kept])


if __name__ == "__main__":
    unittest.main()
