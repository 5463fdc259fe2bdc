# SPDX-License-Identifier: Apache-2.0
"""weft.KV: a store of keys and values in shared memory (include/weft/kv.h)."""

from __future__ import annotations

import ctypes
import errno
import functools
import threading
import time
from collections.abc import Iterator, MutableMapping
from types import TracebackType
from typing import NamedTuple, Optional, Union

from weft import _shm

Key = Union[str, bytes]
Buffer = Union[bytes, bytearray, memoryview]

_CREATE, _EXCLUSIVE, _READ_ONLY = 1, 2, 4
_USUAL_BYTES = 4096  # of values and keys; longer ones are asked for twice
# Python runs handlers of signals, such as Ctrl-C's, between two calls only, and in the main thread.
_SLICE_S = 0.2


class Stat(NamedTuple):
    """What a store holds, a moment ago."""

    keys: int
    version: int
    max_bytes: int
    file_bytes: int
    used_bytes: int
    recoveries: int
    unlinked: bool


class _Stat(ctypes.Structure):
    _fields_ = (
        *((name, ctypes.c_uint64) for name in ("keys", "version", "max_bytes", "file_bytes", "used_bytes", "recoveries")),
        ("unlinked", ctypes.c_int),
    )


class _Timespec(ctypes.Structure):
    _fields_ = (("tv_sec", ctypes.c_long), ("tv_nsec", ctypes.c_long))


@functools.lru_cache(maxsize=1)
class _Calls:
    """The functions of the library, with their types."""

    def __init__(self) -> None:
        library = _shm.library()
        # Addresses as numbers, which ctypes passes on faster than objects.
        pointer, size, number = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_uint64
        key, value = [pointer, ctypes.c_char_p, size], [pointer, size]
        types = {
            "open": [pointer, ctypes.c_char_p, size, ctypes.c_uint],
            "close": [pointer],
            "unlink": [ctypes.c_char_p],
            "get": [*key, *value, pointer, pointer],
            "put": [*key, *value, pointer],
            "put_if": [*key, *value, number, pointer],
            "delete": key,
            "first": [pointer, pointer, size, pointer],
            "next": [pointer, pointer, size, pointer],
            "wait": [pointer, number, pointer, pointer],
            "stat_get": [pointer, pointer],
        }
        for name, arguments in types.items():
            function = getattr(library, f"weft_kv_{name}")
            function.argtypes = arguments
            setattr(self, name, function)


class _Room(threading.local):
    """Where a thread's calls leave what they find."""

    def __init__(self) -> None:
        self.length, self.version = ctypes.c_size_t(), ctypes.c_uint64()
        self.length_at, self.version_at = ctypes.addressof(self.length), ctypes.addressof(self.version)
        self.make(_USUAL_BYTES)

    def make(self, size: int) -> None:
        self.buffer, self.size = ctypes.create_string_buffer(size), size
        self.at = ctypes.addressof(self.buffer)


_room = _Room()


def _key(key: Key) -> bytes:
    return key.encode() if isinstance(key, str) else bytes(key)


def _address(buffer: Buffer) -> tuple[object, int, object]:
    """The memory of a buffer: what ctypes takes for its address, its length, and what keeps it alive."""
    if isinstance(buffer, bytes):
        return buffer, len(buffer), buffer
    view = memoryview(buffer)
    if not view.c_contiguous:
        raise ValueError("a value must be contiguous in memory; pass a copy")
    view = view.cast("B") if view.nbytes else memoryview(b"")
    if view.readonly:
        copied = bytes(view)
        return copied, len(copied), copied
    held = (ctypes.c_char * view.nbytes).from_buffer(view)
    return ctypes.addressof(held), view.nbytes, held


