# SPDX-License-Identifier: Apache-2.0
"""`weft threads`: deadlocks are named, and nothing else is; what a process is asked costs it nothing but the time."""

import contextlib
import json
import os
import pathlib
import re
import resource
import signal
import subprocess
import time
import unittest

from command_test import CLANG, GCC, WEFT, CommandTest
from finished import finished

SOURCE = pathlib.Path(__file__).parent / "deadlocks.c"
PATIENCE_S = 30

# By kind of deadlock: what stuck threads wait for.
DEADLOCKS = {
    "locks_crossed": {"lock"},
    "lock_twice": {"lock", "region_end"},
    "lock_left": {"lock", "region_end"},
    "nest_locks_crossed": {"lock"},
    "criticals_crossed": {"lock"},
    "critical_in_itself": {"lock"},
    "barrier_in_critical": {"lock", "barrier"},
    "barrier_missed": {"barrier"},
    "barrier_in_masked": {"barrier"},
    "barriers_counted": {"barrier", "region_end"},
    "task_wants_parents_lock": {"lock", "tasks"},
    "group_wants_parents_lock": {"lock", "taskgroup"},
    "event_never_comes": {"tasks", "barrier"},
    "dependence_on_event": {"tasks", "predecessors", "barrier"},
    "copyprivate_missed": {"barrier"},
    "turn_behind_lock": {"lock", "iteration"},
    "post_behind_lock": {"lock", "iteration"},
    "mutexes_crossed": {"mutex"},
    "lock_and_mutex": {"lock", "mutex"},
    "inner_waits_for_outer": {"lock", "region_end"},
    "threads_crossed": {"lock", "region_end"},
    "reduction_missed": {"barrier"},
}
GO_ON = (
    "tail_calls",
    "mutexes_with_time",
    "one_computes",
    "one_sleeps",
    "lock_held_long",
    "event_from_thread",
    "thread_is_joined",
    "barriers_pass",
    "locks_pass",
)
# Says at its end what it has found out meanwhile.
COUNTS = """
#include <stdio.h>
#include <unistd.h>
int main(void) {
  long sum = 0;
  puts("begins");
  fflush(stdout);
  for (int round = 0; access("stop", F_OK) != 0; round++) {
#pragma omp parallel num_threads(4) reduction(+ : sum)
    {
#pragma omp for
      for (int i = 0; i < 1000; i++) sum += i % 2;
#pragma omp barrier
#pragma omp critical
      sum -= 125;
    }
  }
  printf("%ld\\n", sum);
  return 0;
}
"""
CXX = """
#include <cstdio>
#include <mutex>
#include <unistd.h>
static std::mutex locks[2];
__attribute__((noinline)) static void cross(int first) {
  const std::lock_guard outer(locks[first]);
  usleep(100000);
  const std::lock_guard inner(locks[1 - first]);
}
int main() {
  std::puts("begins");
  std::fflush(stdout);
#pragma omp parallel for num_threads(2)
  for (int i = 0; i < 2; i++) cross(i);
}
"""
# Regions of one thread.
ONES = """
#include <stdio.h>
#include <unistd.h>
int main(void) {
  int members = 0;
  for (int i = 0; i < 10; i++) {
#pragma omp parallel reduction(+ : members)
    members++;
  }
  printf("members %d\\n", members);
  fflush(stdout);
  sleep(1000);
}
"""

SERIAL = """
#include <stdio.h>
#include <omp.h>
#include <unistd.h>
int main(void) {
  printf("begins %d\\n", omp_get_max_threads());
  fflush(stdout);
  sleep(1000);
}
"""


CRASHES = """
#include <omp.h>
__attribute__((noinline)) static void fail(int *p) { *p = 3; }
int main(void) {
#pragma omp parallel num_threads(4)
  {
    if (omp_get_thread_num() == 2) fail((int *)8);
#pragma omp barrier
  }
  return 0;
}
"""


# In the member of that number, of which 0 runs on the initial thread.
DEEP = """
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
static int deeper(int n) {
  volatile char room[1000];
  room[n % 1000] = 1;
  return n == 0 ? 0 : deeper(n - 1) + room[n % 1000];
}
int main(int count, char **words) {
#pragma omp parallel num_threads(3)
  if (omp_get_thread_num() == atoi(words[1])) printf("%d\\n", deeper(100000000));
  return count;
}
"""


