# SPDX-License-Identifier: Apache-2.0
"""What sitecustomize loads of weft: at the start what the user wants, later what packages need."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType


def start() -> None:
    """Reads the variables that `python -m weft` has set."""
    if os.environ.get("WEFT_MODE") == "static":
        from weft import _static

        _static.install()
    wanted = os.environ.get("WEFT_EXPLAIN")
    if wanted:
        from weft import _explain

        _explain.install(wanted)


def care(name: str, module: ModuleType) -> None:
    """What threadpoolctl, numba and joblib need. The code of this one of them has just run."""
    from weft import _import_hooks, _limits, _numba

    _limits.install()
    _numba.install()
    _import_hooks.FINDER.run(name, module)


def prepare(name: str) -> None:
    """The same for a tool that starts processes. The code of this module of it is about to run."""
    from weft import _launchers

    _launchers.set_threads(name)
