# SPDX-License-Identifier: Apache-2.0
"""weft.RWLock: between processes by each start method, threads, forks; deaths; wrong uses."""

from __future__ import annotations

import errno
import mmap
import multiprocessing
import os
import pathlib
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from collections.abc import Callable

import weft

ROUNDS = 300
JOIN_S = 60


def count_up(lock: weft.RWLock, file: str, rounds: int) -> None:
    """Two numbers that only the lock keeps equal."""
    with open(file, "r+b", buffering=0) as opened, mmap.mmap(opened.fileno(), 2) as numbers:
        for _ in range(rounds):
            with lock.write():
                value = (numbers[0] + 1) % 256
                numbers[0] = value
                time.sleep(0)
                numbers[1] = value
            with lock.read():
                if numbers[0] != numbers[1]:
                    raise AssertionError(f"{numbers[0]} and {numbers[1]}")


def die_inside(lock: weft.RWLock) -> None:
    lock.acquire_write()
    os.kill(os.getpid(), signal.SIGKILL)


def read_until_killed(lock: weft.RWLock, inside: object) -> None:
    lock.acquire_read()
    inside.set()  # type: ignore[attr-defined]
    time.sleep(JOIN_S)


class RWLockTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="weft-rwlock-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def start(self, work: Callable[..., None], *arguments: object, method: str = "fork") -> object:
        process = multiprocessing.get_context(method).Process(target=work, args=arguments)
        process.start()
        self.addCleanup(process.kill)
        return process

    def end(self, process: object, expected: int = 0) -> None:
        process.join(JOIN_S)
        self.assertEqual(process.exitcode, expected)

    def fails(self, code: int, call: Callable[..., object], *arguments: object) -> str:
        with self.assertRaises(OSError) as caught:
            call(*arguments)
        self.assertEqual(caught.exception.errno, code, caught.exception)
        return str(caught.exception)

    def in_thread(self, work: Callable[[], None]) -> None:
        failures: list[BaseException] = []

        def run() -> None:
            try:
                work()
            except BaseException as failure:
                failures.append(failure)

        thread = threading.Thread(target=run)
        thread.start()
        thread.join(JOIN_S)
        self.assertEqual((failures, thread.is_alive()), ([], False))

    def test_processes_by_each_start_method(self) -> None:
        for phase_fair in (False, True):
            for method in ("fork", "spawn", "forkserver"):
                with self.subTest(method=method, phase_fair=phase_fair):
                    file = self.folder / f"{method}{phase_fair}"
                    file.write_bytes(bytes(2))
                    lock = weft.RWLock(readers=8, phase_fair=phase_fair)
                    processes = [self.start(count_up, lock, str(file), ROUNDS, method=method) for _ in range(3)]
                    for process in processes:
                        self.end(process)
                    self.assertEqual(file.read_bytes(), bytes([3 * ROUNDS % 256] * 2))

    def test_a_file(self) -> None:
        path = self.folder / "lock"
        lock = weft.RWLock.create(path, readers=4, portable=True)
        self.fails(errno.EEXIST, weft.RWLock.create, path)
        same = pickle.loads(pickle.dumps(lock))
        with weft.RWLock.open(path).write():
            self.in_thread(lambda: self.assertFalse(lock.acquire_read(0)))
        with same.read():
            self.in_thread(lambda: self.assertFalse(lock.acquire_write(0)))
        with lock.write():
            self.in_thread(lambda: self.assertFalse(lock.acquire_write(0.01)))
        del same
        lock.destroy()
        self.assertIn("destroyed", self.fails(errno.EBADMSG, weft.RWLock.open, path))
        self.fails(errno.EBADMSG, lock.acquire_write)

    def test_threads_that_end_give_their_records_back(self) -> None:
        lock = weft.RWLock(readers=2)
        for _ in range(20):

            def read() -> None:
                with lock.read(), lock.read(1):
                    pass

            self.in_thread(read)

    def test_timeouts(self) -> None:
        lock = weft.RWLock()
        with lock.write():

            def wait() -> None:
                with self.assertRaises(TimeoutError), lock.read(0.02):
                    pass
                with self.assertRaises(TimeoutError), lock.write(0.02):
                    pass

            self.in_thread(wait)
        with lock.read(), lock.read(0):
            pass

    def test_a_child_of_a_fork_reads_for_itself(self) -> None:
        lock = weft.RWLock()
        with lock.read():

            def child() -> None:
                with lock.read():
                    pass
                if lock.acquire_write(0):
                    raise AssertionError("beside a reader")

            self.end(self.start(child))

    def test_a_killed_reader_is_forgotten(self) -> None:
        lock = weft.RWLock()
        inside = multiprocessing.get_context("fork").Event()
        process = self.start(read_until_killed, lock, inside)
        self.assertTrue(inside.wait(JOIN_S))
        self.assertFalse(lock.acquire_write(0.05))
        process.kill()
        self.end(process, -signal.SIGKILL)
        with lock.write(JOIN_S):
            pass

    def test_a_killed_writer_has_its_data_mended(self) -> None:
        mended = []
        lock = weft.RWLock(mend=lambda: mended.append(True))
        self.end(self.start(die_inside, lock), -signal.SIGKILL)
        with lock.write(), self.assertRaises(OSError):
            lock.acquire_read()
        self.assertEqual(mended, [True])
        with lock.read():
            pass

    def test_a_reader_mends_too(self) -> None:
        mended = []
        lock = weft.RWLock(mend=lambda: mended.append(True))
        for timeout in (None, 0, JOIN_S):
            mended.clear()
            self.end(self.start(die_inside, lock), -signal.SIGKILL)
            # The first one that only tries may just find out that the writer is dead.
            self.assertTrue(any(lock.acquire_read(timeout) for _ in range(2)))
            self.assertEqual(mended, [True])
            lock.release_read()
        with lock.write(0):
            pass

    def test_a_reader_without_mend_waits_for_one_who_has_it(self) -> None:
        path = self.folder / "lock"
        lock = weft.RWLock.create(path)
        self.end(self.start(die_inside, lock), -signal.SIGKILL)
        for _ in range(2):
            said = self.fails(errno.EOWNERDEAD, lock.acquire_read)
            self.assertIn("`mend`", said)
            self.assertNotIn("weft_rwlock", said)
        with weft.RWLock.open(path, mend=lambda: None).read():
            pass
        with lock.read():
            pass

    def test_a_reader_whose_mend_fails_gives_the_lock_up(self) -> None:
        lock = weft.RWLock(mend=lambda: 1 // 0)
        self.end(self.start(die_inside, lock), -signal.SIGKILL)
        with self.assertRaises(ZeroDivisionError):
            lock.acquire_read()
        self.fails(errno.ENOTRECOVERABLE, lock.acquire_read)

    def test_without_mend_the_lock_is_given_up(self) -> None:
        lock = weft.RWLock()
        self.end(self.start(die_inside, lock), -signal.SIGKILL)
        self.fails(errno.EOWNERDEAD, lock.acquire_write)
        self.fails(errno.ENOTRECOVERABLE, lock.acquire_write)
        self.fails(errno.ENOTRECOVERABLE, lock.acquire_read)

    def test_wrong_uses(self) -> None:
        lock = weft.RWLock(readers=1)
        self.fails(errno.EPERM, lock.release_read)
        self.fails(errno.EPERM, lock.release_write)
        with lock.read():
            self.fails(errno.EDEADLK, lock.acquire_write)
            self.in_thread(lambda: self.assertIn("more readers", self.fails(errno.EAGAIN, lock.acquire_read)))
        for readers in (0, -1, 70_000, 1 << 33):
            with self.assertRaises(ValueError):
                weft.RWLock(readers=readers)
        for readers in ("4", 1.5, None):
            with self.assertRaisesRegex(TypeError, "readers is a whole number"):
                weft.RWLock(readers=readers)
        for timeout in (-1, float("nan")):
            for acquire in (lock.acquire_read, lock.acquire_write):
                with self.assertRaisesRegex(ValueError, "timeout"):
                    acquire(timeout)
        with self.assertRaisesRegex(TypeError, r"lock\.read\(\)"), lock:
            pass
        other = self.folder / "other"
        other.write_bytes(os.urandom(8192))
        self.fails(errno.EBADMSG, weft.RWLock.open, other)
        other.write_bytes(b"")
        self.fails(errno.EBADMSG, weft.RWLock.open, other)
        self.fails(errno.ENOENT, weft.RWLock.open, self.folder / "none")

    def test_the_example(self) -> None:
        example = pathlib.Path(__file__).resolve().parents[2] / "examples/shm/table.py"
        done = subprocess.run([sys.executable, str(example)], capture_output=True, text=True, timeout=JOIN_S)
        self.assertEqual(done.stdout, "200 versions; readers ended with [0, 0, 0]\n", done.stderr)

    def test_ctrl_c_is_heard_while_the_main_thread_waits(self) -> None:
        lock = weft.RWLock()

        def wait() -> None:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            try:
                lock.acquire_write()
            except KeyboardInterrupt:
                os._exit(7)

        with lock.read():
            process = self.start(wait)
            time.sleep(0.3)
            os.kill(process.pid, signal.SIGINT)
            self.end(process, 7)


if __name__ == "__main__":
    unittest.main()
