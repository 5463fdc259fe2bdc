# SPDX-License-Identifier: Apache-2.0
"""An installed weft: the command, the directory to link with, find_package(weft) and pkg-config."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

from finished import finished

BUILD = os.environ["WEFT_BUILD_DIR"]
TIMEOUT_S = 120

PROGRAM = """
#include <stdio.h>
int main(void) {
  int members = 0;
#pragma omp parallel num_threads(4) reduction(+ : members)
  members++;
  printf("%d\\n", members);
  char line[4096];
  FILE *maps = fopen("/proc/self/maps", "r");
  while (fgets(line, sizeof line, maps)) fputs(line, stdout);
  return 0;
}
"""
PROJECT = """
cmake_minimum_required(VERSION 3.22)
project(consumer C)
find_package(OpenMP REQUIRED)
find_package(weft REQUIRED)
add_executable(consumer consumer.c)
target_link_libraries(consumer PRIVATE weft::weft OpenMP::OpenMP_C)
"""
PROJECT_OF_LOCKS = """
cmake_minimum_required(VERSION 3.22)
project(locks C)
find_package(weft REQUIRED)
add_executable(locks ../locks.c)
target_link_libraries(locks PRIVATE weft::shm)
"""


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory(prefix="weft-install-")))
        cls.prefix = cls.folder / "prefix"
        for component in ((), ("--component", "tsan")):
            command = ["cmake", "--install", BUILD, "--prefix", str(cls.prefix), *component]
            subprocess.run(command, check=True, capture_output=True)
        cls.runtime = next(cls.prefix.glob("lib*/**/weft/libgomp.so.1"))
        (cls.folder / "consumer.c").write_text(PROGRAM)
        cls.environment = {k: v for k, v in os.environ.items() if not k.startswith(("LD_", "OMP_", "WEFT_"))}

    def run_command(self, *command):
        return finished(command, env=self.environment, timeout=TIMEOUT_S, check=True).stdout

    def check(self, output):
        self.assertTrue(output.startswith("4\n"), output[:100])
        mapped = {line.split()[-1] for line in output.splitlines() if "omp.so" in line}
        self.assertEqual(mapped, {str(self.runtime)})

    def test_command(self):
        self.run_command("gcc", "-fopenmp", self.folder / "consumer.c", "-o", self.folder / "plain")
        self.check(self.run_command(self.prefix / "bin/weft", "run", self.folder / "plain"))

    def test_tools(self):
        """The headers for tools, and the tool of `weft trace`."""
        source = self.folder / "tool.c"
        source.write_text('#include "weft/omp-tools.h"\n#include "weft/weft-tools.h"\nint main(void) { return 0; }\n')
        self.run_command("gcc", "-Wall", "-Werror", f"-I{self.prefix}/include", source, "-o", self.folder / "tool")
        self.run_command("gcc", "-fopenmp", self.folder / "consumer.c", "-o", self.folder / "traced")
        trace = self.folder / "trace.json"
        self.check(self.run_command(self.prefix / "bin/weft", "trace", "-o", trace, self.folder / "traced"))
        self.assertIn("team 1, member 3 of 4", trace.read_text())

    def test_linking(self):
        directory = self.runtime.parent
        self.run_command(
            "gcc",
            "-fopenmp",
            self.folder / "consumer.c",
            "-o",
            self.folder / "linked",
            f"-L{directory}",
            f"-Wl,-rpath,{directory}",
        )
        self.check(self.run_command(self.folder / "linked"))

    def test_find_package(self):
        (self.folder / "CMakeLists.txt").write_text(PROJECT)
        build = self.folder / "build"
        self.run_command("cmake", "-S", self.folder, "-B", build, f"-DCMAKE_PREFIX_PATH={self.prefix}")
        self.run_command("cmake", "--build", build)
        self.check(self.run_command(build / "consumer"))

    def test_pkg_config(self):
        """Also where the tree has been moved."""
        moved = self.folder / "moved"
        shutil.copytree(self.prefix, moved, symlinks=True)
        pkg_config = next(moved.glob("lib*/**/pkgconfig/weft.pc")).parent
        self.environment["PKG_CONFIG_PATH"] = str(pkg_config)
        flags = self.run_command("pkg-config", "--cflags", "--libs", "weft").split()
        program = self.folder / "by_pkg_config"
        source = self.folder / "by_pkg_config.c"
        source.write_text('#include "weft/weft.h"\n' + PROGRAM)
        self.run_command("gcc", "-fopenmp", source, "-o", program, *flags)
        output = self.run_command(program)
        mapped = {line.split()[-1] for line in output.splitlines() if "omp.so" in line}
        self.assertEqual(mapped, {str(next(moved.glob("lib*/**/weft/libgomp.so.1")))})

    def test_locks_and_stores(self):
        """libweft-shm without the runtime, by find_package and by pkg-config."""
        (self.folder / "locks.c").write_text(
            "#include <weft/rwlock.h>\nint main(void) { return weft_rwlock_size(4) == 0; }\n"
        )
        project = self.folder / "locks"
        project.mkdir()
        (project / "CMakeLists.txt").write_text(PROJECT_OF_LOCKS)
        self.run_command("cmake", "-S", project, "-B", project / "build", f"-DCMAKE_PREFIX_PATH={self.prefix}")
        self.run_command("cmake", "--build", project / "build")
        self.run_command(project / "build/locks")
        self.environment["PKG_CONFIG_PATH"] = str(next(self.prefix.glob("lib*/**/pkgconfig/weft-shm.pc")).parent)
        flags = self.run_command("pkg-config", "--cflags", "--libs", "weft-shm").split()
        self.run_command("gcc", self.folder / "locks.c", "-o", self.folder / "by_pkg_config", *flags)
        self.run_command(self.folder / "by_pkg_config")

    def test_nothing_in_the_directories_that_are_searched_by_default(self):
        """No libgomp.so.1 where the system's linker would find it by accident."""
        own = {self.runtime.parent, self.runtime.parent / "tsan"}
        self.assertEqual([path for path in self.prefix.rglob("lib*omp*.so*") if path.parent not in own], [])

    def test_manual_pages_and_completions(self):
        share = self.prefix / "share"
        for name in (
            "man/man3/weft_rwlock.3",
            "man/man3/weft_kv_get.3",
            "man/man3/weft_shm_error.3",
            "man/man1/weft.1",
            "man/man1/weft-run.1",
            "bash-completion/completions/weft",
            "zsh/site-functions/_weft",
            "fish/vendor_completions.d/weft.fish",
        ):
            self.assertTrue((share / name).is_file(), name)

    def test_libraries_before_mpi(self):
        """Those for the MPIs that weft was built for: all that the build has."""
        built = {
            path.name
            for pattern in ("libweft-mpi*.so", "libweft-coll-*.so", "mca_*.so")
            for path in (pathlib.Path(BUILD) / "lib/weft").glob(pattern)
        }
        self.assertEqual({name for name in built if not (self.runtime.parent / name).exists()}, set())

    def test_beside_the_library(self):
        """The runtime for ThreadSanitizer, and the extension of gdb."""
        instrumented = self.runtime.parent / "tsan"
        self.run_command(
            "gcc",
            "-fopenmp",
            "-fsanitize=thread",
            self.folder / "consumer.c",
            "-o",
            self.folder / "sanitized",
            f"-Wl,-rpath,{instrumented}",
        )
        output = self.run_command(self.folder / "sanitized")
        self.assertTrue(output.startswith("4\n"), output[:100])
        self.assertIn(f"{instrumented}/libgomp.so.1\n", output)
        self.assertTrue((self.runtime.parent / "weft-gdb.py").exists())


if __name__ == "__main__":
    unittest.main()
