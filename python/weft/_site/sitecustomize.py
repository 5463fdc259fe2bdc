# SPDX-License-Identifier: Apache-2.0
"""Run by a Python that starts under `python -m weft`: this folder stands first in its PYTHONPATH then.

Leaves no trace in sys.path, and gives way to the sitecustomize module that would have been run otherwise. Any Python
may start here, also one that weft's package is too new for.
"""

import os
import sys


def _start():
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [entry for entry in sys.path if entry != here]
    this = sys.modules.pop("sitecustomize")
    try:
        import sitecustomize  # noqa: F401
    except ImportError as error:
        if getattr(error, "name", "sitecustomize") != "sitecustomize":
            raise
        sys.modules["sitecustomize"] = this
    if sys.version_info < (3, 9):
        return
    sys.path.insert(0, os.path.dirname(os.path.dirname(here)))
    try:
        import weft
    finally:
        del sys.path[0]
    if weft:
        from weft import _startup

        _startup.start()


_start()
