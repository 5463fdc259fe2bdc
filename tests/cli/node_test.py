# SPDX-License-Identifier: Apache-2.0
"""`weft node` and `weft top`."""

import json
import os
import pathlib
import pty
import re
import select
import subprocess
import time
import unittest

import own_node
from own_node import NodeTest, Program, segment, weft

# Something waits for a polling service, whose answer is always 1; each line of its input, and the end of it, lets one go on:
# a pause of a task, an event that a task has asked for, or that of a detached task.
WAITER = r"""
#include <dlfcn.h>
#include <omp.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "TASK_H"

#define WEFT(name) ((__typeof__(&name))dlsym(RTLD_DEFAULT, #name))

static const char *what;
static _Atomic int asked;
static weft_blocking_context *_Atomic paused;
static weft_event_counter *_Atomic counter;
static _Atomic omp_event_handle_t detached[2];

static int let_go(int number) {
  if (strcmp(what, "pause") == 0) {
    weft_blocking_context *context = atomic_exchange(&paused, NULL);
    if (context != NULL) WEFT(weft_unblock_task)(context);
    return context != NULL;
  }
  if (strcmp(what, "event") == 0) {
    if (atomic_load(&counter) == NULL) return 0;
    WEFT(weft_decrease_task_event_counter)(atomic_load(&counter), 1);
  } else {
    if (atomic_load(&detached[number]) == 0) return 0;
    omp_fulfill_event(atomic_load(&detached[number]));
  }
  return 1;
}

static int look(void *data) {
  static int gone;
  if (gone < atomic_load(&asked)) gone += let_go(gone);
  return gone < 2;
}

static void pause_twice(void) {
  for (int i = 0; i < 2; ++i) {
    weft_blocking_context *context = WEFT(weft_get_current_blocking_context)();
    atomic_store(&paused, context);
    WEFT(weft_block_current_task)(context);
  }
}

static void expect_two_events(void) {
  weft_event_counter *events = WEFT(weft_get_current_event_counter)();
  WEFT(weft_increase_current_task_event_counter)(events, 2);
  atomic_store(&counter, events);
}

int main(int count, char **arguments) {
  char line[10];
  what = arguments[count - 1];
#pragma omp parallel num_threads(2)
#pragma omp single
  {
    if (strcmp(what, "pause") == 0) {
#pragma omp task
      pause_twice();
    } else if (strcmp(what, "event") == 0) {
#pragma omp task
      expect_two_events();
    } else {
      for (int i = 0; i < 2; ++i) {
        omp_event_handle_t event;
#pragma omp task detach(event)
        atomic_store(&detached[i], event);
      }
    }
    WEFT(weft_register_polling_service)("waiter", look, NULL);
    WEFT(weft_poll_soon)();
    while (fgets(line, sizeof line, stdin) != NULL) ++asked;
    asked = 2;
  }
  return 0;
}
"""


BUSY = """
#include <stdio.h>
int main(void) {
#pragma omp parallel num_threads(2)
  {
#pragma omp master
    puts("begins"), fflush(stdout);
    for (volatile int forever = 1; forever;) {}
  }
}
"""


# Another program, that is not on weft, under the same number.
BECOMES = """
#include <stdio.h>
#include <unistd.h>
int main(void) {
#pragma omp parallel num_threads(2)
  usleep(1000);
  puts("begins"), fflush(stdout);
  sleep(3);
  return execl("/bin/sleep", "sleep", "100", (char *)0);
}
"""


def frames_of(terminal):
    """What `weft top` shows there, look by look."""
    shown = ""
    end = time.monotonic() + own_node.TIMEOUT_S
    while time.monotonic() < end:
        if select.select([terminal], [], [], 1)[0]:
            shown += os.read(terminal, 65536).decode(errors="replace")
        *whole, shown = shown.split("q ends")
        yield from whole


@unittest.skipUnless(own_node.is_own(), "other processes may share the node")
class Empty(NodeTest):
    def test_says_so(self):
        for command in (("node", "status"), ("top", "--once"), ("top",)):
            done = weft(*command)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertIn("no process shares", done.stdout)
        self.assertEqual(json.loads(weft("node", "status", "--json").stdout)["processes"], [])
        self.assertEqual(weft("node", "reset").stdout, "there is nothing to remove\n")
        self.assertFalse(segment().exists())

    def test_unusable_file(self):
        segment().write_text("nonsense")
        for command in (("node", "status"), ("top", "--once", "--json")):
            done = weft(*command)
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assertIn("weft node reset", done.stderr)
        self.assertEqual(weft("node", "reset").returncode, 0)
        self.assertFalse(segment().exists())


class Arguments(NodeTest):
    def test_wrong_ones(self):
        for command in (
            ("node",),
            ("node", "nonsense"),
            ("node", "status", "x"),
            ("top", "--interval", "0"),
            ("run", "--weight", "0", "true"),
        ):
            done = weft(*command)
            self.assertEqual((done.returncode, done.stdout), (2, ""), command)
            self.assertTrue(done.stderr.startswith("weft: "), done.stderr)

    def test_run(self):
        done = weft("run", "--node", "--weight", "7", "sh", "-c", 'echo "$WEFT_NODE $WEFT_WEIGHT"')
        self.assertEqual(done.stdout, "1 7\n")


