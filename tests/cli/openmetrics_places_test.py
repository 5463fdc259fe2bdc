# SPDX-License-Identifier: Apache-2.0
"""Where `weft top --openmetrics` puts what it says: the file, its readers and its end."""

import os
import pathlib
import re
import signal
import stat
import subprocess
import time
import unittest
import urllib.request

import own_node
from openmetrics_run import Exporter, OpenMetricsTest, by_pid, families_of_prometheus, samples, wait_for_line
from own_node import segment, weft


class File(OpenMetricsTest):
    def test_kept_up_to_date(self):
        with self.program("idle") as program, Exporter(self.file, "--interval", "0.1") as exporter:

            def regions():
                values = samples(families_of_prometheus(self.written()))
                return by_pid(values, "weft_process_regions_total").get(program.pid)

            self.eventually(lambda: regions() == 7)
            # Readers of the old file still see all of it, since it is replaced by another one.
            with open(self.file) as old:
                inode = os.fstat(old.fileno()).st_ino
                self.assertEqual(program.end(), (0, ""))
                self.eventually(lambda: f'pid="{program.pid}"' not in self.file.read_text())
                self.assertIn(f'pid="{program.pid}"', old.read())
                self.assertNotEqual(self.file.stat().st_ino, inode)
            self.assertEqual(exporter.end(), (0, ""))
        self.assertEqual(self.names(), [])

    def test_end(self):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            with Exporter(self.file) as exporter:
                self.written()
                self.assertEqual(exporter.end(number), (0, ""))
                self.assertEqual(self.names(), [])

    def test_another_ones_file_stays(self):
        with Exporter(self.file, "--interval", "3600") as exporter:
            self.written()
            self.assertEqual(weft("top", "--once", "--openmetrics", self.file).returncode, 0)
            self.assertEqual(exporter.end(), (0, ""))
        self.assertEqual(self.names(), ["weft.prom"])

    def test_once(self):
        self.file.write_text("old")
        done = weft("top", "--once", "--openmetrics", self.file)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        self.assertEqual(samples(families_of_prometheus(self.file.read_text()))["weft_node_readable", ()], 1)
        self.assertEqual(self.names(), ["weft.prom"])

    def test_permissions(self):
        for mask, wanted in (0o022, 0o644), (0o077, 0o600):
            done = weft("top", "--once", "--openmetrics", self.file, umask=mask)
            self.assertEqual(done.returncode, 0)
            self.assertEqual(stat.S_IMODE(self.file.stat().st_mode), wanted)

    def test_bad_places(self):
        (self.place / "folder.prom").mkdir()
        (self.place / "folder.prom/x").touch()
        for file, why in (
            ("missing/x.prom", "there is no folder"),
            ("folder.prom", "directory"),
            ("folder.prom/x/x.prom", "directory"),
        ):
            for once in (), ("--once",):
                done = weft("top", *once, "--openmetrics", self.place / file)
                self.assertEqual((done.returncode, done.stdout), (1, ""))
                self.assertRegex(done.stderr, rf"^weft: top: --openmetrics {self.place / file}: .*{why}.*\n$")
        self.assertEqual(self.names(), ["folder.prom"])

    def test_folder_goes_and_comes_back(self):
        folder = self.place / "in"
        folder.mkdir()
        file = folder / "weft.prom"
        with Exporter(file, "--interval", "0.1") as exporter:
            self.eventually(file.exists)
            folder.rename(self.place / "away")
            self.assertIn(f"{file}: ", wait_for_line(exporter.process.stderr))
            time.sleep(0.5)
            folder.mkdir()
            self.eventually(file.exists)
            # It is said once, however often it is tried.
            self.assertEqual(exporter.end(), (0, ""))
        self.assertFalse(file.exists())

    @unittest.skipUnless(own_node.is_own(), "other processes may share the node")
    def test_unusable_segment(self):
        segment().write_text("nonsense")
        for once in (), ("--once",):
            with Exporter(self.file, *once) as exporter:
                self.assertIn("weft node reset", wait_for_line(exporter.process.stderr))
                self.assertIn("weft_node_readable 0\n", self.written())
                self.assertEqual(exporter.end(), (0, "")) if not once else self.assertEqual(exporter.process.wait(), 1)
        self.file.unlink()
        weft("node", "reset")

    def test_killed(self):
        """What is left then is a whole file."""
        with Exporter(self.file, "--interval", "0.1") as exporter:
            self.written()
            exporter.process.kill()
            exporter.process.wait()
            self.assertIn("weft_node_readable", families_of_prometheus(self.file.read_text()))

    def test_ignored_signals_stay_ignored(self):
        with Exporter(self.file, ignores=[signal.SIGINT]) as exporter:
            self.written()
            exporter.process.send_signal(signal.SIGINT)
            with self.assertRaises(subprocess.TimeoutExpired):
                exporter.process.wait(1)
            self.assertEqual(exporter.end(), (0, ""))

    def test_a_web_server_serves_it(self):
        """The one that the page names, for where there is no node_exporter."""
        page = (pathlib.Path(__file__).resolve().parents[2] / "docs/how-to/share-a-node.md").read_text()
        command = re.search(r"^    (python3 -m http\.server .*)$", page, re.MULTILINE)[1]
        words = command.replace("9810", "0").replace("/tmp/weft", str(self.place)).split()
        with Exporter(self.file) as exporter, subprocess.Popen([*words], stdout=subprocess.PIPE, text=True) as server:
            try:
                self.written()
                port = re.search(r"port (\d+)", wait_for_line(server.stdout))[1]
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/weft.prom", timeout=own_node.TIMEOUT_S) as answer:
                    text = answer.read().decode()
            finally:
                server.kill()
            self.assertEqual(samples(families_of_prometheus(text))["weft_node_readable", ()], 1)
            self.assertEqual(exporter.end(), (0, ""))


if __name__ == "__main__":
    own_node.enter()
    unittest.main()
