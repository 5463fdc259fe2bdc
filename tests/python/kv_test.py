# SPDX-License-Identifier: Apache-2.0
"""weft.KV: as a mapping, between processes by each start method, deaths, wrong uses."""

from __future__ import annotations

import array
import multiprocessing
import os
import pathlib
import pickle
import signal
import subprocess
import sys
import threading
import unittest

import weft

JOIN_S = 60


def count_up(store: weft.KV, rounds: int) -> None:
    for _ in range(rounds):
        while True:
            value, version = store.get_versioned("count")
            if store.compare_and_set("count", str(int(value) + 1).encode(), version) is not None:
                break


def write_until_killed(store: weft.KV) -> None:
    number = 0
    while True:
        number += 1
        store[f"key {number % 100}"] = bytes([number % 256]) * (number % 3000 + 1)


def change_later(store: weft.KV) -> None:
    store["changed"] = b"1"


class KV(unittest.TestCase):
    def setUp(self) -> None:
        self.name = f"python-test-{os.getpid()}"
        self.store = weft.KV(self.name, max_bytes=1 << 26, exclusive=True)
        self.addCleanup(self.store.close)
        self.addCleanup(self.store.unlink)

    def test_it_is_a_mapping(self) -> None:
        store = self.store
        store["one"] = b"1"
        store[b"two"] = bytearray(b"22")
        store["empty"] = b""
        self.assertEqual(dict(store), {b"one": b"1", b"two": b"22", b"empty": b""})
        self.assertEqual(len(store), 3)
        self.assertIn("one", store)
        self.assertNotIn("three", store)
        self.assertNotIn(1, store)
        self.assertEqual(store.get("three", b"none"), b"none")
        del store["one"]
        with self.assertRaises(KeyError):
            store["one"]
        with self.assertRaises(KeyError):
            del store["one"]
        store.update({"a": b"x" * 100_000, "k" * 10_000: b"long key"})
        self.assertEqual(store["a"], b"x" * 100_000)
        self.assertEqual({len(key) for key in store}, {1, 3, 5, 10_000})
        self.assertEqual(store.pop("a"), b"x" * 100_000)
        store.clear()
        self.assertEqual(list(store), [])

    def test_buffers(self) -> None:
        numbers = array.array("d", [1.5, 2.5, 3.5])
        self.store["numbers"] = memoryview(numbers)
        back = array.array("d", [0.0] * 3)
        self.assertEqual(self.store.get_into("numbers", memoryview(back)), 24)
        self.assertEqual(back, numbers)
        with self.assertRaisesRegex(ValueError, "24 bytes"):
            self.store.get_into("numbers", bytearray(10))
        with self.assertRaises(ValueError):
            self.store.get_into("numbers", memoryview(b"x" * 24))
        with self.assertRaises(KeyError):
            self.store.get_into("none", bytearray(10))
        with self.assertRaisesRegex(ValueError, "contiguous"):
            self.store["strided"] = memoryview(numbers)[::2]
        self.store["readonly"] = memoryview(b"bytes")
        self.assertEqual(self.store["readonly"], b"bytes")

    def test_versions(self) -> None:
        first = self.store.put("k", b"1")
        self.assertGreater(self.store.put("k", b"2"), first)
        self.assertIsNone(self.store.compare_and_set("k", b"3", first))
        self.assertIsNone(self.store.compare_and_set("k", b"3", 0))
        self.assertIsNone(self.store.compare_and_set("new", b"3", 7))
        second = self.store.compare_and_set("k", b"3", self.store.version("k"))
        self.assertEqual(self.store.get_versioned("k"), (b"3", second))
        with self.assertRaises(KeyError):
            self.store.version("none")
        self.assertEqual(self.store.stat().version, second)

    def test_processes_by_each_start_method(self) -> None:
        for method in ("fork", "spawn", "forkserver"):
            with self.subTest(method):
                self.store["count"] = b"0"
                context = multiprocessing.get_context(method)
                workers = [context.Process(target=count_up, args=(self.store, 200)) for _ in range(3)]
                for worker in workers:
                    worker.start()
                for worker in workers:
                    worker.join(JOIN_S)
                    self.assertEqual(worker.exitcode, 0)
                self.assertEqual(self.store["count"], b"600")

    def test_threads(self) -> None:
        self.store["count"] = b"0"
        threads = [threading.Thread(target=count_up, args=(self.store, 200)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(self.store["count"], b"800")

    def test_a_process_that_is_killed_leaves_whole_values(self) -> None:
        context = multiprocessing.get_context("fork")
        for _ in range(5):
            worker = context.Process(target=write_until_killed, args=(self.store,))
            worker.start()
            self.store.wait(self.store.stat().version, timeout=JOIN_S)
            os.kill(worker.pid or 0, signal.SIGKILL)
            worker.join(JOIN_S)
            self.store["after"] = b"x"
            for value in self.store.values():
                self.assertEqual(len(set(value)), 1)

    def test_wait(self) -> None:
        version = self.store.stat().version
        self.assertEqual(self.store.wait(version, timeout=0.05), version)
        timer = threading.Timer(0.1, change_later, (self.store,))
        timer.start()
        self.assertGreater(self.store.wait(version), version)
        timer.join()

    def test_example(self) -> None:
        example = pathlib.Path(__file__).resolve().parents[2] / "examples/shm/store_workers.py"
        said = subprocess.run([sys.executable, example], capture_output=True, text=True, timeout=JOIN_S, check=True).stdout
        self.assertEqual(said, "200 samples, all workers agree: True, prepared less often than read: True\n")

    def test_wrong_uses_say_the_way_out(self) -> None:
        with self.assertRaises(FileExistsError):
            weft.KV(self.name, exclusive=True)
        with self.assertRaisesRegex(FileNotFoundError, "WEFT_KV_CREATE"):
            weft.KV("python-test-none", create=False)
        with self.assertRaisesRegex(OSError, "from 65536"):
            weft.KV("python-test-small", max_bytes=5)
        reader = weft.KV(self.name, read_only=True)
        self.store["k"] = b"v"
        self.assertEqual(reader["k"], b"v")
        with self.assertRaisesRegex(PermissionError, "READ_ONLY"):
            reader["k"] = b"w"
        again = pickle.loads(pickle.dumps(reader))
        with self.assertRaises(PermissionError):
            again["k"] = b"w"
        reader.close()
        reader.close()
        with self.assertRaisesRegex(ValueError, "closed"):
            reader["k"]
        with weft.KV(f"{self.name}-little", max_bytes=1 << 16) as little:
            little.unlink()
            with self.assertRaisesRegex(OSError, "65536"):
                for number in range(1000):
                    little[str(number)] = b"x" * 1000
            self.assertTrue(little.stat().unlinked)


if __name__ == "__main__":
    unittest.main()
