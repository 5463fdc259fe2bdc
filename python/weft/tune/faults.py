# SPDX-License-Identifier: Apache-2.0
"""What the user can mend. The command prints it and ends with its code."""

from __future__ import annotations

FAILED = 1
USAGE = 2


class Fault(Exception):
    def __init__(self, message: str, code: int = FAILED) -> None:
        super().__init__(message)
        self.code = code


def usage(message: str) -> Fault:
    return Fault(message, USAGE)
