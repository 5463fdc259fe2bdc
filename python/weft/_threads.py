# SPDX-License-Identifier: Apache-2.0
"""Which library each thread of this process was started by.

glibc describes its threads to debuggers: symbols that say where in a thread's record its number and its start routine
stand, and where the list of records begins. The file that the start routine lies in is the thread's owner.
"""

from __future__ import annotations

import ctypes
import os
import struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_LISTS = ("_dl_stack_used", "_dl_stack_user")
_MOST_THREADS = 1 << 16  # the list may change while it is walked


class Mappings:
    """Which file lies at an address."""

    def __init__(self) -> None:
        self._ranges: list[tuple[int, int, str]] = []
        with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as maps:
            for line in maps:
                fields = line.split(None, 5)
                if len(fields) == 6 and fields[5].startswith("/"):
                    begin, end = (int(bound, 16) for bound in fields[0].split("-"))
                    self._ranges.append((begin, end, fields[5].rstrip("\n")))

    def file(self, address: int) -> str | None:
        """None: no file."""
        return next((file for begin, end, file in self._ranges if begin <= address < end), None)


class Memory:
    """This process's memory. A wrong address is an OSError."""

    def __init__(self) -> None:
        self._file = os.open("/proc/self/mem", os.O_RDONLY | os.O_CLOEXEC)

    def word(self, address: int, size: int = 8) -> int:
        return int(struct.unpack("=Q" if size == 8 else "=I", os.pread(self._file, size, address))[0])

    def text(self, address: int) -> bytes:
        """Up to its NUL."""
        return os.pread(self._file, 4096, address).partition(b"\0")[0]  # PATH_MAX

    def close(self) -> None:
        os.close(self._file)


def _offset(library: ctypes.CDLL, name: str) -> int:
    """Raises ValueError where glibc does not describe itself (before 2.34, or another libc)."""
    return int((ctypes.c_uint32 * 3).in_dll(library, f"_thread_db_{name}")[2])


def _records(library: ctypes.CDLL, memory: Memory) -> Iterator[int]:
    linker = ctypes.addressof(ctypes.c_char.in_dll(library, "_rtld_global"))
    link = _offset(library, "pthread_list")
    for name in _LISTS:
        head = linker + _offset(library, f"rtld_global_{name}")
        at = memory.word(head)
        for _ in range(_MOST_THREADS):
            if at == head:
                break
            yield at - link
            at = memory.word(at)


def _starter(memory: Memory, mappings: Mappings, routine: int, argument: int) -> str | None:
    file = mappings.file(routine)
    if file is None or "libstdc++" not in file:
        return file
    # std::thread: the argument is an object of the starter's class.
    try:
        return mappings.file(memory.word(argument)) or file
    except OSError:
        return file


def starters() -> dict[int, str | None]:
    """For each thread's number the file that started it; None: unknown. Without the initial thread."""
    threads = {int(number): None for number in os.listdir("/proc/self/task")}
    found: dict[int, str | None] = dict(threads)
    memory = Memory()
    try:
        library, mappings = ctypes.CDLL(None), Mappings()
        number, routine = _offset(library, "pthread_tid"), _offset(library, "pthread_start_routine")
        for record in _records(library, memory):
            thread = memory.word(record + number, 4)
            if thread in threads:
                start, argument = memory.word(record + routine), memory.word(record + routine + 8)
                found[thread] = _starter(memory, mappings, start, argument)
    except (ValueError, OSError, struct.error):
        pass
    finally:
        memory.close()
    found.pop(os.getpid(), None)
    return found
