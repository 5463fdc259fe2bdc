# SPDX-License-Identifier: Apache-2.0
"""`weft top` of processes that do not share the node: what it reads of them, and what it does on a terminal."""

import contextlib
import fcntl
import json
import os
import pathlib
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time
import unittest

import own_node
from own_node import NodeTest, weft

# Tasks wait behind those that all members run, until the input ends.
TASKS = r"""
#include <poll.h>
#include <stdio.h>
static int told_to_end(void) {
  struct pollfd input = {0, POLLIN, 0};
  return poll(&input, 1, 1) > 0;
}
int main(void) {
#pragma omp parallel num_threads(2)
#pragma omp single
  for (int i = 0; i < 20; ++i) {
    if (i == 19) puts("runs"), fflush(stdout);
#pragma omp task
    while (!told_to_end()) {}
  }
  return 0;
}
"""

# One member works; the other one waits for it.
UNEVEN = r"""
#include <stdio.h>
int main(void) {
  for (int regions = 0;; ++regions) {
#pragma omp parallel num_threads(2)
    {
      if (regions == 1) puts("runs"), fflush(stdout);
#pragma omp master
      for (volatile int i = 0; i < 100 * 1000 * 1000; ++i) {}
    }
  }
}
"""

# The child of a fork has no pool of its own; it ends with its input.
FORKS = r"""
#include <stdio.h>
#include <unistd.h>
int main(void) {
  char byte;
#pragma omp parallel num_threads(2)
  usleep(1000);
  const pid_t child = fork();
  if (child > 0) printf("%d\n", (int)child), fflush(stdout);
  while (read(0, &byte, 1) > 0) {}
  return 0;
}
"""

# Stands for the kernel of a system on which processes may not be read.
FORBIDS = r"""
#include <errno.h>
#include <sys/types.h>
ssize_t process_vm_readv(int p, const void *a, unsigned long b, const void *c, unsigned long d, unsigned long e) {
  errno = EPERM;
  return -1;
}
"""

CODES = re.compile(rb"\x1b\[[0-9;?]*[A-Za-z]")
COLOURS = re.compile(rb"\x1b\[[0-9;]*m")


class Terminal:
    """`weft top` on a terminal of its own, which ends with the test at the latest."""

    def __init__(self, *arguments, lines=24, columns=80, **variables):
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.execve(own_node.WEFT, [own_node.WEFT, "top", *arguments], own_node.clean_environment(**variables))
        self.resize(lines, columns)
        self.sent = b""
        self.status = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.status is None:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self.terminal)

    def resize(self, lines, columns):
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def press(self, keys):
        os.write(self.terminal, keys.encode())

    def read(self):
        if select.select([self.terminal], [], [], 1)[0]:
            with contextlib.suppress(OSError):
                self.sent += os.read(self.terminal, 65536)

    def screens(self):
        """The lines of each screen that is shown from now on, without what colours them."""
        end = time.monotonic() + own_node.TIMEOUT_S
        while time.monotonic() < end:
            self.read()
            *whole, self.sent = self.sent.split(b"\x1b[J")
            for screen in whole:
                text = screen.rsplit(b"\x1b[H", 1)[-1]
                yield [CODES.sub(b"", line).decode(errors="replace") for line in text.split(b"\r\n")]
        raise AssertionError("it does not show that")

    def await_screen(self, shows):
        """The first screen from now on with a line that has the text, or fits the pattern."""
        for screen in self.screens():
            if any(re.search(shows, line) for line in screen):
                return screen
        return None

    def end(self):
        """Its exit code, and all that it has sent at last."""
        while (ended := os.waitpid(self.pid, os.WNOHANG))[0] == 0:
            self.read()
        self.status = os.waitstatus_to_exitcode(ended[1])
        self.read()
        return self.status


class TopTest(NodeTest):
    @contextlib.contextmanager
    def running(self, *command, prefix=(), name=None, **variables):
        """A program that does not share the node, behind its first line."""
        with subprocess.Popen(
            [*prefix, own_node.WEFT, "run", *map(str, command)],
            env=own_node.clean_environment(**({"WEFT_NUM_CPUS": "2"} | variables)),
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        ) as program:
            try:
                program.line = program.stdout.readline()
                self.assertTrue(program.line)
                yield program
            finally:
                program.kill()

    def top(self, *arguments, **options):
        return json.loads(weft("top", "--json", "-", *arguments, **options).stdout)

    def row(self, pid, *arguments):
        return next((row for row in self.top(*arguments)["on_weft"] if row["pid"] == pid), None)