class KV(MutableMapping):
    """Keys and values that processes of a machine share: a mapping from bytes, or str in UTF-8, to bytes.

    Reading takes no lock and waits for nobody. Writing is one process at a time. A process that is killed leaves each
    key with its old value or its new one.

        store = weft.KV("features", max_bytes=1 << 30)
        store["user:7"] = array            # any buffer
        value = store["user:7"]            # bytes
        store.get_into("user:7", array)    # without a copy in between

    `name`: a store of this user in /dev/shm, or, with a slash in it, a file. It is made if there is none, unless
    `create` is False; `exclusive` fails if there is one. `max_bytes` is the size that a new one may grow to. The store
    stays until `unlink()`.

    An object may be used by all threads, and after a fork. It can be sent to other processes, which open the store
    anew. Iteration gives keys as bytes; a key that exists all the while comes once, whatever else is put and deleted.

    Raises OSError of the kind that belongs to what is wrong, with the way out as its text; KeyError for a missing key.
    """

    def __init__(
        self,
        name: str,
        max_bytes: int = 0,
        *,
        create: bool = True,
        exclusive: bool = False,
        read_only: bool = False,
    ) -> None:
        self._store: Optional[int] = None  # its address
        self._name, self._read_only = name, read_only
        flags = _READ_ONLY if read_only else 0
        if create and not read_only:
            flags |= _CREATE | (_EXCLUSIVE if exclusive else 0)
        self._calls = _Calls()
        store = ctypes.c_void_p()
        _shm.check(self._calls.open(ctypes.addressof(store), name.encode(), max_bytes, flags))
        self._store = store.value

    @property
    def name(self) -> str:
        return self._name

    def close(self) -> None:
        """Ends the use of the store by this object; the store stays. Other threads must not be using it."""
        store, self._store = self._store, None
        if store is not None:
            self._calls.close(store)

    def unlink(self) -> None:
        """Removes the store's name. Who has it open goes on using it."""
        _shm.check(self._calls.unlink(self._name.encode()))

    def __enter__(self) -> "KV":
        return self

    def __exit__(
        self, kind: Optional[type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_store", None) is not None:
            self.close()

    def __reduce__(self) -> tuple[object, tuple[str, bool]]:
        return _reopen, (self._name, self._read_only)

    def __repr__(self) -> str:
        return f"weft.KV({self._name!r}{'' if self._store is not None else ', closed'})"

    def _open(self) -> int:
        if self._store is None:
            raise ValueError("the store is closed")
        return self._store

    def _get(self, key: bytes) -> Optional[bytes]:
        """The value, with its version in the thread's room; None: there is none."""
        room, store, get = _room.__dict__, self._open(), self._calls.get
        while True:
            error = get(store, key, len(key), room["at"], room["size"], room["length_at"], room["version_at"])
            if error == 0:
                return ctypes.string_at(room["at"], room["length"].value)
            if error == errno.ENOENT:
                return None
            if error != errno.ERANGE:
                raise _shm.failed(error)
            _room.make(room["length"].value)

    def __getitem__(self, key: Key) -> bytes:
        value = self._get(_key(key))
        if value is None:
            raise KeyError(key)
        return value

    def get_versioned(self, key: Key) -> tuple[bytes, int]:
        """The value and its version. Raises KeyError."""
        return self[key], _room.version.value

    def get_into(self, key: Key, buffer: Union[bytearray, memoryview]) -> int:
        """Copies the value into a writable buffer, such as an array of NumPy's, and returns its length in bytes.

        Raises KeyError; ValueError if the buffer is too short, and then it holds nothing of use."""
        name = _key(key)
        view = memoryview(buffer)
        if view.readonly:
            raise ValueError("the buffer cannot be written")
        address, size, _held = _address(buffer)
        room = _room
        error = self._calls.get(self._open(), name, len(name), address, size, room.length_at, room.version_at)
        if error == errno.ENOENT:
            raise KeyError(key)
        if error == errno.ERANGE:
            raise ValueError(f"the value has {room.length.value} bytes, the buffer {size}")
        _shm.check(error)
        return room.length.value

    def version(self, key: Key) -> int:
        """The number of the change that gave the key its value: greater than those of all earlier changes. KeyError."""
        name, room = _key(key), _room
        error = self._calls.get(self._open(), name, len(name), None, 0, room.length_at, room.version_at)
        if error == errno.ENOENT:
            raise KeyError(key)
        if error != errno.ERANGE:
            _shm.check(error)
        return room.version.value

    def put(self, key: Key, value: Buffer) -> int:
        """Gives the key a value, and returns the version of that."""
        name, room = _key(key), _room
        address, size, _held = _address(value)
        _shm.check(self._calls.put(self._open(), name, len(name), address, size, room.version_at))
        return room.version.value

    def __setitem__(self, key: Key, value: Buffer) -> None:
        self.put(key, value)

    def compare_and_set(self, key: Key, value: Buffer, version: int) -> Optional[int]:
        """Gives the key a value if it has this version; 0: if it does not exist. The new version, or None: it has
        another one."""
        name, room = _key(key), _room
        address, size, _held = _address(value)
        error = self._calls.put_if(self._open(), name, len(name), address, size, version, room.version_at)
        if error in (errno.EAGAIN, errno.EEXIST, errno.ENOENT):
            return None
        _shm.check(error)
        return room.version.value

    def __delitem__(self, key: Key) -> None:
        name = _key(key)
        error = self._calls.delete(self._open(), name, len(name))
        if error == errno.ENOENT:
            raise KeyError(key)
        _shm.check(error)

    def __contains__(self, key: object) -> bool:
        if not isinstance(key, (str, bytes)):
            return False
        try:
            self.version(key)
        except KeyError:
            return False
        return True

    def __iter__(self) -> Iterator[bytes]:
        store, calls = self._open(), self._calls
        # Of its own: others may run between two keys.
        size, length = _USUAL_BYTES, ctypes.c_size_t()
        buffer = ctypes.create_string_buffer(size)
        step, before = calls.first, 0
        while True:
            length.value = before
            error = step(store, ctypes.addressof(buffer), size, ctypes.addressof(length))
            if error == errno.ERANGE:
                size = length.value
                longer = ctypes.create_string_buffer(size)
                ctypes.memmove(longer, buffer, before)
                buffer = longer
                continue
            if error == errno.ENOENT:
                return
            _shm.check(error)
            step, before = calls.next, length.value
            yield ctypes.string_at(buffer, before)

    def stat(self) -> Stat:
        """What the store holds."""
        found = _Stat()
        _shm.check(self._calls.stat_get(self._open(), ctypes.addressof(found)))
        values = [getattr(found, name) for name, _ in _Stat._fields_]
        return Stat(*values[:-1], unlinked=bool(values[-1]))

    def __len__(self) -> int:
        return self.stat().keys

    def wait(self, version: int, timeout: Optional[float] = None) -> int:
        """Waits until something has changed since `version`, and returns the latest version; after `timeout` seconds
        it is the same. `stat().version` says where to begin."""
        store, calls, now = self._open(), self._calls, ctypes.c_uint64()
        end = None if timeout is None else time.monotonic() + timeout
        while True:
            until = time.monotonic() + _SLICE_S
            until = until if end is None else min(until, end)
            deadline = _Timespec(int(until), int(until % 1 * 1e9))
            error = calls.wait(store, version, ctypes.addressof(deadline), ctypes.addressof(now))
            if error == 0:
                return now.value
            if error != errno.ETIMEDOUT:
                raise _shm.failed(error)
            if end is not None and time.monotonic() >= end:
                return version


def _reopen(name: str, read_only: bool) -> KV:
    return KV(name, create=False, read_only=read_only)
