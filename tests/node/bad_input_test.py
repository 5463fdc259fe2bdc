# SPDX-License-Identifier: Apache-2.0
"""What WEFT_NODE meets that is not as it should be: a line that says so, and the program runs."""

import os
import subprocess
import unittest

import own_node
from own_node import GCC, WEFT, NodeTest, Program, segment, weft

OTHER = 65534
AS_OTHER = ["setpriv", f"--reuid={OTHER}", f"--regid={OTHER}", "--clear-groups"]

# No file can be opened any more when the first region begins.
NO_FILES = r"""
#include <fcntl.h>
int main(void) {
  while (open("/dev/null", O_RDONLY) >= 0) continue;
  int members = 0;
#pragma omp parallel num_threads(2) reduction(+ : members)
  members++;
  return members != 2;
}
"""

# A region that may have fewer members.
FEW = r"""
int main(void) {
  int members = 0;
#pragma omp parallel num_threads(2) reduction(+ : members)
  members++;
  return members < 1;
}
"""

# The runtime's clock jumps to and fro now and then, by a second and by a day, and stands still between. The programs
# have another one.
CLOCK = r"""
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
int clock_gettime(clockid_t clock, struct timespec* time) {
  static const long jumps[] = {-1, 86400, 1, -86400};
  static atomic_int calls;
  const long result = syscall(SYS_clock_gettime, clock, time);
  if (clock == CLOCK_MONOTONIC) {
    const int call = atomic_fetch_add(&calls, 1);
    if (call % 97 == 0) time->tv_sec += jumps[call / 97 % 4];
    time->tv_nsec -= time->tv_nsec % 10000000;
  }
  return (int)result;
}
"""


class BadInput(NodeTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        # Other users run programs there.
        cls.folder.chmod(0o755)

    def said_once(self, program, *words):
        status, said = program.end()
        self.assertEqual(status, 0, said)
        self.assertEqual(said.count("\n"), 1, said)
        for word in words:
            self.assertIn(word, said)

    def runs_alone(self, program, *words):
        self.said_once(program, "weft: WEFT_NODE", "does not share", *words)


class Settings(BadInput):
    def test_values(self):
        for name, values in (
            ("WEFT_WEIGHT", ("-1", "0", "some", "1e3", "10001", "9" * 30)),
            ("WEFT_MODE", ("nonsense", "exclusive,counting", "0")),
        ):
            for value in values:
                with self.subTest(f"{name}={value}"), self.work(0.1, **{name: value}) as program:
                    self.said_once(program, f"{name}={value}")
        self.expect_empty()


class Limits(BadInput):
    def test_no_files(self):
        with Program([self.build("no_files", NO_FILES)]) as program:
            self.runs_alone(program, "Too many open files")

    # Root has no such limit.
    def test_no_threads(self):
        reach = [*AS_OTHER, "env", WEFT, "run", "true"]
        if os.geteuid() != 0 or subprocess.run(reach, capture_output=True, check=False).returncode != 0:
            self.skipTest("not root, or another user cannot reach the build")
        with Program([self.build("few", FEW)], *AS_OTHER, "prlimit", "--nproc=1") as program:
            status, said = program.end()
        self.assertEqual(status, 0)
        self.assertIn("WEFT_NODE: no thread can be made", said)


class Clocks(BadInput):
    def test_jumps(self):
        source = self.folder / "clock.c"
        source.write_text(CLOCK)
        library = self.folder / "clock.so"
        subprocess.run([GCC, "-shared", "-fPIC", str(source), "-o", str(library)], check=True)
        for mode in ("dynamic", "exclusive"):
            with (
                self.subTest(mode),
                self.work(LD_PRELOAD=str(library), WEFT_MODE=mode) as first,
                self.work(LD_PRELOAD=str(library), WEFT_MODE=mode) as second,
            ):
                before = {pid: found["regions"] for pid, found in self.status().items()}
                self.eventually(
                    lambda: all(found["regions"] > before.get(pid, 0) + 20 for pid, found in self.status().items())
                )
                for program in (first, second):
                    self.assertEqual(program.end(), (0, ""))
        self.expect_empty()


class Segments(BadInput):
    def tearDown(self):
        segment().unlink(missing_ok=True)

    @unittest.skipUnless(own_node.is_own(), "other processes may use it")
    def test_garbage(self):
        for content in (b"", b"x" * 100, b"\xff" * 1_000_000):
            segment().write_bytes(content)
            with self.work(0.2) as program:
                self.runs_alone(program, str(segment()), "weft node reset")
            self.assertEqual(segment().read_bytes(), content)

    @unittest.skipUnless(own_node.is_own(), "other processes may use it")
    def test_not_a_file(self):
        path = segment()
        for make, words in (
            (path.mkdir, "folder"),
            (lambda: path.symlink_to("/etc/passwd"), "weft node reset"),
            (lambda: path.symlink_to("/nowhere/at/all"), "weft node reset"),
            (lambda: os.mkfifo(path), "weft node reset"),
        ):
            with self.subTest(words):
                make()
                with self.work(0.2) as program:
                    self.runs_alone(program, str(path), words)
                if path.is_dir() and not path.is_symlink():
                    path.rmdir()
                else:
                    self.assertEqual(weft("node", "reset").returncode, 0)

    @unittest.skipUnless(own_node.is_own(), "other processes may use it")
    def test_of_another_user(self):
        segment().write_bytes(b"")
        try:
            os.chown(segment(), OTHER, OTHER)
        except OSError:
            self.skipTest("not root")
        with self.work(0.2) as program:
            self.runs_alone(program, str(segment()), "another user")
        # And the other way round.
        path = segment(OTHER)
        path.write_bytes(b"")
        path.chmod(0o600)
        try:
            with self.work(0.2, 500, *AS_OTHER) as program:
                self.runs_alone(program, str(path), "another user")
        finally:
            path.unlink()

    @unittest.skipUnless(own_node.is_own(), "other processes may use it")
    def test_cut_off(self):
        with self.work() as first, self.work() as second:
            os.truncate(segment(), 0)
            for program in (first, second):
                self.assertTrue(program.process.stderr.readline().startswith("weft: WEFT_NODE"))
                self.assertEqual(program.end(), (0, ""))

    @unittest.skipUnless(own_node.is_own(), "other processes may use it")
    def test_reset_by_force(self):
        with self.work() as program:
            self.assertEqual(weft("node", "reset", "--force").returncode, 0)
            self.assertIn("removed", program.process.stderr.readline())
            with self.work() as other:
                self.assertEqual(list(self.status()), [other.pid])
                self.assertEqual(other.end(), (0, ""))
            self.assertEqual(program.end(), (0, ""))

    # In a mount namespace of their own, the folder is full, read-only or missing.
    @unittest.skipUnless(own_node.is_own(), "no namespaces")
    def test_folder(self):
        mount = 'mount -t tmpfs -o {} tmpfs {} && exec "$0" "$@"'
        for options, folder, words in (
            ("size=64k", "/dev/shm", "no room"),
            ("ro", "/dev/shm", "Read-only"),
            ("size=64k", "/dev", "No such file"),
        ):
            with self.subTest(options=options, folder=folder):
                prefix = ["unshare", "--mount", "sh", "-c", mount.format(options, folder)]
                with self.work(0.2, 500, *prefix) as program:
                    self.runs_alone(program, words)


if __name__ == "__main__":
    own_node.enter()
    unittest.main()
