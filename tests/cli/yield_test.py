# SPDX-License-Identifier: Apache-2.0
"""Members that wait for each other with sched_yield: under `weft run` the call lets the others run."""

import re
import shutil
import subprocess
import unittest

from command_test import CLANG, GCC, CommandTest

# All members must have arrived before any goes on, ROUNDS times.
MEMBERS = r"""
#include <sched.h>
#include <stdio.h>
extern void wait_for(int *word, int value);
int main(void) {
  for (int round = 0; round < ROUNDS; round++) {
    int arrived = 0;
#pragma omp parallel num_threads(4)
    {
      __atomic_add_fetch(&arrived, 1, __ATOMIC_ACQ_REL);
      wait_for(&arrived, 4);
    }
  }
  puts("done");
  return 0;
}
"""
WAIT = r"""
#include <sched.h>
void wait_for(int *word, int value) {
  while (__atomic_load_n(word, __ATOMIC_ACQUIRE) < value) sched_yield();
}
"""
# Uses up the memory for thread-local variables of libraries that come late, so that the runtime cannot be loaded to the end.
LATE = r"""
#include <dlfcn.h>
#include <sched.h>
#include <stdio.h>
int main(int count, char **libraries) {
  for (int i = 1; i < count; i++) dlopen(libraries[i], RTLD_NOW);
  puts(dlopen("libgomp.so.1", RTLD_NOW) ? "loaded" : dlerror());
  sched_yield();
  puts("done");
  return 0;
}
"""
GREEDY = '__thread char big[300] __attribute__((tls_model("initial-exec")));\nchar *get(void) { return big; }\n'


class Yield(CommandTest):
    def lent(self, program):
        """OS threads that the monitor has had to lend, where one is all that there are."""
        done = self.weft("run", "--stats=all", program, env={"WEFT_NUM_CPUS": "1", "OMP_NUM_THREADS": "4"})
        self.assertEqual((done.returncode, done.stdout), (0, "done\n"), done.stderr)
        return int(re.search(r"compensations: (\d+)", done.stderr)[1])

    def test_lets_members_run(self):
        for compiler in GCC, CLANG:
            for flags in (
                (),
                ("-no-pie", "-fno-pie"),
                ("-no-pie", "-fno-pie", "-fno-plt", "-Wl,-z,now"),
                ("-Wl,-z,now",),
                ("-Wl,--hash-style=sysv",),
                ("-no-pie", "-Wl,--hash-style=sysv"),
                ("-no-pie", "-Wl,--hash-style=both"),
                ("-rdynamic",),
                ("-no-pie", "-rdynamic"),
            ):
                with self.subTest(compiler=compiler, flags=flags):
                    program = self.build("own", MEMBERS + WAIT, "-DROUNDS=200", *flags, compiler=compiler)
                    self.assertEqual(self.lent(program), 0)

    def test_of_code_that_has_no_regions_is_the_system_s(self):
        source = self.folder / "wait.c"
        source.write_text(WAIT)
        library = self.folder / "libwait.so"
        subprocess.run([GCC, "-O1", "-shared", "-fPIC", source, "-o", library], check=True)
        program = self.build("of_library", MEMBERS, "-DROUNDS=2", str(library), f"-Wl,-rpath,{self.folder}")
        self.assertGreater(self.lent(program), 0)

    def test_after_the_runtime_could_not_be_loaded(self):
        source = self.folder / "greedy.c"
        source.write_text(GREEDY)
        libraries = [self.folder / f"libgreedy{number}.so" for number in range(24)]
        subprocess.run([GCC, "-shared", "-fPIC", source, "-o", libraries[0]], check=True)
        for library in libraries[1:]:
            shutil.copy(libraries[0], library)
        (self.folder / "late.c").write_text(LATE)
        subprocess.run([GCC, self.folder / "late.c", "-o", self.folder / "late"], check=True)
        done = self.weft(
            "run", self.folder / "late", *libraries, env={"GLIBC_TUNABLES": "glibc.rtld.optional_static_tls=0"}
        )
        self.assertIn("static TLS", done.stdout)
        self.assertEqual((done.returncode, done.stdout.splitlines()[-1]), (0, "done"), done.stderr)


if __name__ == "__main__":
    unittest.main()
