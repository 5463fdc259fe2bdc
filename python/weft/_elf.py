# SPDX-License-Identifier: Apache-2.0
"""Which libraries a shared library asks for, by its file."""

from __future__ import annotations

import os
import struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import BinaryIO

_PT_LOAD, _PT_DYNAMIC = 1, 2
_DT_NEEDED, _DT_STRTAB, _DT_STRSZ = 1, 5, 10
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
