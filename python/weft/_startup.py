# SPDX-License-Identifier: Apache-2.0
"""What sitecustomize loads of weft: at the start what the user wants, later what packages need."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from importlib.abc import MetaPathFinder


def start() -> None:
    """Reads the variables that `python -m weft` has set."""
    if os.environ.get("WEFT_MODE") == "static":
        from weft import _static

        _static.install()
    wanted = os.environ.get("WEFT_EXPLAIN")
    if wanted:
        from weft import _explain

        _explain.install(wanted)


def care() -> MetaPathFinder:
    """What threadpoolctl and numba need, at their import; the finder that sees it."""
    from weft import _import_hooks, _limits, _numba

    _limits.install()
    _numba.install()
    return _import_hooks.FINDER
