# SPDX-License-Identifier: Apache-2.0
"""weft.RWLock: a reader-writer lock between processes (include/weft/rwlock.h)."""

from __future__ import annotations

import ctypes
import errno
import functools
import mmap
import operator
import os
import threading
import time
from types import TracebackType
from typing import Callable, NoReturn, Optional

from weft import _shm

_PHASE_FAIR, _PORTABLE = 1, 2
# Python runs handlers of signals, such as Ctrl-C's, between two calls only, and in the main thread.
_SLICE_S = 0.2

# Mappings of locks that are gone, with readers of threads that live: the system writes there when the threads end.
_KEPT: list[mmap.mmap] = []

Mend = Optional[Callable[[], object]]


class _Timespec(ctypes.Structure):
    _fields_ = (("tv_sec", ctypes.c_long), ("tv_nsec", ctypes.c_long))


def _at(when: float) -> _Timespec:
    return _Timespec(int(when), int(when % 1 * 1e9))


@functools.lru_cache(maxsize=1)
class _Calls:
    """The functions of the library, with their types."""

    def __init__(self) -> None:
        library = _shm.load()
        pointer, deadline = ctypes.c_void_p, ctypes.POINTER(_Timespec)
        self.size = library.weft_rwlock_size
        self.size.argtypes, self.size.restype = [ctypes.c_uint], ctypes.c_size_t
        types = {
            "create": [pointer, ctypes.c_size_t, ctypes.c_uint, ctypes.c_uint],
            "attach": [ctypes.POINTER(pointer), pointer, ctypes.c_size_t],
            "register": [ctypes.POINTER(pointer), pointer],
            "timedrdlock": [pointer, deadline],
            "timedwrlock": [pointer, deadline],
        }
        for name in ("detach", "destroy", "unregister", "tryrdlock", "rdunlock", "trywrlock", "wrunlock", "consistent"):
            types[name] = [pointer]
        for name, arguments in types.items():
            function = getattr(library, f"weft_rwlock_{name}")
            function.argtypes = arguments
            setattr(self, name, function)


class _Reader:
    """A thread's handle; given back when the thread's own objects are."""

    def __init__(self, calls: _Calls, attachment: ctypes.c_void_p) -> None:
        self.handle = ctypes.c_void_p()
        self._unregister = calls.unregister
        _shm.check(calls.register(ctypes.byref(self.handle), attachment))

    def __del__(self) -> None:
        # Another thread than the reader's may not, while that lives.
        if self.handle:
            self._unregister(self.handle)


class _Guard:
    """For `with`: one of a lock's two sides."""

    __slots__ = ("_acquire", "_release", "_timeout")

    def __init__(
        self, acquire: Callable[[float | None], bool], release: Callable[[], None], timeout: float | None
    ) -> None:
        self._acquire, self._release, self._timeout = acquire, release, timeout

    def __enter__(self) -> None:
        if not self._acquire(self._timeout):
            raise TimeoutError(errno.ETIMEDOUT, f"weft.RWLock: not locked within {self._timeout} s")

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._release()


