# SPDX-License-Identifier: Apache-2.0
"""weft.KV: a store of keys and values in shared memory (include/weft/kv.h)."""

from __future__ import annotations

import ctypes
import errno
import functools
import io
import operator
import os
import re
import threading
import time
from collections.abc import Callable, ItemsView, Iterator, MutableMapping, ValuesView
from types import TracebackType
from typing import Any, NamedTuple, Union

from weft import _shm

Key = Union[str, bytes, bytearray, memoryview]
Buffer = Union[bytes, bytearray, memoryview]
Value = Any  # what `values` says: a buffer, and bytes from the store; an array; an object

_CREATE, _EXCLUSIVE, _READ_ONLY = 1, 2, 4
_LEAST_BYTES, _MOST_BYTES = 1 << 16, 1 << 44  # of a store
_USUAL_BYTES = 4096  # of values and keys; longer ones are asked for twice
_USUAL_TIMEOUT_S = 10.0
_LONGEST_S = 1e9  # that is asked for
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
        *(
            (name, ctypes.c_uint64)
            for name in ("keys", "version", "max_bytes", "file_bytes", "used_bytes", "recoveries")
        ),
        ("unlinked", ctypes.c_int),
    )


class _Timespec(ctypes.Structure):
    _fields_ = (("tv_sec", ctypes.c_long), ("tv_nsec", ctypes.c_long))


def _timespec(seconds: float) -> _Timespec:
    seconds = min(seconds, _LONGEST_S)
    return _Timespec(int(seconds), int(seconds % 1 * 1e9))


