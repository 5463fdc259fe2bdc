# SPDX-License-Identifier: Apache-2.0
"""Run by a Python that starts under `python -m weft`: this folder stands first in its PYTHONPATH then.

Leaves no trace in sys.path, and gives way to the sitecustomize module that would have been run otherwise. Any Python
may start here, also one that weft's package is too new for. weft itself is loaded only when there is something to do.
"""

import os
import sys

_HERE = os.path.dirname(os.path.abspath(__file__))
# Modules that weft looks after when their code has run, and before it runs: by an import or as `python -m`.
_AFTER = ("joblib.parallel", "numba.np.ufunc.omppool", "threadpoolctl")
_BEFORE = ("distributed.nanny", "ray._private.utils", "torch.distributed.run")


class _Waits:
    """Stands among the finders and marks the loaders of modules that weft has to look after.

    It stays there: a thread that is at a later finder would leave out the next one if the list became shorter.
    """

    def __init__(self):
        self.package = None  # where weft's package is, once it is wanted

    def find_spec(self, name, path=None, target=None):
        """Imports nothing. The caller holds the lock of all imports; another thread may hold that of a module of
        weft's and wait for this one."""
        if name == "weft":
            return self.package
        if name not in _AFTER and name not in _BEFORE:
            return None
        finders = list(sys.meta_path)
        for finder in finders[finders.index(self) + 1 :]:
            find = getattr(finder, "find_spec", None)
            spec = find(name, path, target) if find is not None else None
            if spec is not None:
                self._mark(name, spec.loader)
                return spec
        return None

    def _mark(self, name, loader):
        method = "get_code" if name in _BEFORE else "exec_module"
        if isinstance(loader, type) or not hasattr(loader, method):
            return
        original = getattr(loader, method)

        def call(module):
            vars(loader).pop(method, None)  # the class's own shows again
            result = original(module)
            if name in _BEFORE:
                _startup().prepare(name)
            else:
                _startup().care(name, module)
            return result

        setattr(loader, method, call)


_WAITS = _Waits()


def _startup():
    """Without a change of sys.path, which other threads may be reading or changing."""
    if "weft" not in sys.modules:
        from importlib.machinery import PathFinder

        _WAITS.package = PathFinder.find_spec("weft", [os.path.dirname(os.path.dirname(_HERE))])
    from weft import _startup

    return _startup


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
    sys.meta_path.insert(0, _WAITS)
    if os.environ.get("WEFT_MODE") == "static" or os.environ.get("WEFT_EXPLAIN"):
        _startup().start()


_start()
