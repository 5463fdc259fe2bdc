# SPDX-License-Identifier: Apache-2.0
"""`weft node` and `weft top`."""
import json
import os
import pty
import select
import time
import unittest

import own_node
from own_node import NodeTest, segment, weft


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
        for command in (("node",), ("node", "nonsense"), ("node", "status", "x"), ("top", "--interval", "0"),
                        ("run", "--weight", "0", "true")):
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
            line = next(x for x in weft("top").stdout.splitlines() if str(program.pid) in x)
            self.assertTrue(line.endswith("%"), line)

            def entry():
                found = json.loads(weft("top", "--once", "--json").stdout)["processes"]
                return next(x for x in found if x["pid"] == program.pid)
            self.assertEqual(entry()["command"], "worker")
            self.assertGreaterEqual(set(entry()), {"pid", "command", "mode", "slots", "regions_a_second", "waiting"})
            self.assertEqual(set(entry()["slots"]), {"held", "wanted", "lent"})
            self.eventually(lambda: entry()["regions_a_second"] > 0)
            self.assertEqual(program.end(), (0, ""))
        self.expect_empty()

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
        os.write(terminal, b"q")
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 0)
        os.close(terminal)


if __name__ == "__main__":
    own_node.enter()
    unittest.main()