class Threads(CommandTest):
    # A function that calls the runtime as its last deed is not on the stack any more.
    FLAGS = ("-g", "-pthread", "-fno-optimize-sibling-calls")

    @contextlib.contextmanager
    def running(self, program, *arguments, **variables):
        """The process on weft, once it has said its first line."""
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("OMP_", "WEFT_"))}
        with subprocess.Popen(
            [WEFT, "run", program, *arguments],
            env=environment | variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=self.folder,
        ) as process:
            try:
                process.first_line = process.stdout.readline()
                yield process
            finally:
                process.kill()

    def threads(self, process, *options):
        return finished([WEFT, "threads", *options, str(process.pid)], timeout=PATIENCE_S)

    def picture(self, process):
        done = self.threads(process, "--json", "-")
        return json.loads(done.stdout) if done.returncode == 0 else None

    def awaited(self, process):
        """The first picture that shows a deadlock."""
        end = time.monotonic() + PATIENCE_S
        picture = None
        while time.monotonic() < end:
            picture = self.picture(process)
            if picture is not None and picture["deadlock"]:
                return picture
        return self.fail(f"no deadlock in {picture}")

    def check_deadlock(self, program, kind, **variables):
        with self.running(program, kind, **variables) as process:
            picture = self.awaited(process)
            stuck = [thread for thread in picture["threads"] if thread["stuck"]]
            self.assertLessEqual({thread["waits_for"] for thread in stuck}, DEADLOCKS[kind] | {"region_end"})
            # Where: in the function of that name, or in one that it has called, at a line.
            named = [frame for thread in stuck for frame in thread["frames"] if frame["function"].startswith(kind)]
            self.assertTrue(named, picture)
            self.assertTrue(any(frame.get("file", "").endswith(".c") for frame in named), named)
            done = self.threads(process)
            self.assertEqual(done.returncode, 0, done.stderr)
            first = done.stdout.splitlines()[:5]
            self.assertTrue(any(line.startswith("DEADLOCK: ") for line in first), done.stdout)
            self.assertRegex(done.stdout, r"\n  \S+ waits for .*; (at|in the region) \S+ at \S+\.c:\d+\n")

    def test_deadlocks(self):
        for compiler, cpus in (GCC, "2"), (CLANG, "8"):
            program = self.build("deadlocks", SOURCE.read_text(), *self.FLAGS, compiler=compiler)
            for kind in DEADLOCKS:
                with self.subTest(kind=kind, compiler=compiler):
                    self.check_deadlock(program, kind, WEFT_NUM_CPUS=cpus)

    def test_no_deadlocks(self):
        program = self.build("deadlocks", SOURCE.read_text(), *self.FLAGS)
        for kind in GO_ON:
            for cpus in "2", "8":
                with self.subTest(kind=kind, cpus=cpus), self.running(program, kind, WEFT_NUM_CPUS=cpus) as process:
                    pictures = []
                    while len(pictures) < 3:
                        picture = self.picture(process)
                        if picture is not None:
                            pictures.append(picture)
                    self.assertEqual([picture["deadlock"] for picture in pictures], 3 * [False], pictures)

    @unittest.skipUnless(pathlib.Path("/proc/self/sched").exists(), "the kernel does not say when threads have run")
    def test_since_when(self):
        """As long as the process has stood still at least; of one that computes nothing is said."""
        program = self.build("deadlocks", SOURCE.read_text(), *self.FLAGS)
        with self.running(program, "locks_crossed") as process:
            self.awaited(process)
            first = self.picture(process)["still_seconds"]
            began = time.monotonic()
            time.sleep(1.5)
            slept = time.monotonic() - began
            self.assertGreater(self.picture(process)["still_seconds"], first + slept - 0.5)
            self.assertRegex(self.threads(process).stdout.splitlines()[0], r"none of which has run for \d+ s$")
        with self.running(self.build("counts", COUNTS)) as process:
            self.assertLess(self.picture(process)["still_seconds"] or 0, 1)
            self.assertNotIn("has run for", self.threads(process).stdout)
            (self.folder / "stop").touch()
            process.communicate(timeout=PATIENCE_S)
        (self.folder / "stop").unlink()

    def test_a_process_that_is_asked_goes_on(self):
        program = self.build("counts", COUNTS)
        with self.running(program) as process:
            for _ in range(10):
                self.threads(process, "--stacks")
            (self.folder / "stop").touch()
            out, errors = process.communicate(timeout=PATIENCE_S)
        (self.folder / "stop").unlink()
        self.assertEqual((process.returncode, out, errors), (0, "0\n", ""))

    def test_several_at_once(self):
        program = self.build("deadlocks", SOURCE.read_text(), *self.FLAGS)
        with self.running(program, "locks_crossed") as process:
            self.awaited(process)
            asked = [
                subprocess.Popen([WEFT, "threads", str(process.pid)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                for _ in range(4)
            ]
            codes = []
            for one in asked:
                one.communicate(timeout=PATIENCE_S)
                codes.append(one.returncode)
            self.assertEqual(codes, 4 * [0])
            self.assertIn("DEADLOCK", self.threads(process).stdout)

    def test_ways_to_start(self):
        """Below a shell, and where processes share the node."""
        program = self.build("deadlocks", SOURCE.read_text(), *self.FLAGS)
        for words in (
            ["sh", "-c", f"{WEFT} run {program} locks_crossed; true"],
            [WEFT, "run", "--node", program, "locks_crossed"],
        ):
            with self.subTest(words=words), subprocess.Popen(words, stdout=subprocess.PIPE, process_group=0) as process:
                try:
                    self.awaited(process)
                finally:
                    os.killpg(process.pid, signal.SIGKILL)

    def test_lines_of_the_program_in_templates(self):
        """Where the line of a standard header has been inlined, the line that has called it counts."""
        source, program = self.folder / "mutexes.cpp", self.folder / "mutexes"
        source.write_text(CXX)
        command = [GCC.replace("gcc", "g++"), "-std=c++17", "-O2", "-g", "-fopenmp", source, "-o", program]
        subprocess.run(command, check=True)
        with self.running(program) as process:
            picture = self.awaited(process)
            files = {
                frame.get("file", "").rsplit("/", 1)[-1] for thread in picture["threads"] for frame in thread["frames"]
            }
            self.assertIn("mutexes.cpp", files)
            self.assertFalse({name for name in files if "gthr" in name or "std_mutex" in name}, files)

    def test_stacks(self):
        program = self.build("deadlocks", SOURCE.read_text(), *self.FLAGS)
        with self.running(program, "one_sleeps") as process:
            end = time.monotonic() + PATIENCE_S
            while time.monotonic() < end:
                done = self.threads(process, "--stacks")
                if re.search(r"#\d+ one_sleeps\S* at deadlocks\S*\.c:\d+\n", done.stdout):
                    return
            self.fail(done.stdout + done.stderr)

    def test_before_a_region(self):
        """And where a program has no region of several threads: its OS threads, from outside."""
        ones = self.build("ones", ONES, "-g")
        for program, cpus in (self.build("serial", SERIAL, "-g"), "2"), (ones, "1"):
            with self.subTest(program=program), self.running(program, WEFT_NUM_CPUS=cpus) as process:
                end = time.monotonic() + PATIENCE_S
                done = self.threads(process)
                while "asleep" not in done.stdout and time.monotonic() < end:
                    done = self.threads(process)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertIn("on weft", done.stdout)
                self.assertIn("It has opened no region of several threads: these are its OS threads.", done.stdout)
                self.assertRegex(done.stdout, rf"\nt{process.pid} +sleeps +- +sleep +main at \w+\.c:\d+\n")
                shell = finished([WEFT, "threads", "--json", "-", str(process.pid)], timeout=PATIENCE_S)
                self.assertEqual([thread["state"] for thread in json.loads(shell.stdout)["threads"]], ["sleeps"])

    def test_where_it_is_forbidden(self):
        program = self.build("deadlocks", SOURCE.read_text(), *self.FLAGS)
        with self.running(program, "one_sleeps", WEFT_INSPECT="false") as process:
            time.sleep(0.5)
            done = self.threads(process)
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assertIn("WEFT_INSPECT=false", done.stderr)
            self.assertIsNone(process.poll())

    def test_stopped(self):
        program = self.build("deadlocks", SOURCE.read_text(), *self.FLAGS)
        with self.running(program, "one_sleeps") as process:
            time.sleep(0.5)
            process.send_signal(signal.SIGSTOP)
            done = self.threads(process)
            process.send_signal(signal.SIGCONT)
            self.assertEqual(done.returncode, 1)
            self.assertIn("it is stopped: kill -CONT", done.stderr)
            self.assertEqual(self.threads(process).returncode, 0)

    def test_other_processes(self):
        with subprocess.Popen(["sleep", "1000"]) as other:
            done = self.threads(other)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertIn(f"sleep (process {other.pid}), not on weft", done.stdout)
            self.assertRegex(done.stdout, rf"\nt{other.pid} +sleeps +- +sleep +")
            self.assertIsNone(other.poll())
            other.kill()
        done = self.threads(other)
        self.assertEqual(done.returncode, 1)
        self.assertIn("there is no such process", done.stderr)

    @contextlib.contextmanager
    def leaving_cores(self):
        """Processes leave core files in their folder."""
        pattern = pathlib.Path("/proc/sys/kernel/core_pattern").read_text()
        before = resource.getrlimit(resource.RLIMIT_CORE)
        if not pattern.startswith("core") or before[1] == 0:
            self.skipTest("core files go elsewhere")
        resource.setrlimit(resource.RLIMIT_CORE, (before[1], before[1]))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_CORE, before)

    def core(self):
        (core,) = self.folder.glob("core*")
        return core

    def test_core_files_of_deadlocks(self):
        program = self.build("deadlocks", SOURCE.read_text(), *self.FLAGS)
        for kind in DEADLOCKS:
            with self.subTest(kind=kind), self.leaving_cores(), self.running(program, kind) as process:
                self.awaited(process)
                process.send_signal(signal.SIGABRT)
                process.wait()
                core = self.core()
                picture = json.loads(self.weft("threads", "--json", "-", core).stdout)
                self.assertEqual(
                    (picture["process"], picture["signal"], picture["deadlock"]), (process.pid, signal.SIGABRT, True)
                )
                stuck = {thread["waits_for"] for thread in picture["threads"] if thread["stuck"]}
                self.assertLessEqual(stuck, DEADLOCKS[kind] | {"region_end"})
                self.assertIn("DEADLOCK: ", self.weft("threads", core).stdout.splitlines()[1])
                core.unlink()

    def test_core_file_of_a_crash(self):
        program = self.build("crashes", CRASHES, "-g")
        with self.leaving_cores():
            self.assertEqual(self.weft("run", program, cwd=self.folder).returncode, -signal.SIGSEGV)
            done = self.weft("threads", self.core())
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        first, second = done.stdout.splitlines()[:2]
        self.assertIn("ended by signal 11, Segmentation fault), on weft", first)
        self.assertRegex(second, r"^Signal 11 \(Segmentation fault\) has ended it, in \w+: fail at crashes\.c:3$")
        self.assertNotIn("built again", done.stdout)
        self.build("crashes", "int another;\n" + CRASHES, "-g")
        self.assertIn(f"{program} has been built again since", self.weft("threads", self.core()).stdout)
        picture = json.loads(self.weft("threads", "--json", "-", self.core()).stdout)
        self.assertEqual(picture["changed_files"], [str(program)])

    def test_core_files_of_full_stacks(self):
        program = self.build("deep", DEEP, "-g", "-O0")
        for member, words in ("0", "ulimit -s gives it more"), ("1", "OMP_STACKSIZE gives it more"):
            with self.subTest(member=member), self.leaving_cores():
                done = self.weft("run", program, member, cwd=self.folder, env={"OMP_STACKSIZE": "1M"})
                self.assertEqual(done.returncode, -signal.SIGSEGV)
                core = self.core()
                said = self.weft("threads", core).stdout.splitlines()[1]
                self.assertIn("has ended it, in ", said)
                self.assertIn(": deeper at deep.c:", said)
                self.assertIn(words, said)
                core.unlink()
        crashes = self.build("crashes", CRASHES)
        with self.leaving_cores():
            self.weft("run", crashes, cwd=self.folder)
        self.assertNotIn("full", self.weft("threads", self.core()).stdout)

    def test_files_that_are_no_cores_of_weft(self):
        with self.leaving_cores(), subprocess.Popen(["sleep", "1000"], cwd=self.folder) as other:
            other.send_signal(signal.SIGABRT)
            other.wait()
        core = self.core()
        whole = core.read_bytes()
        program = self.build("crashes", CRASHES)
        with self.leaving_cores():
            core.unlink()
            self.weft("run", program, cwd=self.folder)
        own = self.core().read_bytes()
        for name, content, words in (
            ("other", whole, "the records of weft are not in it"),
            ("cut", own[: len(own) // 100], "it is cut off"),
            ("head", own[:70], "it is cut off"),
            ("text", b"text", "it is no core file"),
            ("empty", b"", "it is no core file"),
        ):
            with self.subTest(name=name):
                file = self.folder / name
                file.write_bytes(content)
                done = self.weft("threads", file)
                self.assertEqual((done.returncode, done.stdout), (1, ""))
                self.one_complaint(done, str(file), words)

    def test_usage(self):
        for word in "0", "-1", "x", "4711x", "99999999999":
            with self.subTest(word=word):
                done = finished([WEFT, "threads", word], timeout=PATIENCE_S)
                self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
        self.assertEqual(finished([WEFT, "threads"], timeout=PATIENCE_S).returncode, 2)


if __name__ == "__main__":
    unittest.main()
