# SPDX-License-Identifier: Apache-2.0
"""libweft-shm: what weft's classes of memory between processes have in common."""

from __future__ import annotations

import ctypes
import functools
import os

from weft import _files


@functools.lru_cache(maxsize=1)
def library() -> ctypes.CDLL:
    """The library; loaded at the first use."""
    loaded = ctypes.CDLL(_files.require(_files.SHM))
    loaded.weft_shm_error.restype = ctypes.c_char_p
    return loaded


def failed(error: int) -> OSError:
    """What the thread's last call has said, as an exception of the kind that belongs to the errno value."""
    text = library().weft_shm_error().decode(errors="replace")
    return OSError(error, text or os.strerror(error))


def check(error: int) -> None:
    if error != 0:
        raise failed(error)
