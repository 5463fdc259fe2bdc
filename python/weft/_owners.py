# SPDX-License-Identifier: Apache-2.0
"""To which installed package a shared library belongs."""

from __future__ import annotations

import os

# Where packages lie, and the folders that tools make for libraries beside them.
_SITES = ("site-packages", "dist-packages")
_BESIDE = (".libs", ".dylibs")


def owner(path: str) -> str:
    """The name of the package, or "the system" for files outside of Python's folders."""
    parts = path.split(os.sep)
    for site in _SITES:
        if site not in parts:
            continue
        rest = parts[parts.index(site) + 1 :]
        folder = rest[0]
        for ending in _BESIDE:
            folder = folder.removesuffix(ending)
        return folder.split(".")[0] if len(rest) == 1 else folder
    return "the system"
