# SPDX-License-Identifier: Apache-2.0
"""Which libraries a shared library asks for, and what it defines, by its file."""

from __future__ import annotations

import os
import struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import BinaryIO

_PT_LOAD, _PT_DYNAMIC = 1, 2
_DT_NEEDED, _DT_STRTAB, _DT_SYMTAB, _DT_STRSZ, _DT_GNU_HASH = 1, 5, 6, 10, 0x6FFFFEF5
_SEGMENT = struct.Struct("=IIQQQQQQ")  # p_type, p_flags, p_offset, p_vaddr, p_paddr, p_filesz, p_memsz, p_align


def _read(file: BinaryIO, offset: int, size: int) -> bytes:
    file.seek(offset)
    return file.read(size)


def _segments(file: BinaryIO) -> list[tuple[int, ...]]:
    header = _read(file, 0, 64)
    if header[:4] != b"\x7fELF" or header[4] != 2:  # 64 bits
        return []
    table, size, count = struct.unpack_from("=Q", header, 32)[0], *struct.unpack_from("=HH", header, 54)
    data = _read(file, table, size * count)
    return [_SEGMENT.unpack_from(data, i * size) for i in range(count)]


def needed(path: str) -> list[str]:
    """The names in its DT_NEEDED entries; none for a file that is gone or no library."""
    try:
        with open(path, "rb") as file:
            segments = _segments(file)
            dynamic = next((s for s in segments if s[0] == _PT_DYNAMIC), None)
            if dynamic is None:
                return []
            data = _read(file, dynamic[2], dynamic[5] // 16 * 16)
            entries = list(struct.iter_unpack("=QQ", data))
            address = dict(entries)
            strings = address[_DT_STRTAB]
            load = next(s for s in segments if s[0] == _PT_LOAD and s[3] <= strings < s[3] + s[5])
            text = _read(file, strings - load[3] + load[2], address[_DT_STRSZ])
    except (OSError, struct.error, KeyError, StopIteration):
        return []
    return [os.fsdecode(text[at : text.index(b"\0", at)]) for tag, at in entries if tag == _DT_NEEDED]


def _hash(name: bytes) -> int:
    value = 5381
    for letter in name:
        value = (value * 33 + letter) & 0xFFFFFFFF
    return value


def defines(path: str, *names: str) -> bool:
    """Whether it defines a function of each of these names for others; False for a file that is gone or no library."""
    try:
        with open(path, "rb") as file:
            segments = _segments(file)
            dynamic = next(s for s in segments if s[0] == _PT_DYNAMIC)
            address = dict(struct.iter_unpack("=QQ", _read(file, dynamic[2], dynamic[5] // 16 * 16)))

            def read(at: int, size: int) -> bytes:
                load = next(s for s in segments if s[0] == _PT_LOAD and s[3] <= at < s[3] + s[5])
                return _read(file, at - load[3] + load[2], size)

            table, symbols, strings = address[_DT_GNU_HASH], address[_DT_SYMTAB], address[_DT_STRTAB]
            buckets, first, words, _ = struct.unpack("=4I", read(table, 16))
            heads = table + 16 + 8 * words

            def is_defined(name: bytes) -> bool:
                wanted = _hash(name)
                index = struct.unpack("=I", read(heads + 4 * (wanted % buckets), 4))[0]
                while index >= first:
                    value = struct.unpack("=I", read(heads + 4 * (buckets + index - first), 4))[0]
                    if value | 1 == wanted | 1:
                        at, _, _, section = struct.unpack("=IBBH", read(symbols + 24 * index, 8))
                        if section != 0 and read(strings + at, len(name) + 1) == name + b"\0":
                            return True
                    if value & 1:
                        break
                    index += 1
                return False

            return buckets > 0 and all(is_defined(os.fsencode(name)) for name in names)
    except (OSError, struct.error, KeyError, StopIteration):
        return False