class Records(TopTest):
    def test_regions_and_efficiency(self):
        with self.running(self.worker, 60, 500) as program:
            self.eventually(lambda: (self.row(program.pid)["regions_per_second"] or 0) > 0)
            row = self.row(program.pid)
            self.assertEqual((row["runtime_record"], row["cpus_used_at_once"]), ("read", 2))
            self.assertTrue(row["command_line"].startswith("worker 60 500"), row)
            self.eventually(lambda: self.row(program.pid)["efficiency"] > 0)
            self.eventually(lambda: (self.row(program.pid)["work"] or 0) > 0.5)
            self.assertEqual((row["tasks_waiting"], row["messages_pending"]), (0, 0))
            shown = weft("top", "--once").stdout
            self.assertRegex(shown, rf"\n *{program.pid} .* worker 60 500\n")

    def test_keys_of_the_json(self):
        page = (pathlib.Path(__file__).parents[2] / "docs/reference/commands.md").read_text()
        with self.running(self.worker, 60, 500):
            told = self.eventually(lambda: (found := self.top())["on_weft"] and found)
        keys = {*told, *told["on_weft"][0], *(key for parent in told["parents"] for key in parent)}
        self.assertFalse({key for key in keys if not re.fullmatch("[a-z_]+", key) or f"`{key}`" not in page})

    def test_tasks_that_wait(self):
        with self.running(self.build("tasks", TASKS)) as program:
            self.eventually(lambda: (self.row(program.pid)["tasks_waiting"] or 0) >= 17)

    def test_members_that_wait_are_not_at_work(self):
        with self.running(self.build("uneven", UNEVEN)) as program:
            self.eventually(lambda: 0 < (self.row(program.pid)["work"] or 0) <= 0.7)

    def test_child_of_a_fork(self):
        with self.running(self.build("forks", FORKS)) as program:
            child = int(program.line)
            self.assertEqual(self.row(program.pid)["runtime_record"], "read")
            row = self.row(child)
            self.assertEqual((row["runtime_record"], row["regions_per_second"]), ("no_region_yet", None))
            self.assertEqual(row["parent"], program.pid)

    def test_before_the_first_region(self):
        sleeper = self.build(
            "sleeper",
            "#include <omp.h>\n#include <stdio.h>\n#include <unistd.h>\nint main(void) {"
            'printf("%d\\n", omp_in_parallel()); fflush(stdout); sleep(100); }',
        )
        with self.running(sleeper) as program:
            self.assertEqual(self.row(program.pid)["runtime_record"], "no_region_yet")
            self.assertRegex(weft("top", "--once").stdout, rf"\n *{program.pid} +\d+ +\d+% +\d+% +- +- +- +- ")

    def test_another_version(self):
        own = json.loads(weft("info", "--json", "-").stdout)["weft"]["library"]
        library = self.folder / "weft" / "libgomp.so.1"
        library.parent.mkdir()
        data = pathlib.Path(own).read_bytes()
        self.assertIn(b"weft-in3", data)
        library.write_bytes(data.replace(b"weft-in3", b"weft-in0"))
        with self.running("--library", library, self.worker, 60, 500) as program:
            row = self.row(program.pid)
            self.assertEqual((row["runtime_record"], row["regions_per_second"]), ("other_version", None))
            self.assertIn("on another version of weft", weft("top", "--once").stdout)

    def test_where_the_kernel_forbids_it(self):
        source = self.folder / "forbids.c"
        source.write_text(FORBIDS)
        library = self.folder / "forbids.so"
        subprocess.run([own_node.GCC, "-shared", "-fPIC", source, "-o", library], check=True)
        prefix = ["env", f"LD_PRELOAD={library}"]
        with self.running(self.worker, 60, 500) as program, self.running(self.worker, 60, 500) as another:
            found = json.loads(weft("top", "--json", "-", prefix=prefix).stdout)["on_weft"]
            rows = {row["pid"]: row for row in found}
            for pid in (program.pid, another.pid):
                self.assertEqual((rows[pid]["runtime_record"], rows[pid]["work"]), ("forbidden", None))
                self.assertGreater(rows[pid]["threads"], 0)
            shown = weft("top", "--once", prefix=prefix).stdout
            self.assertEqual(len(re.findall(r"\n  - : ", shown)), 1, shown)

    def test_processes_that_come_and_go(self):
        """They end, crash, or become other programs, at any moment of a look."""
        with Terminal("--interval", "0.1", "--tree") as terminal:
            screens = terminal.screens()
            for _ in range(10):
                with self.running(self.worker, 60, 50):
                    next(screens)
            program = ["sh", "-c", f'"{self.worker}" 0.05 100; exec "{self.worker}" 0.05 100']
            for _ in range(10):
                done = weft("run", *program)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                next(screens)
            terminal.press("q")
            self.assertEqual(terminal.end(), 0)


