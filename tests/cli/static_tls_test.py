# SPDX-License-Identifier: Apache-2.0
"""Libraries with thread-local data that is reached without a call: they find room under `weft run` where they find it
without."""
import os
import subprocess
import unittest

from command_test import GCC, CommandTest

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
        return self.build(f"linked{size}", LINKED, f"-DBYTES={size}", str(self.tls_library(size)), f"-Wl,-rpath,{self.folder}")

    def expect(self, done, text):
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, text, ""))

    def test_linked(self):
        for size in 1500, 6000, 100000:
            program = self.linked(size)
            for command in ([program], ["--", "sh", "-c", f"{program}; true"], ["env", "-u", "GLIBC_TUNABLES", program]):
                with self.subTest(size=size, command=command):
                    self.expect(self.weft("run", *command), "4\n")

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
        self.expect(self.weft("run", program, self.tls_library(1000), env={"LD_PRELOAD": str(self.tls_library(6000))}), "loaded\n")
        # And as much more as the user wants.
        self.expect(self.weft("run", program, self.tls_library(20000), env={"GLIBC_TUNABLES": f"{TUNABLE}=20000"}), "loaded\n")

    def test_started_again_as_it_was(self):
        script = self.folder / "script"
        script.write_text(f"#!{self.linked(6000)} first second\n")
        program = self.build("arguments", r"""
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
""", str(self.tls_library(6000)), f"-Wl,-rpath,{self.folder}")
        script.write_text(f"#!{program} first second\n")
        script.chmod(0o755)
        environment = {"KEPT": "a:b=c"}
        done = self.weft("run", script, "x y", "", env=environment)
        self.expect(done, f"{program} first second {script} x y  script a:b=c 0\n".replace(" script a", " arguments a"))
        self.expect(self.weft("run", program, "--z", env=environment), f"{program} --z arguments a:b=c 0\n")

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
