# SPDX-License-Identifier: Apache-2.0
"""Tools of OMPT: how one is found and started, and that it is told of everything."""

import os
import pathlib
import subprocess
import unittest

from support import CLANG, GCC, ProcessTest

HERE = pathlib.Path(__file__).resolve().parent
INCLUDE = HERE.parents[2] / "include"
NO_TOOL = "-2"

# Events that either compiler tells of, and those that only clang does: gcc has the construct inline.
ALWAYS = (
    "thread_begin,thread_end,parallel_begin,parallel_end,implicit_task,task_create,task_schedule,dependences,"
    "task_dependence,sync_region,sync_region_wait,work,dispatch,mutex_acquire,mutex_acquired,mutex_released,"
    "nest_lock,lock_init,lock_destroy,cancel,control_tool,"
    "source,sink,mutexinoutset,taskloop_chunk,discarded_task"
)
BY_CLANG = "masked,reduction,flush"
BY_GCC = "scope"

DECLINES = """
#include <stdio.h>
#include "weft/omp-tools.h"
static int initialize(ompt_function_lookup_t lookup, int device, ompt_data_t *data)
{
  (void)lookup; (void)device; (void)data;
  puts("initialize");
  return 0;
}
static void finalize(ompt_data_t *data) { (void)data; puts("finalize"); }
ompt_start_tool_result_t *ompt_start_tool(unsigned version, const char *runtime)
{
  static ompt_start_tool_result_t result = {initialize, finalize, {0}};
  (void)version; (void)runtime;
  puts("asked");
  return WANTED ? &result : NULL;
}
"""
# Regions at each step of its start.
OPENS_REGIONS = """
#include <stdio.h>
#include "weft/omp-tools.h"
static int members;
static void region(void)
{
#pragma omp parallel num_threads(3)
#pragma omp atomic
  members++;
}
__attribute__((constructor)) static void load(void) { region(); }
static int initialize(ompt_function_lookup_t lookup, int device, ompt_data_t *data)
{
  (void)lookup; (void)device; (void)data;
  region();
  printf("initialize %d\\n", members);
  return WANTED;
}
static void finalize(ompt_data_t *data) { (void)data; puts("finalize"); }
ompt_start_tool_result_t *ompt_start_tool(unsigned version, const char *runtime)
{
  static ompt_start_tool_result_t result = {initialize, finalize, {0}};
  (void)version; (void)runtime;
  region();
  return &result;
}
"""
CONTROL = """
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
static int members;
static void region(void) {
#pragma omp parallel num_threads(3)
#pragma omp atomic
  members++;
}
int main(int count, char **arguments) {
  region();
  int (*control)(int, int, void *) = (int (*)(int, int, void *))dlsym(RTLD_DEFAULT, "omp_control_tool");
  for (int i = 1; i < count; i++) printf("%d\\n", control(atoi(arguments[i]), 0, NULL));
  region();
  return members != 6;
}
"""


# Says where each loop of the initial thread begins and ends.
WHERE = """
#include <stdio.h>
#include "weft/omp-tools.h"
static ompt_set_callback_t set_callback;
static void on_work(ompt_work_t kind, ompt_scope_endpoint_t at, ompt_data_t *parallel, ompt_data_t *task, uint64_t count,
                    const void *codeptr)
{
  (void)kind; (void)parallel; (void)task; (void)count;
  printf("%s %p\\n", at == ompt_scope_begin ? "begin" : "end", codeptr);
}
static int initialize(ompt_function_lookup_t lookup, int device, ompt_data_t *data)
{
  (void)device; (void)data;
  set_callback = (ompt_set_callback_t)lookup("ompt_set_callback");
  set_callback(ompt_callback_work, (ompt_callback_t)on_work);
  return 1;
}
static void finalize(ompt_data_t *data) { (void)data; }
ompt_start_tool_result_t *ompt_start_tool(unsigned version, const char *runtime)
{
  static ompt_start_tool_result_t result = {initialize, finalize, {0}};
  (void)version; (void)runtime;
  return &result;
}
"""
LOOPS = """
static int sum;
static void loops(void) {
#pragma omp for schedule(dynamic) nowait
  for (int i = 0; i < 5; i++) sum += i;
#pragma omp for schedule(guided) nowait
  for (int i = 0; i < 5; i++) sum += i;
}
int main(void) {
  loops();
  return sum != 20;
}
"""


