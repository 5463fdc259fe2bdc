# SPDX-License-Identifier: Apache-2.0
"""GNU make's jobserver: all jobs together run no more threads than make has been told, and make has its tokens back."""

import fcntl
import mmap
import os
import pathlib
import re
import shutil
import struct
import subprocess
import tempfile
import termios
import threading
import time
import unittest

WEFT = os.environ["WEFT_COMMAND"]
GCC = os.environ.get("WEFT_TEST_GCC", "gcc")
TIMEOUT_S = 100
CPUS = 8
# Another byte for each: what is written back has to be what was read.
TOKENS = b"abcdefg"

# job COUNTS WORDS...: each word is a step. The threads of all jobs that compute are counted in the file COUNTS: those
# of now, and the most. What a member does between two chunks of a loop is a place where it can give way.
JOB = r"""
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static int *counts;
static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
static void compute(double seconds) {
  int running = __atomic_add_fetch(&counts[0], 1, __ATOMIC_SEQ_CST);
  int most = __atomic_load_n(&counts[1], __ATOMIC_SEQ_CST);
  while (running > most && !__atomic_compare_exchange_n(&counts[1], &most, running, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) continue;
  const double until = now() + seconds;
  while (now() < until) continue;
  __atomic_sub_fetch(&counts[0], 1, __ATOMIC_SEQ_CST);
}
static void loop(int chunks) {
#pragma omp parallel for schedule(dynamic) num_threads(8)
  for (int i = 0; i < chunks; i++) compute(1e-3);
}
static void compute_until(const char *file) {
  while (access(file, F_OK) != 0) loop(16);
}
static void await(const char *file) {
  while (access(file, F_OK) != 0) usleep(1000);
}
static void at_end(void) { loop(16); }
int main(int count, char **words) {
  const int file = open(words[1], O_RDWR);
  counts = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (counts == MAP_FAILED) return 1;
  for (int i = 2; i < count; i++) {
    const char *word = words[i];
    if (strcmp(word, "loop") == 0) loop(100);
    else if (strcmp(word, "regions") == 0) for (int k = 0; k < 30; k++) loop(8);
    else if (strcmp(word, "long") == 0) {
#pragma omp parallel num_threads(8)
      compute(0.05);
    } else if (strcmp(word, "tasks") == 0) {
#pragma omp parallel num_threads(8)
#pragma omp single
      for (int k = 0; k < 100; k++) {
#pragma omp task
        compute(1e-3);
      }
    } else if (strcmp(word, "compute-until") == 0) compute_until(words[++i]);
    else if (strcmp(word, "await") == 0) await(words[++i]);
    else if (strcmp(word, "touch") == 0) close(open(words[++i], O_CREAT | O_WRONLY, 0600));
    else if (strcmp(word, "close") == 0) for (int k = 3; k < 2000; k++) close(k);
    else if (strcmp(word, "atexit") == 0) atexit(at_end);
    else if (strcmp(word, "exit") == 0) exit(0);
    else if (strcmp(word, "_exit") == 0) _exit(0);
    else if (strcmp(word, "_Exit") == 0) _Exit(0);
    else if (strcmp(word, "quick_exit") == 0) quick_exit(0);
    else if (strcmp(word, "execl") == 0) execl("/bin/true", "true", (char *)NULL);
    else if (strcmp(word, "execlp") == 0) execlp("true", "true", (char *)NULL);
    else if (strcmp(word, "execle") == 0) execle("/bin/sh", "sh", "-c", "exit $STATUS", (char *)NULL, (char *[]){"STATUS=0", NULL});
    else if (strcmp(word, "execvp") == 0) execvp("true", (char *[]){"true", NULL});
    else if (strcmp(word, "exec-in-vain") == 0) execl("/nowhere", "nowhere", (char *)NULL);
    else if (strcmp(word, "fork-exit") == 0 || strcmp(word, "fork-_exit") == 0 || strcmp(word, "vfork") == 0) {
      const pid_t child = strcmp(word, "vfork") == 0 ? vfork() : fork();
      if (child == 0 && strcmp(word, "vfork") == 0) _exit(0);
      if (child == 0) {
        loop(50);
        if (strcmp(word, "fork-exit") == 0) exit(0);
        _exit(0);
      }
      waitpid(child, NULL, 0);
    } else if (strcmp(word, "region-exit") == 0) {
#pragma omp parallel num_threads(8)
      {
        compute(1e-3);
#pragma omp critical
        exit(0);
      }
    } else return 2;
  }
  return 0;
}
"""