@functools.lru_cache(maxsize=1)
class _Calls:
    """The functions of the library, with their types."""

    def __init__(self) -> None:
        library = _shm.load()
        # Addresses as numbers, which ctypes passes on faster than objects.
        pointer, size, number = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_uint64
        key, value = [pointer, ctypes.c_char_p, size], [pointer, size]
        types = {
            "open": [pointer, ctypes.c_char_p, size, ctypes.c_uint],
            "close": [pointer],
            "set_timeout": [pointer, pointer],
            "unlink": [ctypes.c_char_p],
            "get": [*key, *value, pointer, pointer],
            "put": [*key, *value, pointer],
            "put_if": [*key, *value, number, pointer],
            "delete": key,
            "delete_if": [*key, number],
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
    if isinstance(key, str):
        return key.encode()
    if isinstance(key, bytes):
        return key
    # No other buffers: bytes(5) is five zeros, and a number of NumPy's is a buffer.
    if isinstance(key, (bytearray, memoryview)):
        return bytes(key)
    raise TypeError(f"weft.KV: a key is str or bytes, not {type(key).__name__}")


def _view(buffer: Buffer) -> memoryview:
    try:
        view = memoryview(buffer)
    except TypeError:
        raise TypeError(
            f"weft.KV: a value is bytes or another buffer, such as an array, not {type(buffer).__name__}"
        ) from None
    if not view.c_contiguous:
        raise ValueError("weft.KV: a value must be contiguous in memory; pass a copy")
    # Between colons are names of fields.
    if "O" in re.sub(":[^:]*:", "", view.format):
        raise TypeError("weft.KV: a value of Python objects would be their addresses; pickle it, or convert the array")
    return view


def _address(buffer: Buffer) -> tuple[object, int, object]:
    """The memory of a buffer: what ctypes takes for its address, its length, and what keeps it alive."""
    if isinstance(buffer, bytes):
        return buffer, len(buffer), buffer
    view = _view(buffer)
    if view.readonly or view.nbytes == 0:
        copied = view.tobytes()
        return copied, len(copied), copied
    held = (ctypes.c_char * view.nbytes).from_buffer(view)
    return ctypes.addressof(held), view.nbytes, held


# ---- what values are ----


def _same(value: Buffer) -> Buffer:
    return value


def _pack_array(array: Value) -> Buffer:
    """NumPy's own format of files (.npy), with type and shape."""
    import numpy

    if not isinstance(array, (numpy.ndarray, numpy.generic)):
        raise TypeError(f"weft.KV: values='arrays' takes arrays and numbers of NumPy, not {type(array).__name__}")
    if array.dtype.hasobject:
        raise TypeError("weft.KV: an array of Python objects is no array of numbers; values='objects' takes it")
    stream = io.BytesIO()
    numpy.lib.format.write_array(stream, numpy.asarray(array), allow_pickle=False)
    return stream.getbuffer()


def _unpack_array(value: bytes) -> Value:
    import numpy

    try:
        return numpy.lib.format.read_array(io.BytesIO(value), allow_pickle=False)
    except ValueError as error:
        raise ValueError(f"weft.KV: a value is no array that values='arrays' has put: {error}") from None


def _pack_object(value: Value) -> Buffer:
    import pickle

    return pickle.dumps(value, protocol=5)


def _unpack_object(value: bytes) -> Value:
    import pickle

    try:
        return pickle.loads(value)
    except (pickle.UnpicklingError, EOFError) as error:
        raise ValueError(f"weft.KV: a value is no object that values='objects' has put: {error}") from None


_KINDS: dict[str, tuple[Callable[[Value], Buffer], Callable[[bytes], Value]]] = {
    "bytes": (_same, _same),  # type: ignore[dict-item]
    "arrays": (_pack_array, _unpack_array),
    "objects": (_pack_object, _unpack_object),
}


def _name(name: str | os.PathLike[str]) -> str:
    if not isinstance(name, str):
        path = os.fspath(name) if isinstance(name, os.PathLike) else None
        if not isinstance(path, str):
            raise TypeError(f"weft.KV: a name is a str or a path, not {type(name).__name__}")
        name = os.path.abspath(path)  # with a slash in it, or it would be the name of a store in /dev/shm
    if "\0" in name:
        raise ValueError(f"weft.KV: a name cannot hold a NUL: {name!r}")
    return name


def _max_bytes(max_bytes: int) -> int:
    try:
        wanted = operator.index(max_bytes)
    except TypeError:
        raise TypeError(f"weft.KV: max_bytes is a whole number, not {type(max_bytes).__name__}") from None
    # Before ctypes cuts it to 64 bits.
    if wanted != 0 and not _LEAST_BYTES <= wanted <= _MOST_BYTES:
        raise ValueError(f"weft.KV: max_bytes is {wanted}; from {_LEAST_BYTES} to {_MOST_BYTES} are possible")
    return wanted


class _Values(ValuesView):
    """The values of the keys that are there when their turn comes."""

    _mapping: KV

    def __iter__(self) -> Iterator[Value]:
        for _, value in self._mapping.items():
            yield value

    def __contains__(self, value: object) -> bool:
        return any(one == value for one in self)


class _Items(ItemsView):
    """The keys that are there when their turn comes, with their values."""

    _mapping: KV

    def __iter__(self) -> Iterator[tuple[bytes, Value]]:
        for key in self._mapping:
            value = self._mapping._get(key)
            if value is not None:  # deleted since it was found
                yield key, self._mapping._unpack(value)


class KV(MutableMapping):
    """Keys and values that processes of a machine share: a mapping from bytes, or str in UTF-8, to bytes.

    Reading takes no lock and waits for nobody. Writing is one process at a time. A process that is killed leaves each
    key with its old value or its new one.

        store = weft.KV("features", max_bytes=1 << 30)
        store["user:7"] = array            # any buffer
        value = store["user:7"]            # bytes
        store.get_into("user:7", array)    # without a copy in between

        store = weft.KV("features", values="arrays")
        store["user:7"] = array            # with its type and shape
        value = store["user:7"]            # an array, of the caller's own

    `name`: a store of this user in /dev/shm, or, with a slash in it or as a pathlib.Path, a file. It is made if there
    is none, unless `create` is False; `exclusive` fails if there is one. `max_bytes` is the size that a new one may
    grow to; a store that is there keeps its own. The store stays until `unlink()`. Nothing is evicted: a store that is
    full raises OSError with errno ENOSPC.

    `values`: "bytes"; "arrays", those of NumPy, which keep type and shape (as files of NumPy's format .npy); or
    "objects", whatever can be pickled. All processes that use the store say the same. Who unpickles runs what is in the
    value: all who may write the store have to be trusted.

    `timeout`: how many seconds one and the same change of another process may keep a change waiting. Then TimeoutError
    says which process that is, which may be stopped. None waits for ever.

    Keys are str, bytes, bytearray or memoryview; values are buffers. `get_versioned`, `compare_and_set` and
    `compare_and_delete` change what nobody else has changed meanwhile; `setdefault`, `pop` and `popitem` are made of
    these, so that of several processes one gets a key. `items()` and `values()` leave out keys that others delete on
    the way; `dict(store)` raises KeyError for these, `dict(store.items())` does not.

    An object may be used by all threads, and after a fork. It can be sent to other processes, which open the store
    anew. Iteration gives keys as bytes; a key that exists all the while comes once, whatever else is put and deleted.

    Raises OSError of the kind that belongs to what is wrong, with the way out as its text; KeyError for a missing key.
    """

    _store: int | None = None  # its address, while it is open

    def __init__(
        self,
        name: str | os.PathLike[str],
        max_bytes: int = 0,
        *,
        create: bool = True,
        exclusive: bool = False,
        read_only: bool = False,
        timeout: float | None = _USUAL_TIMEOUT_S,
        values: str = "bytes",
    ) -> None:
        if values not in _KINDS:
            raise ValueError(f"weft.KV: values={values!r}; there are {', '.join(_KINDS)}")
        self._values, (self._pack, self._unpack) = values, _KINDS[values]
        self._name, self._read_only, self._timeout = _name(name), read_only, timeout
        _shm.check_timeout(timeout)
        if exclusive and (read_only or not create):
            raise ValueError("weft.KV: exclusive=True is for making a store, not with create=False or read_only=True")
        flags = _READ_ONLY if read_only else 0
        if create and not read_only:
            flags |= _CREATE | (_EXCLUSIVE if exclusive else 0)
        self._calls = _Calls()
        store = ctypes.c_void_p()
        path = os.fsencode(self._name)
        _shm.check(self._calls.open(ctypes.addressof(store), path, _max_bytes(max_bytes), flags))
        self._store = store.value
        if timeout != _USUAL_TIMEOUT_S:
            longest = None if timeout is None else _timespec(timeout)
            _shm.check(self._calls.set_timeout(self._store, None if longest is None else ctypes.addressof(longest)))

    @property
    def name(self) -> str:
        return self._name

    def close(self) -> None:
        """Ends the use of the store by this object; the store stays. Other threads must not be using it."""
        store = self.__dict__.pop("_store", None)  # in one step: of several threads one closes it
        if store is not None:
            self._calls.close(store)

    def unlink(self) -> None:
        """Removes the store's name. Who has it open goes on using it."""
        _shm.check(self._calls.unlink(os.fsencode(self._name)))

    def __enter__(self) -> KV:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __del__(self) -> None:
        self.close()

    def __reduce__(self) -> tuple[object, tuple[str, bool, float | None, str]]:
        return _reopen, (self._name, self._read_only, self._timeout, self._values)

    def __repr__(self) -> str:
        return f"weft.KV({self._name!r}{'' if self._store is not None else ', closed'})"

    def _open(self) -> int:
        if self._store is None:
            raise ValueError("weft.KV: the store is closed")
        return self._store

    def _get(self, key: bytes) -> bytes | None:
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

    def _need(self, key: Key) -> bytes:
        value = self._get(_key(key))
        if value is None:
            raise KeyError(key)
        return value

    def __getitem__(self, key: Key) -> Value:
        return self._unpack(self._need(key))

    def get_versioned(self, key: Key) -> tuple[Value, int]:
        """The value and its version. Raises KeyError."""
        value, version = self._need(key), _room.version.value
        return self._unpack(value), version

    def get_into(self, key: Key, buffer: bytearray | memoryview) -> int:
        """Copies the value into a writable buffer, such as an array of NumPy's, and returns its length in bytes.

        Raises KeyError; ValueError if the buffer is too short, and then it holds nothing of use."""
        if self._values != "bytes":
            raise ValueError(f"weft.KV: get_into() copies bytes; this store has values={self._values!r}")
        name = _key(key)
        if _view(buffer).readonly:
            raise ValueError("weft.KV: the buffer cannot be written")
        address, size, _held = _address(buffer)
        room = _room
        error = self._calls.get(self._open(), name, len(name), address, size, room.length_at, room.version_at)
        if error == errno.ENOENT:
            raise KeyError(key)
        if error == errno.ERANGE:
            raise ValueError(f"weft.KV: the value has {room.length.value} bytes, the buffer {size}")
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

    def put(self, key: Key, value: Value) -> int:
        """Gives the key a value, and returns the version of that."""
        name, room = _key(key), _room
        address, size, _held = _address(self._pack(value))
        _shm.check(self._calls.put(self._open(), name, len(name), address, size, room.version_at))
        return room.version.value

    def __setitem__(self, key: Key, value: Value) -> None:
        self.put(key, value)

    def compare_and_set(self, key: Key, value: Value, version: int) -> int | None:
        """Gives the key a value if it has this version; 0: if it does not exist. The new version, or None: it has
        another one."""
        name, room = _key(key), _room
        address, size, _held = _address(self._pack(value))
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

    def compare_and_delete(self, key: Key, version: int) -> bool:
        """Deletes the key if it has this version. False: it has another one, or does not exist."""
        name = _key(key)
        error = self._calls.delete_if(self._open(), name, len(name), version)
        if error in (errno.EAGAIN, errno.ENOENT):
            return False
        _shm.check(error)
        return True

    def setdefault(self, key: Key, default: Value) -> Value:
        """The value of the key, which is `default` from now on if it had none. All processes get the same one."""
        while True:
            value = self._get(_key(key))
            if value is not None:
                return self._unpack(value)
            if self.compare_and_set(key, default, 0) is not None:
                return self._unpack(_view(self._pack(default)).tobytes())

    def pop(self, key: Key, *default: object) -> object:
        """Deletes the key and returns its value; of several processes one gets it. Without the key: `default`, or
        KeyError."""
        if len(default) > 1:
            raise TypeError(f"weft.KV: pop() takes a key and one default, not {len(default)}")
        while True:
            value = self._get(_key(key))
            if value is None:
                if default:
                    return default[0]
                raise KeyError(key)
            # Before it is deleted: what cannot be unpacked stays.
            version = _room.version.value
            unpacked = self._unpack(value)
            if self.compare_and_delete(key, version):
                return unpacked

    def popitem(self) -> tuple[bytes, Value]:
        """Deletes a key and returns it with its value; of several processes one gets it. KeyError: there are none."""
        nothing = object()
        for key in self:
            value = self.pop(key, nothing)
            if value is not nothing:
                return key, value
        raise KeyError("the store is empty")

    def clear(self) -> None:
        """Deletes the keys. Those that others put meanwhile may stay."""
        # Not key by key from the first on: behind each deleted key the search for the first one is longer.
        for key in self:
            error = self._calls.delete(self._open(), key, len(key))
            if error != errno.ENOENT:  # another one has deleted it
                _shm.check(error)

    def items(self) -> _Items:
        return _Items(self)

    def values(self) -> _Values:
        return _Values(self)

    def __contains__(self, key: object) -> bool:
        try:
            self.version(key)  # type: ignore[arg-type]
        except TypeError:
            return False
        except KeyError:
            return False
        return True

    def __iter__(self) -> Iterator[bytes]:
        calls = self._calls
        # Of its own: others may run between two keys.
        size, length = _USUAL_BYTES, ctypes.c_size_t()
        buffer = ctypes.create_string_buffer(size)
        step, before = calls.first, 0
        while True:
            length.value = before
            # It may be closed since the last turn.
            error = step(self._open(), ctypes.addressof(buffer), size, ctypes.addressof(length))
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

    def wait(self, version: int, timeout: float | None = None) -> int:
        """Waits until something has changed since `version`, and returns the latest version; after `timeout` seconds
        it is the same. `stat().version` says where to begin."""
        _shm.check_timeout(timeout)
        calls, now = self._calls, ctypes.c_uint64()
        end = None if timeout is None else time.monotonic() + timeout
        while True:
            until = time.monotonic() + _SLICE_S
            until = until if end is None else min(until, end)
            deadline = _timespec(until)
            error = calls.wait(self._open(), version, ctypes.addressof(deadline), ctypes.addressof(now))
            if error == 0:
                return now.value
            if error != errno.ETIMEDOUT:
                raise _shm.failed(error)
            if end is not None and time.monotonic() >= end:
                return version


def _reopen(name: str, read_only: bool, timeout: float | None, values: str = "bytes") -> KV:
    try:
        return KV(name, create=False, read_only=read_only, timeout=timeout, values=values)
    except FileNotFoundError as missing:
        text = f"weft.KV: the store {name!r} was unlinked after it was sent; unlink it when all have opened it"
        raise FileNotFoundError(missing.errno, text) from None
