# SPDX-License-Identifier: Apache-2.0
"""GNU parallel and xargs: their jobs share the node, whether `weft run --node` stands before each job or before the tool."""

import shutil
import subprocess
import unittest

import own_node
from own_node import TIMEOUT_S, WEFT, NodeTest, clean_environment

# Opens regions until a file is there, then prints its second argument.
JOB = r"""
#include <stdio.h>
#include <unistd.h>
int main(int count, char** words) {
  int members;
  do {
    members = 0;
#pragma omp parallel num_threads(2) reduction(+ : members)
    members++;
  } while (access(words[1], F_OK) != 0);
  if (count != 3 || members != 2) return 1;
  return puts(words[2]) < 0;
}
"""
RUN = (WEFT, "run", "--node")
NAMES = ("1", "2", "3", "4")


class JobToolsTest(NodeTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.job = cls.build("job", JOB)
        cls.enough = cls.folder / "enough"

    def expect_one_node(self, command, given=None):
        self.enough.unlink(missing_ok=True)
        with subprocess.Popen(
            [*map(str, command)],
            env=clean_environment(HOME=str(self.folder)),
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ) as tool:
            try:
                tool.stdin.write(given or "")
                tool.stdin.close()
                tool.stdin = None
                self.eventually(lambda: self.jobs() == len(NAMES))
            finally:
                self.enough.touch()
                said, faults = tool.communicate(timeout=TIMEOUT_S)
        self.assertEqual((tool.returncode, faults), (0, ""))
        self.assertEqual(sorted(said.split()), [*NAMES])

    def jobs(self):
        return sum(process["command"] == "job" for process in self.status().values())

    @unittest.skipUnless(shutil.which("parallel"), "no GNU parallel")
    def test_parallel(self):
        jobs = ("parallel", "-j", len(NAMES))
        command = (self.job, self.enough, "{}", ":::", *NAMES)
        self.expect_one_node([*jobs, *RUN, *command])
        self.expect_one_node([*RUN, *jobs, *command])

    def test_xargs(self):
        jobs = ("xargs", "-P", len(NAMES), "-n", "1")
        command = (self.job, self.enough)
        self.expect_one_node([*jobs, *RUN, *command], "\n".join(NAMES))
        self.expect_one_node([*RUN, *jobs, *command], "\n".join(NAMES))


if __name__ == "__main__":
    own_node.enter()
    unittest.main()
