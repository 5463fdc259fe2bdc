#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Nanoseconds of one get and put of 64-byte values from Python, as JSON: python_get.py STORE MILLISECONDS."""

import contextlib
import json
import os
import pathlib
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator

KEYS, CHUNK = 1000, 500
NAMES = [f"{number:016d}".encode() for number in range(KEYS)]
MISSING = [f"m{number:015d}".encode() for number in range(KEYS)]
VALUE = bytes(range(64))
Calls = dict[str, Callable[[bytes], object]]


@contextlib.contextmanager
def weft_kv() -> Iterator[Calls]:
    import weft

    with tempfile.TemporaryDirectory(prefix="weft-bench-kv-", dir="/dev/shm") as folder:
        store = weft.KV(str(pathlib.Path(folder) / "store"), max_size=16 << 20, create=True)
        buffer = bytearray(64)
        calls: Calls = {"put": lambda key: store.__setitem__(key, VALUE), "get": store.get}
        yield calls | {"get_into": lambda key: store.get_into(key, buffer)}
        store.close()


@contextlib.contextmanager
def lmdb_store() -> Iterator[Calls]:
    """A transaction for each call, as a program that wants to see what others put."""
    import lmdb

    with tempfile.TemporaryDirectory(prefix="weft-bench-kv-", dir="/dev/shm") as folder:
        environment = lmdb.open(folder, map_size=64 << 20, sync=False, writemap=True)

        def put(key: bytes) -> None:
            with environment.begin(write=True) as transaction:
                transaction.put(key, VALUE)

        def get(key: bytes) -> bytes | None:
            with environment.begin() as transaction:
                return transaction.get(key)

        yield {"put": put, "get": get}
        environment.close()


@contextlib.contextmanager
def dict_store() -> Iterator[Calls]:
    """For scale: nothing is shared."""
    store: dict[bytes, bytes] = {}
    yield {"put": lambda key: store.__setitem__(key, VALUE), "get": store.get}


STORES = {"weft.KV": weft_kv, "lmdb": lmdb_store, "dict": dict_store}


def one_call(call: Callable[[bytes], object], keys: list[bytes], seconds: float) -> float:
    chunks = []
    at, end = 0, time.perf_counter() + seconds
    while not chunks or time.perf_counter() < end:
        part = keys[at : at + CHUNK]
        at = (at + CHUNK) % KEYS
        begin = time.perf_counter_ns()
        for key in part:
            call(key)
        chunks.append((time.perf_counter_ns() - begin) / CHUNK)
    return statistics.median(chunks)


def main() -> int:
    name, seconds = sys.argv[1], float(sys.argv[2]) / 1000
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    with STORES[name]() as calls:
        found = {"put": one_call(calls["put"], NAMES, seconds)}
        for key in NAMES:
            calls["put"](key)
        if calls["get"](NAMES[7]) != VALUE or calls["get"](MISSING[7]) is not None:
            print(f"{name}: get does not return what was put", file=sys.stderr)
            return 1
        found["get, hit"] = one_call(calls["get"], NAMES, seconds)
        found["get, miss"] = one_call(calls["get"], MISSING, seconds)
        if "get_into" in calls:
            found["get_into"] = one_call(calls["get_into"], NAMES, seconds)
    print(json.dumps(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