class ToolTest(ProcessTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.checker = cls.build_tool("checker", (HERE / "checker.c").read_text())
        cls.control = cls.build("control", CONTROL, "-ldl")

    @classmethod
    def build_tool(cls, name, source, *flags):
        return cls.build(name + ".so", source, "-fPIC", "-shared", "-fno-openmp", f"-I{INCLUDE}", *flags)

    def answers(self, *commands, **variables):
        """What omp_control_tool returns for each command."""
        done = self.run_on_weft(self.control, *commands, **variables)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.split(), done.stderr

    def complaint(self, words, stderr):
        self.assertEqual(stderr.count("\n"), 1, stderr)
        self.assertTrue(stderr.startswith("weft: "), stderr)
        for word in words:
            self.assertIn(str(word), stderr)


class Events(ToolTest):
    def test_every_event_is_told(self):
        for compiler, more in ((GCC, BY_GCC), (CLANG, BY_CLANG)):
            program = self.build("every_event", (HERE / "every_event.c").read_text(), "-ldl", compiler=compiler)
            for variables in (
                {},
                {"WEFT_NUM_CPUS": "1"},
                {"WEFT_NUM_CPUS": "4"},
                {"OMP_WAIT_POLICY": "passive"},
                {"OMP_MAX_ACTIVE_LEVELS": "1"},
            ):
                # On one CPU nobody takes the tasks of a member that yields.
                yields = ",yield" if variables.get("WEFT_NUM_CPUS") == "1" else ""
                with self.subTest(compiler=compiler, variables=variables):
                    done = self.run_on_weft(
                        program,
                        OMP_TOOL_LIBRARIES=str(self.checker),
                        OMP_CANCELLATION="true",
                        CHECKER_ADDRESSES="1",
                        CHECKER_EXPECT=f"{ALWAYS},{more}{yields}",
                        **variables,
                    )
                    self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "7\n", ""))

    def test_loops_end_behind_their_begin(self):
        """The end of a loop is told with an address of its own, that of the call by which it ends."""
        where = self.build_tool("where", WHERE)
        for compiler in (GCC, CLANG):
            with self.subTest(compiler=compiler):
                program = self.build("loops", LOOPS, "-fno-pie", "-no-pie", compiler=compiler)
                done = self.run_on_weft(program, OMP_TOOL_LIBRARIES=str(where))
                self.assertEqual(done.returncode, 0, done.stderr)
                rows = [line.split() for line in done.stdout.splitlines()]
                self.assertEqual([row[0] for row in rows], ["begin", "end"] * 2)
                addresses = [int(row[1], 16) for row in rows]
                self.assertEqual(addresses, sorted(set(addresses)))

    def test_the_checker_can_fail(self):
        done = self.run_on_weft(self.count, OMP_TOOL_LIBRARIES=str(self.checker), CHECKER_EXPECT="task_create")
        self.assertEqual((done.returncode, done.stderr), (97, "checker: no event task_create\n"))

    def test_the_header_and_clangs_agree(self):
        """The checker, compiled with the header that comes with clang."""
        resources = subprocess.run([CLANG, "-print-resource-dir"], capture_output=True, text=True, check=True).stdout
        header = pathlib.Path(resources.strip()) / "include/omp-tools.h"
        self.assertTrue(header.exists(), header)
        stand_in = self.folder / "stand-in/weft"
        stand_in.mkdir(parents=True, exist_ok=True)
        (stand_in / "omp-tools.h").write_text(f'#include "{header}"\n')
        (stand_in / "weft-tools.h").write_text((INCLUDE / "weft/weft-tools.h").read_text())
        tool = self.build(
            "other_checker.so",
            (HERE / "checker.c").read_text(),
            "-fPIC",
            "-shared",
            "-fno-openmp",
            f"-I{stand_in.parent}",
        )
        self.assertEqual(self.answers(3, OMP_TOOL_LIBRARIES=str(tool)), (["7"], ""))


