# SPDX-License-Identifier: Apache-2.0
"""Programs that use libweft-shm: the examples, the headers by every compiler and standard, regions of user-level threads,
ThreadSanitizer."""

import os
import pathlib
import tempfile
import unittest

from finished import finished

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = ROOT / "tests/shm"
LIBRARY = pathlib.Path(os.environ["WEFT_TEST_SHM"])
WEFT = os.environ["WEFT_COMMAND"]
GCC, CLANG = os.environ["WEFT_TEST_GCC"], os.environ["WEFT_TEST_CLANG"]
STRICT = ("-Wall", "-Wextra", "-Wpedantic", "-Werror")
HEADERS = ("rwlock.h", "shm.h", "kv.h")
HEADERS_CPP = ("rwlock.hpp", "shm.hpp", "kv.hpp")
TIMEOUT_S = 120


def plus_plus(compiler):
    folder, name = os.path.split(compiler)
    return os.path.join(folder, name.replace("gcc", "g++").replace("clang", "clang++"))


class Programs(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="weft-shm-")))
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith(("LD_", "OMP_", "WEFT_"))}

    def run_command(self, *command, expected=0, **more):
        done = finished(command, env={**self.environment, **more}, timeout=TIMEOUT_S)
        self.assertEqual(done.returncode, expected, f"{command}: {done.stdout}{done.stderr}")
        return done.stdout + done.stderr

    def build(self, compiler, source, *options):
        program = self.folder / pathlib.Path(source).name.replace(".", "_")
        self.run_command(
            compiler,
            *STRICT,
            "-O2",
            "-g",
            f"-I{ROOT}/include",
            source,
            "-o",
            program,
            LIBRARY,
            f"-Wl,-rpath,{LIBRARY.parent}",
            "-pthread",
            *options,
        )
        return program

    def test_headers_alone(self):
        for compiler in (GCC, CLANG):
            for header in HEADERS:
                for language in ("c11", "c++17", "c++20"):
                    with self.subTest(compiler=compiler, header=header, language=language):
                        self.check_header(compiler if language == "c11" else plus_plus(compiler), header, language)
            for header in HEADERS_CPP:
                for language in ("c++17", "c++20"):
                    with self.subTest(compiler=compiler, header=header, language=language):
                        self.check_header(plus_plus(compiler), header, language)

    def check_header(self, compiler, header, language):
        source = self.folder / ("use.c" if language == "c11" else "use.cpp")
        source.write_text(f'#include "weft/{header}"\nint main(void) {{ return 0; }}\n')
        self.run_command(compiler, f"-std={language}", *STRICT, f"-I{ROOT}/include", "-c", source, "-o", os.devnull)

    def refused(self, compiler, text, *options):
        """What the compiler says of a program that it refuses."""
        source = self.folder / ("refused.cpp" if "++" in pathlib.Path(compiler).name else "refused.c")
        source.write_text(text)
        done = finished(
            [compiler, f"-I{ROOT}/include", "-c", source, "-o", os.devnull, *options],
            env=self.environment,
            timeout=TIMEOUT_S,
        )
        self.assertNotEqual(done.returncode, 0)
        return done.stderr

    def test_older_standards_are_named(self):
        for compiler in (GCC, CLANG):
            for header in HEADERS_CPP:
                with self.subTest(compiler=compiler, header=header):
                    text = f'#include "weft/{header}"\n'
                    self.assertIn("need C++17", self.refused(plus_plus(compiler), text, "-std=c++14"))
            with self.subTest(compiler=compiler):
                self.assertIn("-D_GNU_SOURCE", self.refused(compiler, '#include "weft/phase_counter.h"\n', "-std=c11"))

    def test_points_that_cannot_be_are_found_by_the_compiler(self):
        program = """
            #include "weft/phase_counter.h"
            int main(void) {{
              static weft_phase_counter counter;
              WEFT_PHASE(&counter, {});
              return 0;
            }}
        """
        for compiler in (GCC, CLANG):
            for point in (0, 17, 20):
                for level in ("-O0", "-O2"):
                    with self.subTest(compiler=compiler, point=point, level=level):
                        self.assertIn("points go from 1", self.refused(compiler, program.format(point), level))

    def test_example_in_c(self):
        said = self.run_command(self.build(GCC, ROOT / "examples/shm/table.c", "-std=gnu11"))
        self.assertIn("mended at version 1000", said)
        self.assertIn("2000 versions, seen whole by 3 readers", said)

    def test_example_in_cpp(self):
        said = self.run_command(self.build(plus_plus(GCC), ROOT / "examples/shm/table.cpp", "-std=c++17"))
        self.assertIn("1001 versions", said)

    def test_example_of_a_store(self):
        self.assertEqual(self.run_command(self.build(GCC, ROOT / "examples/shm/store.c", "-std=gnu11")), "rate 0.25\n")

    def test_members_that_wait_let_others_run(self):
        program = self.build(GCC, HERE / "in_regions.c", "-std=gnu11", "-fopenmp")
        # By default members of libgomp spin at barriers, for seconds where other programs want the CPUs.
        self.assertEqual(self.run_command(program, OMP_WAIT_POLICY="passive"), "")
        for cpus in (1, 2):
            with self.subTest(cpus=cpus):
                said = self.run_command(WEFT, "run", "--cpus", cpus, "--stats=all", program)
                self.assertIn("weft statistics", said)

    def test_thread_sanitizer_sees_the_lock(self):
        program = self.build(plus_plus(GCC), HERE / "raced.cpp", "-std=c++17", "-fsanitize=thread")
        # It wants addresses that are not much at random.
        alone = ("setarch", "-R")
        self.assertEqual(self.run_command(*alone, program), "")
        said = self.run_command(*alone, program, "unguarded", expected=66)
        self.assertIn("data race", said)


if __name__ == "__main__":
    unittest.main()
