# SPDX-License-Identifier: Apache-2.0
"""Sizes and times as users write and read them."""

from __future__ import annotations

import re

from .faults import usage

_SIZES = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
_SECONDS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0}


def parse_size(text: str) -> int:
    found = re.fullmatch(r"(\d{1,15})([KMG]?)(i?B)?", text.strip(), re.IGNORECASE)
    if not found:
        raise usage(f"--sizes: {text}: a number of bytes is wanted, with K or M behind")
    return int(found[1]) * _SIZES[found[2].upper()]


def parse_seconds(text: str) -> float:
    found = re.fullmatch(r"(\d{1,9}(?:\.\d{1,9})?)([smh]?)", text.strip())
    if not found or float(found[1]) <= 0:
        raise usage(f"--budget: {text}: a time is wanted, as 90s, 5m or 1h")
    return float(found[1]) * _SECONDS[found[2]]


def size(count: int) -> str:
    for unit, letter in ((1 << 20, "M"), (1 << 10, "K")):
        if count >= unit and count % unit == 0:
            return f"{count // unit}{letter}"
    return str(count)


def about(count: float) -> str:
    """Two digits, of what is no measured size."""
    for unit, letter in ((1 << 20, "M"), (1 << 10, "K")):
        if count >= unit:
            value = count / unit
            return f"{value:.{1 if value < 9.95 else 0}f}{letter}"
    return f"{count:.0f}"


def time(nanoseconds: float) -> str:
    """Three digits."""
    for unit, name in ((1e9, "s"), (1e6, "ms"), (1e3, "us")):
        if nanoseconds >= unit:
            value = nanoseconds / unit
            return f"{value:.{2 if value < 10 else 1 if value < 100 else 0}f} {name}"
    return f"{nanoseconds:.0f} ns"


def seconds(count: float) -> str:
    return f"{count:.0f} s" if count < 90 else f"{count / 60:.1f} min"


def percent(share: float) -> str:
    return f"{100 * share:+.0f} %"
