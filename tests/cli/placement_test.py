#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""weft run --numa: the policy that the program has, what is refused; and the calls of weft.h that place memory."""

import os
import pathlib
import subprocess
import tempfile
import unittest

COMMAND = os.environ["WEFT_COMMAND"]
BUILD = pathlib.Path(os.environ["WEFT_BUILD_DIR"])
INCLUDE = pathlib.Path(__file__).resolve().parents[2] / "include"
NODES = pathlib.Path("/sys/devices/system/node/has_memory")

PROGRAM = r"""
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft/weft.h>
#define CHECK(X) do { if (!(X)) { printf("%d: %s\n", __LINE__, #X); return 1; } } while (0)
int main(void) {
  const size_t bytes = 8 << 20;
  char *memory = malloc(bytes);
  CHECK(weft_numa_nodes() >= 1);
  CHECK(weft_numa_node_of(memory + bytes / 2) == -1);
  memset(memory, 1, bytes / 2);
  CHECK(weft_numa_node_of(memory) >= 0);
  CHECK(weft_numa_interleave(memory, bytes) == 0);
  CHECK(weft_numa_bind(memory, bytes, weft_numa_node_of(memory)) == 0);
  CHECK(weft_numa_split(memory, bytes, 4) == 0);
  CHECK(weft_numa_split(memory + 1, bytes - 2, 1000000) == 0);
  CHECK(weft_numa_bind(memory, 10, 0) == 0);
  CHECK(weft_numa_bind(memory, bytes, 1000) == EINVAL);
  CHECK(weft_numa_bind(memory, bytes, -1) == EINVAL);
  CHECK(weft_numa_split(memory, bytes, 0) == EINVAL);
  CHECK(weft_numa_split(memory, bytes, INT_MAX) == 0);
  CHECK(weft_numa_split(memory + 5, bytes - 7, 3) == 0);
  CHECK(weft_numa_interleave(NULL, bytes) == EINVAL);
  CHECK(weft_numa_interleave((void *)4096, 1 << 20) == EFAULT);
  memset(memory, 2, bytes);
  for (size_t i = 0; i < bytes; i++) CHECK(memory[i] == 2);
  return 0;
}
"""


def run(*arguments, **environment):
    return subprocess.run(
        [COMMAND, "run", *arguments], env=os.environ | environment, capture_output=True, text=True, timeout=60
    )


class Placement(unittest.TestCase):
    def policy(self, mode):
        """That of the program's first mapping, and what the runtime is told."""
        found = run("--numa", mode, "--", "sh", "-c", "head -1 /proc/self/numa_maps; echo $WEFT_NUMA")
        self.assertEqual((found.returncode, found.stderr), (0, ""))
        maps, threads = found.stdout.splitlines()
        return maps.split()[1], threads

    @unittest.skipUnless(pathlib.Path("/proc/self/numa_maps").exists(), "the kernel has no NUMA")
    def test_the_program_has_the_policy(self):
        first = NODES.read_text().replace("-", ",").split(",")[0].strip()
        for mode, policy, threads in (
            ("none", "default", ""),
            ("local", "default", "local"),
            ("spread", "default", "spread"),
            ("compact", "default", "compact"),
            (f"bind={first}", f"bind:{first}", ""),
            (f"preferred={first}", f"prefer:{first}", ""),
            (f"preferred-many={first}", ("prefer", f"prefer:{first}"), ""),
            (f"interleave={first}", f"interleave:{first}", ""),
        ):
            with self.subTest(mode):
                found, told = self.policy(mode)
                # "prefer (many):0", and "prefer:0" where one node alone is meant by both.
                self.assertIn(found, policy if isinstance(policy, tuple) else (policy,))
                self.assertEqual(told, threads)
        self.assertTrue(self.policy("interleave")[0].startswith("interleave:"))

    def test_what_is_no_mode_is_refused(self):
        for mode, word in (
            ("all", "interleave[=NODES]"),
            ("bind", "bind=0"),
            ("bind=", "0-1,3"),
            ("bind=a", "0-1,3"),
            ("bind=0,", "0-1,3"),
            ("bind=0--1", "0-1,3"),
            ("preferred-many", "preferred-many=0"),
            ("interleave=1-0", "0-1"),
            ("bind=99999999999", "1023"),
            ("interleave=0,4096", "1023"),
            ("bind=0-4096", "1023"),
            ("bind=99999999999999999999999", "1023"),
            ("local=0", "takes no nodes"),
            ("", "wanted is"),
        ):
            with self.subTest(mode):
                found = run("--numa", mode, "--", "true")
                self.assertEqual(found.returncode, 2, found.stderr)
                self.assertIn(word, found.stderr)
                self.assertIn(mode, found.stderr)

    @unittest.skipUnless(NODES.exists(), "the kernel has no NUMA")
    def test_nodes_that_are_not_there_are_named(self):
        found = run("--numa", "bind=1000", "--", "echo", "ran")
        self.assertEqual((found.returncode, found.stdout), (2, ""))
        self.assertRegex(found.stderr, r"^weft: --numa bind=1000: this machine has memory on node [0-9,-]+\n$")
        # A variable keeps no program from running.
        found = run("--", "echo", "ran", WEFT_NUMA="bind=1000")
        self.assertEqual((found.returncode, found.stdout), (0, "ran\n"))
        self.assertRegex(found.stderr, r"^weft: WEFT_NUMA=bind=1000: this machine has .*; the default is used\n$")

    def test_calls(self):
        with tempfile.TemporaryDirectory() as folder:
            source = pathlib.Path(folder, "calls.c")
            source.write_text(PROGRAM)
            library = BUILD / "lib/weft"
            subprocess.run(
                [
                    os.environ["WEFT_TEST_GCC"],
                    f"-I{INCLUDE}",
                    source,
                    "-o",
                    f"{folder}/calls",
                    f"-L{library}",
                    "-l:libgomp.so.1",
                    f"-Wl,-rpath,{library}",
                ],
                check=True,
            )
            for environment in ({}, {"WEFT_NUMA": "spread"}, {"WEFT_NUMA": "compact"}, {"OMP_PROC_BIND": "primary"}):
                found = subprocess.run(
                    [f"{folder}/calls"], capture_output=True, text=True, timeout=60, env=os.environ | environment
                )
                self.assertEqual((found.returncode, found.stdout), (0, ""), environment)


if __name__ == "__main__":
    unittest.main()