class Trees(TopTest):
    def test_below_their_launcher(self):
        launcher = f'exec 3<&0; "{self.worker}" 60 500 <&3 & "{self.worker}" 60 500 2; true'
        script = self.folder / "launcher"
        script.write_text(f"#!/bin/bash\n{launcher}\n")
        script.chmod(0o755)
        with self.running(script, prefix=["timeout", "1000"]):
            rows = self.eventually(lambda: len((found := self.top("--filter", "worker 60"))["on_weft"]) == 2 and found)
            parents = {row["parent"] for row in rows["on_weft"]}
            self.assertEqual(len(parents), 1, rows)
            (parent,) = [row for row in rows["parents"] if row["pid"] in parents]
            self.assertEqual(parent["command"], "launcher")
            shown = weft("top", "--once", "--tree", "--filter", "worker 60").stdout
            self.assertRegex(
                shown, rf"\n +{parent['pid']} .*bash .*launcher\n.*\|- worker 60 500.*\n.*`- worker 60 500"
            )

    def test_filter(self):
        with self.running(self.worker, 60, 500) as program, self.running(self.worker, 61, 500) as another:
            self.assertIsNotNone(self.row(program.pid, "--filter", "WORKER 60"))
            self.assertIsNone(self.row(another.pid, "--filter", "WORKER 60"))
            self.assertIsNotNone(self.row(another.pid, "--filter", str(another.pid)))
            self.assertEqual(self.top("--filter", "no such program")["on_weft"], [])
            self.assertIn("no process fits the filter\n", weft("top", "--once", "--filter", "no such program").stdout)


class OnATerminal(TopTest):
    def test_keys(self):
        with self.running(self.worker, 60, 500, 2) as program, self.running(self.worker, 61, 500, 2) as another:
            with Terminal("--interval", "0.1") as terminal:
                terminal.await_screen(rf" {program.pid} .* worker 60")
                terminal.press("/worker 60")
                screen = terminal.await_screen("filter: worker 60_")
                self.assertFalse([line for line in screen if "worker 61" in line], screen)
                terminal.press("\r")
                terminal.await_screen(r"filter: worker 60 \(Esc")
                terminal.press("\x1b")
                terminal.await_screen("worker 61")
                terminal.press("t")
                terminal.await_screen(r"(\||`)- worker 60")
                terminal.press("t/worker 61\r\x1b[B")
                terminal.await_screen(rf"^> *{another.pid} ")
                terminal.press("k")
                terminal.await_screen(rf"signal to {another.pid}: TERM_")
                terminal.press("\x1b")
                terminal.await_screen("q ends")
                self.assertIsNone(another.poll())
                terminal.press("kUSR2\x7f\x7f\x7f\x7fKILL\r")
                terminal.await_screen(f"SIGKILL is sent to {another.pid}")
                self.assertEqual(another.wait(own_node.TIMEOUT_S), -signal.SIGKILL)
                self.assertIsNone(program.poll())
                terminal.press("?")
                terminal.await_screen("Any key goes back")
                terminal.press("qq")
                self.assertEqual(terminal.end(), 0)

    def test_all_sizes(self):
        with self.running(self.worker, 60, 500, 2) as program, Terminal("--interval", "0.1") as terminal:
            for lines, columns in ((24, 80), (10, 40), (50, 132), (3, 20), (24, 80)):
                terminal.resize(lines, columns)
                screens = terminal.screens()
                for screen in screens:
                    if len(screen) <= lines and all(len(line) <= columns for line in screen):
                        break
                for _ in range(2):
                    screen = next(screens)
                    self.assertLessEqual(len(screen), lines)
                    self.assertLessEqual(max(map(len, screen)), columns)
            self.assertRegex("\n".join(screen), rf"\n *{program.pid} .*worker 60 500 2")
            terminal.press("q")
            self.assertEqual(terminal.end(), 0)

    def test_names_and_colours(self):
        script = 'exec -a "$(printf "evil\\033[31m\\nname\\302\\233")" "$0" "$@"'
        for variables, coloured in (({"NO_COLOR": "1"}, False), ({}, True)):
            with self.subTest(variables), self.running("bash", "-c", script, self.worker, 60, 500, 2) as program:
                with Terminal("--interval", "0.1", "--filter", "evil", **variables) as terminal:
                    sent = b""
                    while b"evil" not in sent or b"q ends" not in sent.split(b"evil", 1)[1]:
                        terminal.read()
                        sent, terminal.sent = sent + terminal.sent, b""
                    self.assertIn(b"evil?[31m?name? ", sent)
                    self.assertNotIn(b"\xc2\x9b", sent)
                    self.assertEqual(bool(COLOURS.search(sent)), coloured)
                    terminal.press("q")
                    self.assertEqual(terminal.end(), 0)
                self.assertIsNone(program.poll())

    def test_the_terminal_is_as_before(self):
        for how in ("key", "signal", "stop"):
            with self.subTest(how), Terminal("--interval", "0.1") as terminal:
                before = termios.tcgetattr(terminal.terminal)
                terminal.await_screen("q ends")
                if how == "key":
                    terminal.press("q")
                elif how == "signal":
                    os.kill(terminal.pid, signal.SIGTERM)
                else:
                    os.kill(terminal.pid, signal.SIGTSTP)
                    os.kill(terminal.pid, signal.SIGCONT)
                    terminal.await_screen("q ends")
                    terminal.press("\x03")
                self.assertEqual(terminal.end(), 0)
                self.assertTrue(before[3] & termios.ICANON == 0 or termios.tcgetattr(terminal.terminal) == before)
                self.assertIn(b"\x1b[?1049l", terminal.sent)
                self.assertIn(b"\x1b[?25h", terminal.sent)


if __name__ == "__main__":
    own_node.enter()
    unittest.main()
