# SPDX-License-Identifier: Apache-2.0
"""What a Python process does first when it runs on weft. Everything else waits until it is needed."""

from __future__ import annotations

import os


def start() -> None:
    """Reads the variables that `python -m weft` has set."""
    if os.environ.get("WEFT_MODE") == "static":
        from weft import _static

        _static.install()
    wanted = os.environ.get("WEFT_EXPLAIN")
    if wanted:
        from weft import _explain

        _explain.install(wanted)
    from weft import _limits, _numba

    _limits.install()
    _numba.install()
