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
import tempfile
import threading
import unittest

import weft

try:
    import numpy
except ImportError:
    numpy = None

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


def write_long_values(store: weft.KV) -> None:
    value = bytes(1 << 20)
    while True:
        store["long"] = value


def change_later(store: weft.KV) -> None:
    store["changed"] = b"1"


def take_all(store: weft.KV, taken: object) -> None:
    """Each key that this process gets, by popitem() and by pop()."""
    while True:
        try:
            key, _ = store.popitem()
        except KeyError:
            break
        taken.put(key)  # type: ignore[attr-defined]
    taken.put(None)  # type: ignore[attr-defined]


def set_default(store: weft.KV, found: object) -> None:
    found.put(store.setdefault("leader", str(os.getpid()).encode()))  # type: ignore[attr-defined]


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
        self.assertFalse(self.store.compare_and_delete("k", first))
        self.assertFalse(self.store.compare_and_delete("none", first))
        self.store["gone"] = b"1"
        self.assertTrue(self.store.compare_and_delete("gone", self.store.version("gone")))
        self.assertNotIn("gone", self.store)
        self.store["k"] = b"3"
        second = self.store.version("k")
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

    def test_iterators_of_a_store_that_is_closed(self) -> None:
        self.store.update({"one": b"1", "two": b"2"})
        for iterate in (iter, lambda store: iter(store.items()), lambda store: iter(store.values())):
            store = weft.KV(self.name, create=False)
            iterator = iterate(store)
            next(iterator)
            store.close()
            with self.assertRaisesRegex(ValueError, "closed"):
                next(iterator)

    def test_keys_that_vanish_are_left_out(self) -> None:
        self.store.update({str(number): b"x" for number in range(10)})
        keys = list(self.store)
        items, values = iter(self.store.items()), iter(self.store.values())
        self.assertEqual((next(items), next(values)), ((keys[0], b"x"), b"x"))
        for key in keys[1:9]:
            del self.store[key]
        self.assertEqual((list(items), list(values)), ([(keys[9], b"x")], [b"x"]))
        self.assertIn(b"x", self.store.values())
        self.assertIn((keys[9], b"x"), self.store.items())

    def test_one_process_gets_each_key(self) -> None:
        expected = {str(number).encode() for number in range(500)}
        self.store.update(dict.fromkeys(expected, b"job"))
        context = multiprocessing.get_context("fork")
        taken = context.Queue()
        workers = [context.Process(target=take_all, args=(self.store, taken)) for _ in range(4)]
        for worker in workers:
            worker.start()
        got: list[bytes] = []
        ended = 0
        while ended < len(workers):
            key = taken.get(timeout=JOIN_S)
            ended += key is None
            got += [key] if key is not None else []
        self.assertEqual(sorted(got), sorted(expected))
        for worker in workers:
            worker.join(JOIN_S)
        self.assertEqual(self.store.pop("none", 7), 7)
        with self.assertRaises(KeyError):
            self.store.pop("none")

    def test_all_processes_get_the_same_default(self) -> None:
        context = multiprocessing.get_context("fork")
        found = context.Queue()
        workers = [context.Process(target=set_default, args=(self.store, found)) for _ in range(4)]
        for worker in workers:
            worker.start()
        self.assertEqual({found.get(timeout=JOIN_S) for _ in workers}, {self.store["leader"]})
        for worker in workers:
            worker.join(JOIN_S)

    def test_keys_and_values_that_are_none(self) -> None:
        numbers = array.array("l", [1])
        for key in (5, True, (1, 2), [1], 1.5, None, numbers, *([numpy.int64(5), numpy.zeros(2)] if numpy else [])):
            with self.assertRaisesRegex(TypeError, "a key is str or bytes"):
                self.store[key] = b"v"
            self.assertNotIn(key, self.store)
        self.store[bytearray(b"k")] = b"v"
        self.assertEqual(self.store[memoryview(b"k")], b"v")
        self.assertIn(bytearray(b"k"), self.store)
        for value in ("text", 5, None):
            with self.assertRaisesRegex(TypeError, "a value is bytes"):
                self.store["k"] = value
        self.assertEqual(list(self.store.items()), [(b"k", b"v")])

    @unittest.skipUnless(numpy, "no NumPy")
    def test_arrays(self) -> None:
        fields = numpy.zeros(2, dtype=[("Offset", "<i4"), ("weight", "f8")])
        for value in (numpy.eye(3), numpy.array(7), numpy.zeros(2, "c16"), numpy.zeros(2, ">i4"), fields):
            self.store["array"] = value
            self.assertEqual(self.store["array"], value.tobytes())
            back = numpy.empty_like(value)
            self.store.get_into("array", back)
            self.assertTrue((back == value).all())
        for objects in (numpy.array([{}, None]), numpy.zeros(2, dtype=[("a", "i4"), ("b", "O")])):
            with self.assertRaisesRegex(TypeError, "addresses"):
                self.store["array"] = objects
            with self.assertRaisesRegex(TypeError, "addresses"):
                self.store.get_into("array", objects)

    def test_names_and_sizes(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "store"
            with weft.KV(path, max_bytes=1 << 16) as store:
                store["k"] = b"v"
                self.assertEqual(pickle.loads(pickle.dumps(store))["k"], b"v")
                store.unlink()
                self.assertFalse(path.exists())
                with self.assertRaisesRegex(FileNotFoundError, "unlinked"):
                    pickle.loads(pickle.dumps(store))
        for name in (None, 5, b"bytes"):
            with self.assertRaisesRegex(TypeError, "a name is"):
                weft.KV(name)
        with self.assertRaisesRegex(ValueError, "NUL"):
            weft.KV(f"{self.name}\0more")
        for size in (1 << 70, -1, 5, 1 << 45):
            with self.assertRaisesRegex(ValueError, "from 65536"):
                weft.KV("python-test-none", max_bytes=size)
        with self.assertRaisesRegex(TypeError, "whole number"):
            weft.KV("python-test-none", max_bytes=1e9)
        with self.assertRaisesRegex(ValueError, "exclusive"):
            weft.KV("python-test-none", create=False, exclusive=True)
        with self.assertRaisesRegex(ValueError, "timeout"):
            self.store.wait(0, timeout=-1)

    def test_a_file_system_that_is_full_is_told_from_a_full_store(self) -> None:
        program = """
import sys, weft
with weft.KV(sys.argv[1] + "/store", max_bytes=1 << 26) as store:
    try:
        for number in range(1 << 20):
            store[str(number)] = bytes(10_000)
    except OSError as error:
        print(error)
"""
        with tempfile.TemporaryDirectory() as folder:
            mounted = ["unshare", "--map-root-user", "--mount", "sh", "-c"]
            mount = f"mount -t tmpfs -o size=1m none {folder}"
            if subprocess.run([*mounted, mount], capture_output=True, timeout=JOIN_S).returncode != 0:
                self.skipTest("no namespaces")
            said = subprocess.run(
                [*mounted, f'{mount} && exec "$@"', "sh", sys.executable, "-c", program, folder],
                capture_output=True,
                text=True,
                timeout=JOIN_S,
            )
        self.assertIn("the file system of the store is full", said.stdout, said.stderr)

    @unittest.skipIf(os.geteuid() != 0, "only root can become somebody else")
    def test_a_store_of_another_user(self) -> None:
        def open_it() -> None:
            os.setuid(65534)
            for name, text in ((f"/dev/shm/weft-kv-0-{self.name}", "user 0 and has mode 600"), (self.name, "its path")):
                try:
                    weft.KV(name, create=False)
                except OSError as error:
                    if text in str(error):
                        continue
                    raise
                raise AssertionError(name)

        process = multiprocessing.get_context("fork").Process(target=open_it)
        process.start()
        process.join(JOIN_S)
        self.assertEqual(process.exitcode, 0)

    def test_a_writer_that_is_stopped_is_named(self) -> None:
        hasty = weft.KV(self.name, timeout=0.02)
        self.addCleanup(hasty.close)
        writer = multiprocessing.get_context("spawn").Process(target=write_long_values, args=(self.store,))
        writer.start()
        try:
            said = None
            while said is None:
                self.assertTrue(writer.is_alive())
                os.kill(writer.pid, signal.SIGSTOP)
                try:
                    hasty["key"] = b"value"
                except TimeoutError as error:
                    said = str(error)
                else:
                    os.kill(writer.pid, signal.SIGCONT)
            self.assertRegex(said, f"weft.KV: process {writer.pid} .*kill -CONT {writer.pid}")
            again = pickle.loads(pickle.dumps(hasty))
            with self.assertRaises(TimeoutError):
                del again["long"]
            again.close()
        finally:
            writer.kill()
            writer.join(JOIN_S)
        hasty["key"] = b"value"
        self.assertEqual(self.store["key"], b"value")
        for wrong in (-1, float("nan")):
            with self.assertRaises(ValueError):
                weft.KV(self.name, timeout=wrong)
        weft.KV(self.name, timeout=None).close()
        weft.KV(self.name, timeout=float("inf")).close()

    def test_wait(self) -> None:
        version = self.store.stat().version
        self.assertEqual(self.store.wait(version, timeout=0.05), version)
        timer = threading.Timer(0.1, change_later, (self.store,))
        timer.start()
        self.assertGreater(self.store.wait(version), version)
        timer.join()

    def test_example(self) -> None:
        example = pathlib.Path(__file__).resolve().parents[2] / "examples/shm/store_workers.py"
        said = subprocess.run(
            [sys.executable, example], capture_output=True, text=True, timeout=JOIN_S, check=True
        ).stdout
        self.assertEqual(said, "200 samples, all workers agree: True, prepared less often than read: True\n")

    def test_wrong_uses_say_the_way_out(self) -> None:
        with self.assertRaisesRegex(FileExistsError, "without exclusive=True"):
            weft.KV(self.name, exclusive=True)
        with self.assertRaisesRegex(FileNotFoundError, "weft.KV: .*create=True"):
            weft.KV("python-test-none", create=False)
        reader = weft.KV(self.name, read_only=True)
        self.store["k"] = b"v"
        self.assertEqual(reader["k"], b"v")
        with self.assertRaisesRegex(PermissionError, "read_only=True"):
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
            with self.assertRaisesRegex(OSError, "the store is full: .*65536"):
                for number in range(1000):
                    little[str(number)] = b"x" * 1000
            self.assertTrue(little.stat().unlinked)


class Values(unittest.TestCase):
    """Stores whose values are more than bytes."""

    def store(self, values: str) -> weft.KV:
        store = weft.KV(f"python-test-{values}-{os.getpid()}", max_bytes=1 << 26, exclusive=True, values=values)
        self.addCleanup(store.close)
        self.addCleanup(store.unlink)
        return store

    @unittest.skipUnless(numpy, "no NumPy")
    def test_arrays(self) -> None:
        store = self.store("arrays")
        for made in (
            numpy.arange(12.0).reshape(3, 4),
            numpy.asfortranarray(numpy.arange(12).reshape(3, 4)),
            numpy.arange(24).reshape(4, 6)[::2, 1:5],
            numpy.float32(1.5),
            numpy.zeros((0, 7), dtype="complex64"),
            numpy.array(["ab", "c"]),
            numpy.zeros(3, dtype=[("x", "f8"), ("n", "i4")]),
        ):
            with self.subTest(dtype=made.dtype, shape=made.shape):
                store["a"] = made
                found = store["a"]
                self.assertEqual((found.dtype, found.shape), (made.dtype, made.shape))
                self.assertTrue((found == made).all())
                self.assertTrue(found.flags.writeable)
                self.assertTrue((store.setdefault("a", numpy.ones(1)) == made).all())
                self.assertTrue((next(iter(store.values())) == made).all())
                value, version = store.get_versioned("a")
                self.assertIsNotNone(store.compare_and_set("a", value, version))
        for wrong, word in ((b"bytes", "not bytes"), ([1.0], "not list"), (numpy.array([{}]), "values='objects'")):
            with self.subTest(word=word), self.assertRaisesRegex(TypeError, word):
                store["a"] = wrong
        with self.assertRaisesRegex(ValueError, "values='arrays'"):
            store.get_into("a", numpy.zeros(3))
        raw = weft.KV(store.name, create=False)
        raw["b"] = b"no array"
        with self.assertRaisesRegex(ValueError, "no array that values='arrays' has put"):
            store["b"]
        with self.assertRaisesRegex(ValueError, "no array"):
            store.pop("b")
        self.assertEqual(raw["b"], b"no array")
        raw.close()
        self.assertTrue((pickle.loads(pickle.dumps(store)).pop("a") == made).all())

    def test_objects(self) -> None:
        store = self.store("objects")
        for made in ({"a": [1, (2, None)]}, None, "text", b"bytes"):
            with self.subTest(made=made):
                store["o"] = made
                self.assertEqual((store["o"], list(store.items())), (made, [(b"o", made)]))
                self.assertEqual(store.popitem(), (b"o", made))
                self.assertNotIn("o", store)
        self.assertEqual(store.setdefault("o", [1]), [1])
        self.assertEqual(store.pop("o"), [1])
        self.assertEqual(store.pop("o", 7), 7)

    def test_what_there_is_not(self) -> None:
        with self.assertRaisesRegex(ValueError, "values='text'; there are bytes, arrays, objects"):
            weft.KV("python-test-none", values="text")


if __name__ == "__main__":
    unittest.main()