class RWLock:
    """A lock that many readers have at the same time, or one writer, in whatever process. If a process is killed, the
    others can still use the lock.

        lock = weft.RWLock(readers=16)
        with lock.read(): ...
        with lock.write(): ...

    It may be handed to the processes of multiprocessing, by fork and by spawn. `readers` is how many threads may read,
    of all processes together. `mend`: called when a writer has died inside, with the write lock held, to make the data
    whole: by whoever locks next, to write or to read. Without it each read lock raises an OSError with errno EOWNERDEAD
    until a process that has a `mend` has locked; a write lock raises that too, and gives the lock up: every call raises
    an OSError with errno ENOTRECOVERABLE from then on.
    `phase_fair`: writers let in the readers that wait between them. `portable`: for systems without membarrier(2).

    Calls that fail raise OSError, with the errno that weft_rwlock(3) names and a text that names the way out.
    """

    def __init__(
        self, readers: int = 64, *, phase_fair: bool = False, portable: bool = False, mend: Mend = None
    ) -> None:
        descriptor = os.memfd_create("weft-rwlock")
        try:
            os.ftruncate(descriptor, self.size(readers))
            self._map(descriptor, None, mend)
            self._make(readers, phase_fair, portable)
        finally:
            os.close(descriptor)

    @classmethod
    def create(
        cls,
        path: str | os.PathLike[str],
        readers: int = 64,
        *,
        phase_fair: bool = False,
        portable: bool = False,
        mend: Mend = None,
    ) -> RWLock:
        """A lock in a new file, best in /dev/shm. FileExistsError: there is such a file; open() it."""
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        self = cls.__new__(cls)
        try:
            os.ftruncate(descriptor, cls.size(readers))
            self._map(descriptor, os.fspath(path), mend)
            self._make(readers, phase_fair, portable)
        except BaseException:
            os.unlink(path)
            raise
        finally:
            os.close(descriptor)
        return self

    @classmethod
    def open(cls, path: str | os.PathLike[str], *, mend: Mend = None) -> RWLock:
        """The lock in a file that create() has made, perhaps just now."""
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        try:
            return cls._of_file(descriptor, os.fspath(path), mend)
        finally:
            os.close(descriptor)

    @staticmethod
    def size(readers: int) -> int:
        """The bytes of a lock for so many readers."""
        try:
            readers = operator.index(readers)
        except TypeError:
            raise TypeError(f"weft.RWLock: readers is a whole number, not {type(readers).__name__}") from None
        bytes_ = int(_Calls().size(readers)) if 0 < readers < 1 << 32 else 0
        if bytes_ == 0:
            raise ValueError(f"weft.RWLock: {readers} readers; from 1 to 65536 are possible")
        return bytes_

    @classmethod
    def _of_file(cls, descriptor: int, path: str | None, mend: Mend) -> RWLock:
        self = cls.__new__(cls)
        # A file that is being made is empty for a moment.
        deadline = time.monotonic() + 1
        while os.fstat(descriptor).st_size == 0 and time.monotonic() < deadline:
            time.sleep(0.001)
        self._map(descriptor, path, mend)
        self._attach()
        return self

    def _map(self, descriptor: int, path: str | None, mend: Mend) -> None:
        self._calls, self._path, self.mend = _Calls(), path, mend
        size = os.fstat(descriptor).st_size
        if size == 0:
            raise OSError(errno.EBADMSG, "weft.RWLock: the file is empty, and no lock", path)
        self._memory = mmap.mmap(descriptor, size)
        # Kept open where there is no path, for processes that are spawned.
        self._descriptor = os.dup(descriptor) if path is None else None
        self._local = threading.local()
        self._lock = ctypes.c_void_p()

    def _make(self, readers: int, phase_fair: bool, portable: bool) -> None:
        flags = (_PHASE_FAIR if phase_fair else 0) | (_PORTABLE if portable else 0)
        _shm.check(self._calls.create(self._address(), len(self._memory), readers, flags))
        self._attach()

    def _attach(self) -> None:
        _shm.check(self._calls.attach(ctypes.byref(self._lock), self._address(), len(self._memory)))

    def _address(self) -> int:
        return ctypes.addressof(ctypes.c_char.from_buffer(self._memory))

    def __del__(
        self, keep: Callable[[mmap.mmap], None] = _KEPT.append, close: Callable[[int], None] = os.close
    ) -> None:
        # By defaults: when the interpreter ends, this module's names may be gone before the lock.
        self._local = None  # this thread's reader
        attached = getattr(self, "_lock", None)
        if attached and self._calls.detach(attached) != 0:
            keep(self._memory)
        if getattr(self, "_descriptor", None) is not None:
            close(self._descriptor)

    def __reduce__(self) -> tuple[object, ...]:
        if self._path is not None:
            return _open, (self._path, self.mend)
        from multiprocessing import reduction

        return _receive, (reduction.DupFd(self._descriptor), self.mend)

    def read(self, timeout: float | None = None) -> _Guard:
        """For `with`: a read lock. TimeoutError: not within `timeout` seconds."""
        return _Guard(self.acquire_read, self.release_read, timeout)

    def write(self, timeout: float | None = None) -> _Guard:
        """For `with`: the write lock. TimeoutError: not within `timeout` seconds."""
        return _Guard(self.acquire_write, self.release_write, timeout)

    def __enter__(self) -> NoReturn:
        raise TypeError("weft.RWLock: use `with lock.read():` or `with lock.write():`")

    def __exit__(self, *_: object) -> None:
        """Python looks for it before it calls __enter__()."""

    def acquire_read(self, timeout: float | None = None) -> bool:
        """True: the thread has a read lock, or one more. False: not within `timeout` seconds; 0 tries.

        Where a writer has died inside, `mend` is called first, with the write lock."""
        _shm.check_timeout(timeout)
        error = self._read(timeout)
        if error != errno.EOWNERDEAD:
            return self._has(error)
        if self.mend is None:
            raise self._died("each lock to read fails until a process that has a `mend` has locked")
        end = None if timeout is None else time.monotonic() + timeout
        while error == errno.EOWNERDEAD:
            # Whoever writes first mends; it may be another one.
            if not self.acquire_write(self._left(end, timeout)):
                return False
            self.release_write()
            error = self._read(self._left(end, timeout))
        return self._has(error)

    def _read(self, timeout: float | None) -> int:
        calls = self._calls
        reader = getattr(self._local, "reader", None) or self._enrol()
        error = calls.tryrdlock(reader.handle)
        if error == errno.EPERM:
            # The handle is the parent's of this process.
            error = calls.tryrdlock(self._enrol().handle)
        if error == errno.EBUSY and timeout != 0:
            error = self._wait(calls.timedrdlock, self._local.reader.handle, timeout)
        return error

    @staticmethod
    def _left(end: float | None, timeout: float | None) -> float | None:
        return None if end is None else 0 if timeout == 0 else max(end - time.monotonic(), 0)

    def release_read(self) -> None:
        reader = getattr(self._local, "reader", None)
        if reader is None:
            raise PermissionError(errno.EPERM, "weft.RWLock: the calling thread has no read lock")
        _shm.check(self._calls.rdunlock(reader.handle))

    def acquire_write(self, timeout: float | None = None) -> bool:
        """True: the thread has the write lock. False: not within `timeout` seconds; 0 tries."""
        _shm.check_timeout(timeout)
        error = self._calls.trywrlock(self._lock)
        if error == errno.EBUSY and timeout != 0:
            error = self._wait(self._calls.timedwrlock, self._lock, timeout)
        if error == errno.EOWNERDEAD:
            self._mend()
            return True
        return self._has(error)

    def release_write(self) -> None:
        _shm.check(self._calls.wrunlock(self._lock))

    def destroy(self) -> None:
        """No process can attach any more. OSError with errno EBUSY: somebody reads or writes, or may at any time."""
        self._local = threading.local()
        error = self._calls.destroy(self._lock)
        if error == errno.EBUSY:
            raise OSError(error, "weft.RWLock: others are registered; let their threads end first")
        _shm.check(error)

    def _enrol(self) -> _Reader:
        self._local.reader = _Reader(self._calls, self._lock)
        return self._local.reader

    @staticmethod
    def _wait(call: Callable[..., int], handle: ctypes.c_void_p, timeout: float | None) -> int:
        deadline = float("inf") if timeout is None else time.monotonic() + timeout
        # In slices where Ctrl-C is to be heard; a year is for ever.
        longest = _SLICE_S if threading.current_thread() is threading.main_thread() else 3e7
        while True:
            until = min(deadline, time.monotonic() + longest)
            error = int(call(handle, ctypes.byref(_at(until))))
            if error != errno.ETIMEDOUT or time.monotonic() >= deadline:
                return error

    @staticmethod
    def _has(error: int) -> bool:
        if error in (errno.EBUSY, errno.ETIMEDOUT):
            return False
        _shm.check(error)
        return True

    @staticmethod
    def _died(what_follows: str) -> OSError:
        text = f"weft.RWLock: a writer has died while it had the lock, and there is no `mend` here: {what_follows}"
        return OSError(errno.EOWNERDEAD, text)

    def _mend(self) -> None:
        try:
            if self.mend is None:
                raise self._died("the lock is given up; make it anew, with mend=, a function that makes the data whole")
            self.mend()
            _shm.check(self._calls.consistent(self._lock))
        except BaseException:
            self._calls.wrunlock(self._lock)
            raise


def _open(path: str, mend: Mend) -> RWLock:
    return RWLock.open(path, mend=mend)


def _receive(sent: object, mend: Mend) -> RWLock:
    descriptor = sent.detach()  # type: ignore[attr-defined]
    try:
        return RWLock._of_file(descriptor, None, mend)
    finally:
        os.close(descriptor)
