# SPDX-License-Identifier: Apache-2.0
"""Run by a Python that starts under `python -m weft`: this folder stands first in its PYTHONPATH then.

Leaves no trace in sys.path, and gives way to the sitecustomize module that would have been run otherwise. Any Python
may start here, also one that weft's package is too new for. weft itself is loaded only when there is something to do.
"""

import os
import sys

_HERE = os.path.dirname(os.path.abspath(__file__))


def _startup():
    sys.path.insert(0, os.path.dirname(os.path.dirname(_HERE)))
    try:
        from weft import _startup
    finally:
        del sys.path[0]
    return _startup


class _Waits:
    """Stands first among the finders until a module is imported that weft has to look after."""

    def find_spec(self, name, path=None, target=None):
        if name not in ("threadpoolctl", "numba.np.ufunc.omppool"):
            return None
        if self in sys.meta_path:  # another thread may be as far
            sys.meta_path.remove(self)
        return _startup().care().find_spec(name, path, target)


def _start():
    sys.path[:] = [entry for entry in sys.path if entry != _HERE]
    this = sys.modules.pop("sitecustomize")
    try:
        import sitecustomize  # noqa: F401
    except ImportError as error:
        if getattr(error, "name", "sitecustomize") != "sitecustomize":
            raise
        sys.modules["sitecustomize"] = this
    if sys.version_info < (3, 9):
        return
    if os.environ.get("WEFT_MODE") == "static" or os.environ.get("WEFT_EXPLAIN"):
        _startup().start()
    sys.meta_path.insert(0, _Waits())


_start()
