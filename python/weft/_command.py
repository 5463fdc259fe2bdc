# SPDX-License-Identifier: Apache-2.0
"""The command `weft` of an installed package: the program inside it, in place of this process."""

from __future__ import annotations

import os
import sys

from weft import _files


def main() -> None:
    """Replaces this process."""
    try:
        os.execv(_files.require(_files.COMMAND), ["weft", *sys.argv[1:]])
    except OSError as error:
        print(f"weft: {error}", file=sys.stderr)
        sys.exit(1)
