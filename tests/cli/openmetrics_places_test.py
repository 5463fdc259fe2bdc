# SPDX-License-Identifier: Apache-2.0
"""Where `weft top --openmetrics` puts what it says: the port and its clients, the file and its end."""

import contextlib
import os
import signal
import socket
import stat
import struct
import subprocess
import time
import unittest

import own_node
from openmetrics_run import (
    OPENMETRICS,
    PROMETHEUS,
    Exporter,
    OpenMetricsTest,
    Server,
    by_pid,
    families,
    families_of_prometheus,
    free_port,
    read_all,
    samples,
    wait_for_line,
)
from own_node import segment, weft

# At most that many connections at a time are kept.
MOST_CONNECTIONS = 200


def read_while_sending(connection):
    """What comes until the other side closes, while a byte is sent now and then."""
    connection.settimeout(0.5)
    with contextlib.suppress(ConnectionResetError, BrokenPipeError):
        while True:
            with contextlib.suppress(TimeoutError):
                return connection.recv(4096)
            connection.sendall(b"x")
    return b""


class Port(OpenMetricsTest):
    def assert_serves(self, server):
        answer, text = server.ask()
        self.assertEqual(answer.status, 200)
        self.assertIn("weft_node_readable 1\n", text)

    def test_get_and_head(self):
        with Server(host="localhost") as server:
            for path in ("/metrics", "/metrics?name[]=x"):
                got, text = server.ask(path)
                head, nothing = server.ask(path, "HEAD")
                self.assertEqual((got.status, head.status, nothing), (200, 200, ""))
                self.assertEqual(int(got.headers["Content-Length"]), len(text))
                self.assertGreater(int(head.headers["Content-Length"]), 0)
                self.assertEqual(head.headers["Content-Type"], got.headers["Content-Type"])
            self.assertTrue(server.send(b"HEAD /metrics HTTP/1.1\r\n\r\n").endswith(b"\r\n\r\n"))
            old = server.send(b"GET /metrics HTTP/1.0\r\n\r\n")
            self.assertTrue(old.startswith(b"HTTP/1.0 200 OK\r\n"), old)
            self.assertTrue(old.endswith(b"\n"))

    def test_refusals(self):
        with Server() as server:
            for path in ("/", "/metrics/", "/metricsx", "/x?/metrics", "*"):
                for method in ("GET", "HEAD", "POST"):
                    answer, text = server.ask(path, method)
                    self.assertEqual(answer.status, 404, path)
                    self.assertIn("" if method == "HEAD" else "/metrics", text)
            for method in ("POST", "PUT", "DELETE", "OPTIONS", "NONSENSE"):
                answer, text = server.ask(method=method)
                self.assertEqual((answer.status, answer.headers["Allow"]), (405, "GET, HEAD"), method)
                self.assertTrue(text)
            self.assert_serves(server)

    def test_bodies_are_passed_over(self):
        with Server() as server:
            # More than the buffers hold: the answer arrives though nobody reads it.
            answer, _ = server.ask(method="POST", body=b"x" * 8_000_000)
            self.assertEqual(answer.status, 405)
            answer, _ = server.ask(body=b"x" * 100_000)
            self.assertEqual(answer.status, 200)
            self.assertIn(b" 405 ", server.send(b"POST /metrics HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n"))

    def test_broken_requests(self):
        with Server() as server:
            for data in (
                b"nonsense\r\n\r\n",
                b"\r\n\r\n\0\0\0\r\n\r\n",
                b"GET /metrics HTTP/9.9\r\n\r\n",
                b"GET /metrics HTTP/1.1\r\nno colon\r\n\r\n",
                b"GET /metrics HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
                b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(200),
            ):
                self.assertTrue(server.send(data).startswith(b"HTTP/1.1 400 "), data)
            for data in (
                b"GET /metrics HTTP/1.1\r\nX: " + b"x" * 100_000 + b"\r\n\r\n",
                b"GET /" + b"x" * 100_000 + b" HTTP/1.1\r\n\r\n",
                b"GET /metrics HTTP/1.1\r\n" + b"X: y\r\n" * 10_000 + b"\r\n",
            ):
                self.assertIn(b" 431 ", server.send(data)[:20])
            # Who goes in the middle, in order or not.
            for data in (b"", b"GET", b"GET /metrics HTTP/1.1\r\nHost: x\r\n", b"GET /metrics HTTP/1.1\r\n\r\n"):
                for reset in (False, True):
                    with server.connect() as connection:
                        connection.sendall(data)
                        if reset:
                            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.assert_serves(server)
            self.assertEqual(server.end(), (0, ""))

    def test_slow_clients(self):
        with Server() as server, contextlib.ExitStack() as slow:

            def keep(data):
                connection = slow.enter_context(server.connect())
                connection.sendall(data)
                return connection

            first = keep(b"GET /metrics HTTP/1.1\r\nHost:")
            began = time.monotonic()
            for _ in range(50):
                keep(b"GET /metrics HTTP/1.1\r\n")
                self.assert_serves(server)
            # None of them has been given up in the meantime, so others were served beside them.
            first.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                self.assertGreater(time.monotonic() - began, 10, first.recv(1))
            first.settimeout(own_node.TIMEOUT_S)
            # One that takes too long is given up, also if it says a byte now and then.
            self.assertEqual(read_while_sending(first), b"")
            self.assert_serves(server)
            self.assertEqual(server.end(), (0, ""))

    def test_too_many_clients(self):
        with Server() as server, contextlib.ExitStack() as many:
            oldest = many.enter_context(server.connect())
            for _ in range(2 * MOST_CONNECTIONS):
                many.enter_context(server.connect())
            # It is served behind all of them.
            self.assert_serves(server)
            files = len(os.listdir(f"/proc/{server.process.pid}/fd"))
            self.assertLess(files, MOST_CONNECTIONS + 20)
            self.assertEqual(read_all(oldest), b"")
            self.assertEqual(server.end(), (0, ""))

    def test_too_few_files(self):
        with Server(files=20) as server:
            with contextlib.ExitStack() as many:
                for _ in range(40):
                    many.enter_context(server.connect())
            self.assert_serves(server)
            self.assertEqual(server.end(), (0, ""))

    def test_only_this_machine(self):
        with Server() as server:
            for family, address in (socket.AF_INET, "127.0.0.2"), (socket.AF_INET6, "::1"):
                with socket.socket(family) as other, self.assertRaises(OSError):
                    other.connect((address, server.port))
            self.assert_serves(server)

    def test_busy_port(self):
        with Server() as server:
            done = weft("top", "--openmetrics", f":{server.port}")
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assertRegex(done.stderr, rf"^weft: top: port {server.port}: .*in use; .*--openmetrics :PORT\n$")
            self.assert_serves(server)

    def test_end(self):
        port = free_port()
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            # At once the same port is to be had again, though connections of the last server linger.
            with Server(port) as server, server.connect():
                self.assert_serves(server)
                self.assertEqual(server.end(number), (0, ""))

    def test_ignored_signals_stay_ignored(self):
        with Server(ignores=[signal.SIGINT]) as server:
            server.process.send_signal(signal.SIGINT)
            with self.assertRaises(subprocess.TimeoutExpired):
                server.process.wait(1)
            self.assert_serves(server)
            self.assertEqual(server.end(), (0, ""))

    @unittest.skipUnless(own_node.is_own(), "other processes may share the node")
    def test_unusable_segment(self):
        with Server() as server:
            self.assert_serves(server)
            segment().write_text("nonsense")
            for accept, parse in (OPENMETRICS, families), (PROMETHEUS, families_of_prometheus):
                answer, text = server.ask(Accept=accept)
                self.assertEqual(answer.status, 200)
                self.assertEqual(
                    [x for x in samples(parse(text)) if x[0].startswith("weft_node")], [("weft_node_readable", ())]
                )
                self.assertIn("weft_node_readable 0\n", text)
            weft("node", "reset")
            self.assert_serves(server)
            code, said = server.end()
            self.assertEqual((code, said.count("\n")), (0, 1), said)
            self.assertIn("weft node reset", said)


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
            ("missing/x.prom", "No such file"),
            ("folder.prom", "directory"),
            ("folder.prom/x/x.prom", "directory"),
        ):
            for once in (), ("--once",):
                done = weft("top", *once, "--openmetrics", self.place / file)
                self.assertEqual((done.returncode, done.stdout), (1, ""))
                self.assertRegex(done.stderr, rf"^weft: top: {self.place / file}: .*{why}.*\n$")
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


if __name__ == "__main__":
    own_node.enter()
    unittest.main()