class Shows(NodeTest):
    def test_status_and_top(self):
        with self.work() as program:
            line = next(x for x in weft("node", "status").stdout.splitlines() if str(program.pid) in x)
            self.assertEqual(line.split()[1:4], ["worker", "dynamic", "100"])
            line = [x for x in weft("top").stdout.splitlines() if str(program.pid) in x][-1]
            self.assertTrue(line.endswith("%"), line)

            def entry():
                found = json.loads(weft("top", "--once", "--json").stdout)["processes"]
                return next(x for x in found if x["pid"] == program.pid)

            self.assertEqual(entry()["command"], "worker")
            self.assertGreaterEqual(set(entry()), {"pid", "command", "mode", "slots", "regions_per_second", "waiting"})
            self.assertEqual(entry()["messages"], {"pending": 0, "silent_seconds": 0.0})
            self.assertEqual(set(entry()["slots"]), {"held", "wanted", "lent"})
            self.eventually(lambda: entry()["regions_per_second"] > 0)
            self.assertEqual(program.end(), (0, ""))
        self.expect_empty()

    def test_processes_that_do_not_share(self):
        program = self.folder / "busy"
        (self.folder / "busy.c").write_text(BUSY)
        subprocess.run(["gcc", "-O1", "-fopenmp", self.folder / "busy.c", "-o", program], check=True)
        with subprocess.Popen([own_node.WEFT, "run", program], stdout=subprocess.PIPE) as busy:
            try:
                busy.stdout.readline()

                def rows():
                    found = json.loads(weft("top", "--once", "--json").stdout)
                    return [row for row in found["on_weft"] if row["pid"] == busy.pid]

                self.eventually(lambda: rows() and rows()[0]["cpus_used"] > 0)
                (row,) = rows()
                self.assertEqual((row["command"], row["cpus_allowed"]), ("busy", len(os.sched_getaffinity(0))))
                self.assertGreater(row["threads"], 0)
                shown = weft("top", "--once").stdout
                self.assertRegex(shown, rf"\n *{busy.pid} +\d+ +\d+% +\d+% .*  busy\n")
                self.assertRegex(shown, r"\n +\d+%  all others\n")
            finally:
                busy.kill()
        self.assertNotIn(str(busy.pid), weft("top", "--once").stdout.split())

    def test_processes_that_become_other_programs(self):
        """They are listed until they have, and some looks more."""
        program = self.folder / "becomes"
        (self.folder / "becomes.c").write_text(BECOMES)
        subprocess.run(["gcc", "-O1", "-fopenmp", self.folder / "becomes.c", "-o", program], check=True)
        with subprocess.Popen([own_node.WEFT, "run", program], stdout=subprocess.PIPE) as late:
            late.stdout.readline()
            row = re.compile(rf"\n *{late.pid} [^\n]*  (\S+)\x1b\[K")
            pid, terminal = pty.fork()
            if pid == 0:
                os.execv(own_node.WEFT, [own_node.WEFT, "top", "--interval", "0.1"])
            try:
                frames = frames_of(terminal)
                self.assertEqual(next(name[1] for name in map(row.search, frames) if name), "becomes")
                self.assertTrue(any(not row.search(frame) for frame in frames))
            finally:
                late.kill()
                os.write(terminal, b"q")
                os.waitpid(pid, 0)
                os.close(terminal)

    def test_reset_refuses(self):
        with self.work() as program:
            done = weft("node", "reset")
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assertIn("--force", done.stderr)
            self.assertIn(program.pid, self.status())
            self.assertEqual(program.end(), (0, ""))

    def test_top_on_a_terminal(self):
        pid, terminal = pty.fork()
        if pid == 0:
            os.execv(own_node.WEFT, [own_node.WEFT, "top", "--interval", "0.1"])
        shown = b""
        end = time.monotonic() + own_node.TIMEOUT_S
        while b"q ends" not in shown and time.monotonic() < end:
            if select.select([terminal], [], [], 1)[0]:
                shown += os.read(terminal, 4096)
        self.assertIn(b"q ends", shown)
        # Another order: the line of titles comes again.
        os.write(terminal, b"p")
        again = b""
        while b"q ends" not in again and time.monotonic() < end:
            if select.select([terminal], [], [], 1)[0]:
                again += os.read(terminal, 4096)
        self.assertRegex(again, rb"\[[^]]*\]  \d+\.\d\d of \d+ CPUs on weft, \d+\.\d\d others")
        os.write(terminal, b"q")
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 0)
        os.close(terminal)


class Pending(NodeTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        header = pathlib.Path(__file__).resolve().parents[2] / "include/weft/task.h"
        cls.waiter = cls.build("waiter", WAITER.replace("TASK_H", str(header)))

    def messages(self, program):
        """Of a process that may not be there yet."""
        process = self.status().get(program.pid)
        return process["messages"] if process else {"pending": 0, "silent_seconds": 0.0}

    # The number does not change, so nothing but the step itself shows that one has gone on.
    def test_silence_ends_with_each_that_goes_on(self):
        for what in ("pause", "event", "detach"):
            with self.subTest(what), Program([self.waiter, what], WEFT_NUM_CPUS="2") as program:
                self.eventually(lambda: self.messages(program)["silent_seconds"] > 2)
                asked = time.monotonic()
                program.process.stdin.write("\n")
                program.process.stdin.flush()
                self.eventually(lambda: self.messages(program)["silent_seconds"] <= time.monotonic() - asked)
                self.assertEqual(self.messages(program)["pending"], 1)
                self.assertEqual(program.end(), (0, ""))


if __name__ == "__main__":
    own_node.enter()
    unittest.main()
