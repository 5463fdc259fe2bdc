# SPDX-License-Identifier: Apache-2.0
"""An installed weft where something is missing around it: file systems that are not mounted or may not be written or executed,
and a folder that is not where it was installed. A program runs on weft all the same, and says what it says without."""

import os
import shlex
import shutil
import subprocess
import unittest

from command_test import CommandTest
from finished import finished

BUILD = os.environ["WEFT_BUILD_DIR"]
MEMBERS = r"""
#include <stdio.h>
int main(void) {
  int members = 0;
#pragma omp parallel num_threads(4) reduction(+ : members)
  members++;
  printf("%d\n", members);
  return 0;
}
"""
MAY_MOUNT = finished(["unshare", "--mount", "true"]).returncode == 0


class Surroundings(CommandTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.prefix = cls.folder / "weft"
        command = ["cmake", "--install", BUILD, "--prefix", str(cls.prefix)]
        subprocess.run(command, check=True, capture_output=True)

    def setUp(self):
        self.program = self.build("members", MEMBERS)

    def runs(self, prefix, *before):
        """The program by each way of `weft run`, after some commands of the shell in a mount namespace of its own."""
        for way in (), ("--preload",):
            with self.subTest(way=way, before=before):
                command = shlex.join(map(str, (prefix / "bin/weft", "run", "--stats=all", *way, self.program)))
                words = ["sh", "-ec", "; ".join([*before, f"exec {command}"])]
                done = self.command(*(["unshare", "--mount"] if before else []), *words)
                self.assertEqual((done.returncode, done.stdout), (0, "4\n"), done.stderr)
                self.assertRegex(done.stderr, r"\Aweft statistics: \S+ \(process \d+\)\n.*regions by level: 1\n")

    def test_moved_after_use(self):
        first = shutil.copytree(self.prefix, self.folder / "first", symlinks=True)
        self.runs(first)
        self.runs(first.rename(self.folder / "second"))

    @unittest.skipUnless(MAY_MOUNT, "needs to mount")
    def test_nothing_may_be_written(self):
        place = self.folder
        self.runs(
            self.prefix,
            f"mount --bind {place} {place}",
            f"mount -o remount,bind,ro {place}",
            f"if touch {place}/file; then exit 9; fi 2>/dev/null",
        )

    @unittest.skipUnless(MAY_MOUNT, "needs to mount")
    def test_temporary_files_may_not_be_executed(self):
        for place in "/dev/shm", "/run":
            probe = f"{place}/program"
            self.runs(
                self.prefix,
                f"mount -t tmpfs -o noexec none {place}",
                f"cp {self.program} {probe}",
                f"if {probe}; then exit 9; fi 2>/dev/null",
                f"export TMPDIR={place}",
            )

    @unittest.skipUnless(MAY_MOUNT, "needs to mount")
    def test_file_systems_of_the_kernel(self):
        for missing in ("/proc",), ("/sys",), ("/dev",), ("/proc", "/sys", "/dev"):
            self.runs(self.prefix, *(f"mount -t tmpfs none {folder}" for folder in missing))

    @unittest.skipUnless(MAY_MOUNT, "needs to mount")
    def test_a_machine_that_nobody_describes(self):
        info = shlex.join([str(self.prefix / "bin/weft"), "info"])
        done = self.command("unshare", "--mount", "sh", "-ec", f"mount -t tmpfs none /sys; exec {info}")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertRegex(done.stdout, r"cores +not known \(/sys is not there\)\n")


if __name__ == "__main__":
    unittest.main()