class Jobserver:
    """Acts as make: it has TOKENS, and starts jobs."""

    def __init__(self, style, folder):
        if style == "pipe":
            self.read_end, self.write_end = os.pipe()
            self.auth = f"{self.read_end},{self.write_end}"
            self.inherited = (self.read_end, self.write_end)
        else:
            path = folder / "a fifo"
            path.unlink(missing_ok=True)
            os.mkfifo(path)
            self.read_end = self.write_end = os.open(path, os.O_RDWR)
            self.auth = "fifo:" + str(path).replace(" ", "\\ ")
            self.inherited = ()
        os.write(self.write_end, TOKENS)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for end in {self.read_end, self.write_end}:
            os.close(end)

    def there(self):
        return struct.unpack("i", fcntl.ioctl(self.read_end, termios.FIONREAD, b"\0\0\0\0"))[0]

    def take_all(self):
        return bytes(sorted(os.read(self.read_end, self.there()))) if self.there() else b""

    def start(self, *command, **variables):
        flags = f" -j{len(TOKENS) + 1} --jobserver-auth={self.auth} -- A=b"
        return subprocess.Popen(
            [*map(str, command)],
            env=clean_environment(MAKEFLAGS=flags, **variables),
            pass_fds=self.inherited,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )


def clean_environment(**variables):
    other = ("OMP_", "GOMP_", "KMP_", "WEFT_", "LD_", "MAKE", "MFLAGS")
    environment = {k: v for k, v in os.environ.items() if not k.startswith(other)}
    return environment | {"WEFT_NUM_CPUS": str(CPUS), "WEFT_JOBSERVER": "true"} | variables


class JobserverTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.scratch.cleanup)
        cls.folder = pathlib.Path(cls.scratch.name)
        (cls.folder / "job.c").write_text(JOB)
        cls.job = cls.folder / "job"
        subprocess.run([GCC, "-O1", "-fopenmp", "-o", cls.job, cls.folder / "job.c"], check=True)

    def setUp(self):
        self.counts = self.folder / "counts"
        self.counts.write_bytes(bytes(4096))
        for name in ("go", "on", "end"):
            (self.folder / name).unlink(missing_ok=True)

    def most(self):
        with self.counts.open("r+b") as file, mmap.mmap(file.fileno(), 4096) as counts:
            running, most = struct.unpack("ii", counts[:8])
        return running, most

    def forget_most(self):
        with self.counts.open("r+b") as file, mmap.mmap(file.fileno(), 4096) as counts:
            counts[4:8] = bytes(4)

    def eventually(self, condition, what=""):
        until = time.monotonic() + TIMEOUT_S
        while not condition():
            self.assertLess(time.monotonic(), until, what)
            time.sleep(0.002)

    def start(self, jobserver, *words, **variables):
        return jobserver.start(WEFT, "run", self.job, self.counts, *words, **variables)

    def expect_end(self, process, said=""):
        _, faults = process.communicate(timeout=TIMEOUT_S)
        self.assertEqual((process.returncode, faults), (0, said))

    # ---- make itself ----

    def make(self, jobs, recipe, *targets, flags=(), **variables):
        (self.folder / "Makefile").write_text(
            f"JOB = {WEFT} run {self.job} {self.counts}\nall: {' '.join(targets)}\n{' '.join(targets)}:\n\t{recipe}\n"
        )
        done = subprocess.run(
            ["make", f"-j{jobs}", *flags],
            cwd=self.folder,
            env=clean_environment(**variables),
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stderr

    @unittest.skipUnless(shutil.which("make"), "no make")
    def test_jobs_of_make_run_no_more_threads_than_it_has_jobs(self):
        names = [f"job{i}" for i in range(7)]
        for words in ("loop", "regions loop", "tasks long loop"):
            self.forget_most()
            self.assertEqual(self.make(3, f"+@$(JOB) {words}", *names), "")
            running, most = self.most()
            self.assertEqual(running, 0)
            self.assertLessEqual(most, 3, words)

    @unittest.skipUnless(shutil.which("make"), "no make")
    def test_lone_job_of_make_uses_all_of_them(self):
        self.assertEqual(self.make(3, "+@$(JOB) loop loop", "lone"), "")
        self.assertEqual(self.most(), (0, 3))

    @unittest.skipUnless(shutil.which("make"), "no make")
    def test_nobody_has_asked_for_it(self):
        self.assertEqual(self.make(3, "+@$(JOB) loop", "lone", WEFT_JOBSERVER="false"), "")
        self.assertGreater(self.most()[1], 3)

    @unittest.skipUnless(shutil.which("make"), "no make")
    def test_program_that_closes_all_descriptors(self):
        for words in ("close loop", "loop close loop"):
            self.assertEqual(self.make(3, f"+@$(JOB) {words}", "one", "other"), "")

    @unittest.skipUnless(shutil.which("make"), "no make")
    def test_other_jobs_of_make_get_tokens(self):
        (self.folder / "other.sh").write_text("touch go; sleep 0.05\n")
        recipe = "+@case $@ in job*) $(JOB) loop regions;; *) sh other.sh;; esac"
        names = [f"{kind}{i}" for i in range(6) for kind in ("job", "other")]
        self.assertEqual(self.make(4, recipe, *names), "")
        self.assertLessEqual(self.most()[1], 4)

    @unittest.skipUnless(shutil.which("make"), "no make")
    def test_recipe_that_make_gives_no_jobserver(self):
        version = subprocess.run(["make", "--version"], capture_output=True, text=True, check=True).stdout
        if tuple(map(int, re.search(r"(\d+)\.(\d+)", version).groups())) >= (4, 4):
            self.skipTest("this make gives it to all")
        said = self.make(3, "@$(JOB) loop", "lone")
        self.assertGreater(self.most()[1], 3)
        self.assertRegex(said, r"^weft: WEFT_JOBSERVER=true: make keeps its tokens .*\n$")

    # ---- this script in make's place ----

    def each_style(self):
        for style in ("pipe", "fifo"):
            self.setUp()
            with self.subTest(style), Jobserver(style, self.folder) as jobserver:
                yield jobserver

    def expect_all_back(self, jobserver):
        self.assertEqual(jobserver.take_all(), TOKENS)

    def test_tokens_are_taken_and_given_back_while_the_program_runs(self):
        go, on, end = self.folder / "go", self.folder / "on", self.folder / "end"
        for jobserver in self.each_style():
            program = self.start(jobserver, "compute-until", go, "await", on, "compute-until", end)
            self.eventually(lambda: jobserver.there() == 0, "taken")
            self.eventually(lambda: self.most()[1] == CPUS, "and used")
            go.touch()
            self.eventually(lambda: jobserver.there() == len(TOKENS), "the serial part needs none")
            self.assertIsNone(program.poll())
            on.touch()
            self.eventually(lambda: jobserver.there() == 0, "taken again")
            end.touch()
            self.expect_end(program)
            self.expect_all_back(jobserver)

    def test_short_program_has_its_tokens_at_once(self):
        for jobserver in self.each_style():
            for _ in range(5):
                self.forget_most()
                self.expect_end(self.start(jobserver, "long"))
                self.assertGreater(self.most()[1], 2)
            self.expect_all_back(jobserver)

    def test_without_tokens_it_runs_on_one_cpu(self):
        for jobserver in self.each_style():
            tokens = jobserver.take_all()
            self.expect_end(self.start(jobserver, "loop", "regions", "tasks"))
            self.assertEqual(self.most(), (0, 1))
            os.write(jobserver.write_end, tokens)
            self.expect_all_back(jobserver)

    def test_token_that_comes_later_is_taken(self):
        end = self.folder / "end"
        for jobserver in self.each_style():
            jobserver.take_all()
            program = self.start(jobserver, "compute-until", end)
            self.eventually(lambda: self.most()[1] == 1)
            os.write(jobserver.write_end, b"xy")
            self.eventually(lambda: self.most()[1] == 3)
            end.touch()
            self.expect_end(program)
            self.assertEqual(jobserver.take_all(), b"xy")

    def test_others_have_a_turn(self):
        end = self.folder / "end"
        for jobserver in self.each_style():
            program = self.start(jobserver, "compute-until", end)
            self.eventually(lambda: jobserver.there() == 0)
            for _ in range(2):
                taken = []
                reader = threading.Thread(target=lambda: taken.append(os.read(jobserver.read_end, 1)))
                began = time.monotonic()
                reader.start()
                reader.join(TIMEOUT_S)
                self.assertEqual(len(taken), 1)
                self.assertLess(time.monotonic() - began, 20)
                os.write(jobserver.write_end, taken[0])
            end.touch()
            self.expect_end(program)
            self.expect_all_back(jobserver)

    def test_ways_to_end(self):
        ways = (
            "exit", "_exit", "_Exit", "quick_exit", "execl", "execlp", "execle", "execvp", "region-exit",
            "atexit exit", "fork-exit", "fork-_exit", "vfork", "exec-in-vain loop",
        )  # fmt: skip
        for jobserver in self.each_style():
            for way in ways:
                with self.subTest(way):
                    self.expect_end(self.start(jobserver, "loop", *way.split()))
                    self.assertEqual(jobserver.there(), len(TOKENS))
            self.expect_all_back(jobserver)

    def test_program_that_outlives_its_job(self):
        go, end = self.folder / "go", self.folder / "end"
        for jobserver in self.each_style():
            command = f"{WEFT} run {self.job} {self.counts} compute-until {end} touch {self.folder / 'on'} & until [ -e {go} ]; do sleep 0.01; done"
            shell = jobserver.start("sh", "-c", command)
            self.eventually(lambda: self.most()[1] == CPUS)
            go.touch()
            shell.wait(TIMEOUT_S)
            self.eventually(lambda: jobserver.there() == len(TOKENS), "they are make's")
            self.forget_most()
            self.eventually(lambda: self.most()[1] == CPUS, "all CPUs, without tokens")
            self.assertEqual(jobserver.there(), len(TOKENS))
            end.touch()
            self.eventually(lambda: (self.folder / "on").exists())
            self.expect_all_back(jobserver)
            shell.communicate(timeout=TIMEOUT_S)

    def test_user_who_wants_none(self):
        for jobserver in self.each_style():
            self.expect_end(self.start(jobserver, "loop", WEFT_JOBSERVER="false"))
            self.assertGreater(self.most()[1], 1)
            jobserver.take_all()
            self.expect_end(self.start(jobserver, "loop", WEFT_JOBSERVER="false"))
            self.assertGreater(self.most()[1], 1)

    def test_statistics_say_so(self):
        for jobserver in self.each_style():
            program = self.start(jobserver, "loop", WEFT_STATS="true")
            _, said = program.communicate(timeout=TIMEOUT_S)
            self.assertRegex(said, r"below make: at most 8 CPUs at once by make's tokens; taken: \d+\n")


if __name__ == "__main__":
    unittest.main()