class Start(ToolTest):
    def test_libraries(self):
        self.assertEqual(self.answers(3, OMP_TOOL_LIBRARIES=str(self.checker)), (["7"], ""))
        self.assertEqual(self.answers(3), ([NO_TOOL], ""))

    def test_switched_off(self):
        self.assertEqual(self.answers(3, OMP_TOOL_LIBRARIES=str(self.checker), OMP_TOOL="disabled"), ([NO_TOOL], ""))
        self.assertEqual(self.answers(3, OMP_TOOL_LIBRARIES=str(self.checker), OMP_TOOL="Enabled"), (["7"], ""))

    def test_a_tool_in_the_program(self):
        source = (HERE / "checker.c").read_text() + CONTROL
        for compiler in (GCC, CLANG):
            program = self.build("with_tool", source, "-rdynamic", "-ldl", f"-I{INCLUDE}", compiler=compiler)
            with self.subTest(compiler=compiler):
                done = self.run_on_weft(program, 3)
                self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "7\n", ""))
                # What the program brings goes before what the user names.
                done = self.run_on_weft(program, 3, OMP_TOOL_LIBRARIES="/no/such/tool.so")
                self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "7\n", ""))

    def test_tools_that_decline(self):
        declines = self.build_tool("declines", DECLINES, "-DWANTED=0")
        self.assertEqual(self.answers(3, OMP_TOOL_LIBRARIES=f"{declines}"), (["asked", NO_TOOL], ""))
        self.assertEqual(self.answers(3, OMP_TOOL_LIBRARIES=f"{declines}:{self.checker}"), (["asked", "7"], ""))
        # One that has been started and then says no is the last.
        fails = self.build_tool("fails", DECLINES, "-DWANTED=1")
        self.assertEqual(
            self.answers(3, OMP_TOOL_LIBRARIES=f"{fails}:{self.checker}"), (["asked", "initialize", NO_TOOL], "")
        )

    def test_tools_that_open_regions_while_they_start(self):
        for wanted in (0, 1):
            with self.subTest(wanted=wanted):
                tool = self.build_tool(f"opens{wanted}", OPENS_REGIONS, f"-DWANTED={wanted}", "-fopenmp")
                done = self.run_on_weft(self.count, 3, OMP_TOOL_LIBRARIES=str(tool))
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertEqual(done.stdout.splitlines()[0], "initialize 9")

    def test_a_tool_that_ends_early(self):
        self.assertEqual(self.answers(5, 3, OMP_TOOL_LIBRARIES=str(self.checker)), (["0", NO_TOOL], ""))

    def test_no_tool_is_looked_for_without_openmp(self):
        program = self.build("idle", "int main(void) { return 0; }")
        done = self.run_on_weft(program, OMP_TOOL_LIBRARIES=str(self.checker), CHECKER_EXPECT="work")
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_the_child_of_a_fork(self):
        program = self.build(
            "forks",
            """
#include <sys/wait.h>
#include <unistd.h>
static int region(void) {
  int members = 0;
#pragma omp parallel num_threads(3) reduction(+ : members)
  members++;
  return members;
}
int main(void) {
  if (region() != 3) return 1;
  if (fork() == 0) return region() == 3 ? 0 : 2;
  int status = 1;
  wait(&status);
  return region() == 3 && status == 0 ? 0 : 3;
}
""",
        )
        done = self.run_on_weft(program, OMP_TOOL_LIBRARIES=str(self.checker))
        self.assertEqual((done.returncode, done.stderr), (0, ""))


