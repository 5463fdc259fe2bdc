# SPDX-License-Identifier: Apache-2.0
"""libweft-shm: what weft's classes of memory between processes have in common."""

from __future__ import annotations

import ctypes
import functools
import os
import re

from weft import _files


@functools.lru_cache(maxsize=1)
def load() -> ctypes.CDLL:
    """The library; loaded at the first use."""
    loaded = ctypes.CDLL(_files.require(_files.SHM))
    loaded.weft_shm_error.restype = ctypes.c_char_p
    return loaded


_CLASSES = {"kv": "weft.KV", "rwlock": "weft.RWLock"}
# What the library's texts name, and what that is in Python.
_NAMES = {
    "WEFT_KV_CREATE": "create=True",
    "WEFT_KV_EXCLUSIVE": "exclusive=True",
    "WEFT_KV_READ_ONLY": "read_only=True",
    "WEFT_RWLOCK_PORTABLE": "portable=True",
}


def failed(error: int) -> OSError:
    """What the thread's last call has said, as an exception of the kind that belongs to the errno value."""
    text = load().weft_shm_error().decode(errors="replace")
    text = re.sub(r"^weft_(kv|rwlock)_\w+(?=: )", lambda call: _CLASSES[call[1]], text)
    text = re.sub("|".join(_NAMES), lambda name: _NAMES[name[0]], text)
    return OSError(error, text or os.strerror(error))


def check(error: int) -> None:
    if error != 0:
        raise failed(error)


def check_timeout(timeout: float | None) -> None:
    """ValueError for what is no time to wait for: -1 does not mean for ever, as it does elsewhere."""
    if timeout is not None and not timeout >= 0:
        raise ValueError(f"timeout is {timeout}; give seconds, 0 or more, or None to wait for ever")