class BadInput(ToolTest):
    def test_nonsense(self):
        answers, stderr = self.answers(3, OMP_TOOL="perhaps", OMP_TOOL_LIBRARIES=str(self.checker))
        self.assertEqual(answers, ["7"])
        self.complaint(("OMP_TOOL=perhaps", "enabled or disabled"), stderr)

    def test_libraries_that_are_none(self):
        plain = self.build_tool("plain", "int nothing;")
        text = self.folder / "text.so"
        text.write_text("text")
        for name, words in (
            ("/no/such/tool.so", ["/no/such/tool.so"]),
            (text, [text]),
            (plain, [plain, "ompt_start_tool"]),
            (self.folder, [self.folder]),
        ):
            with self.subTest(name=name):
                answers, stderr = self.answers(3, OMP_TOOL_LIBRARIES=str(name))
                self.assertEqual(answers, [NO_TOOL])
                self.complaint(["OMP_TOOL_LIBRARIES", *words], stderr)
                answers, stderr = self.answers(3, OMP_TOOL_LIBRARIES=f"::{name}:{self.checker}:")
                self.assertEqual(answers, ["7"])
                self.complaint(words, stderr)

    def test_verbose(self):
        for where in ("stderr", "STDERR"):
            _, stderr = self.answers(OMP_TOOL_VERBOSE_INIT=where, OMP_TOOL_LIBRARIES=str(self.checker))
            self.assertIn(f"{self.checker}: ompt_start_tool found", stderr)
        done = self.run_on_weft(self.control, OMP_TOOL_VERBOSE_INIT="stdout", OMP_TOOL="disabled")
        self.assertIn("OMP_TOOL=disabled", done.stdout)
        file = self.folder / "verbose.txt"
        self.assertEqual(self.answers(OMP_TOOL_VERBOSE_INIT=str(file)), ([], ""))
        self.assertIn("no tool", file.read_text())
        self.assertEqual(self.answers(OMP_TOOL_VERBOSE_INIT="disabled"), ([], ""))
        _, stderr = self.answers(OMP_TOOL_VERBOSE_INIT="/no/such/folder/file")
        self.complaint(("OMP_TOOL_VERBOSE_INIT", "/no/such/folder/file", "stderr"), stderr)


class Archer(ProcessTest):
    """LLVM's race detector: ThreadSanitizer, told by OMPT what orders what."""

    LIBRARY = pathlib.Path(os.environ.get("WEFT_TEST_ARCHER", "/usr/lib/llvm-19/lib/libarcher.so"))

    GOOD = """
#include <omp.h>
#include <stdio.h>
int main(void) {
  int x = 0, parts[4] = {0}, sum = 0;
#pragma omp parallel num_threads(4)
  {
#pragma omp single
    for (int i = 0; i < 8; i++) {
#pragma omp task depend(inout : x)
      x++;
    }
    parts[omp_get_thread_num()] = x;
#pragma omp barrier
#pragma omp for schedule(dynamic)
    for (int i = 0; i < 8; i++) {
#pragma omp critical
      x += parts[i % 4];
    }
#pragma omp parallel num_threads(2)
    {
#pragma omp critical
      x++;
    }
#pragma omp barrier
#pragma omp single
    {
      int local = 0;
#pragma omp taskgroup
      {
#pragma omp task shared(local)
        local = x;
      }
#pragma omp task shared(local)
      local++;
#pragma omp taskwait
      x = local;
    }
#pragma omp for reduction(+ : sum)
    for (int i = 0; i < 100; i++) sum += i;
  }
  x++;
  printf("%d %d\\n", x, sum);
  return 0;
}
"""
    RACE = """
#include <stdio.h>
int main(void) {
  int x = 0, y = 0;
#pragma omp parallel num_threads(4)
  {
    x++;  // nothing orders the members
#pragma omp barrier
#pragma omp single
    y = x;
  }
  printf("%d\\n", y > 0);
  return 0;
}
"""

    def run_with_archer(self, program, cpus):
        return self.run_on_weft(
            program,
            OMP_TOOL_LIBRARIES=str(self.LIBRARY),
            WEFT_NUM_CPUS=str(cpus),
            TSAN_OPTIONS="ignore_noninstrumented_modules=1 exitcode=66",
        )

    def test_no_false_reports(self):
        program = self.build("good", self.GOOD, "-fsanitize=thread", compiler=CLANG)
        for cpus in (1, 2, 4):
            with self.subTest(cpus=cpus):
                done = self.run_with_archer(program, cpus)
                self.assertEqual((done.returncode, done.stdout), (0, "82 4950\n"), done.stderr[:3000])
                self.assertNotIn("data race", done.stderr)

    def test_a_race_is_found(self):
        program = self.build("race", self.RACE, "-fsanitize=thread", compiler=CLANG)
        for cpus in (1, 4):
            with self.subTest(cpus=cpus):
                done = self.run_with_archer(program, cpus)
                self.assertEqual(done.returncode, 66)
                self.assertIn("data race", done.stderr)
                self.assertIn("race.c:7", done.stderr)


if __name__ == "__main__":
    unittest.main()
