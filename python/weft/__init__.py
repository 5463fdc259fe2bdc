# SPDX-License-Identifier: Apache-2.0
"""weft: one pool of threads for all parallel libraries of a process.

`python -m weft app.py` runs a program on it; `enable()` does what can be done from inside. What is used is loaded only
then, so that importing this package costs next to nothing. joblib has a backend "weft" from then on.
"""

from weft._import_hooks import when_imported

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType

    from weft._enable import TooLateError, enable
    from weft._kv import KV
    from weft._magic import load_ipython_extension
    from weft._pools import Pool, pools
    from weft._recorder import NoRecorderError
    from weft._report import report
    from weft._rwlock import RWLock
    from weft._status import status

__all__ = [
    "KV",
    "NoRecorderError",
    "Pool",
    "RWLock",
    "TooLateError",
    "__version__",
    "enable",
    "load_ipython_extension",
    "pools",
    "report",
    "status",
]

_MODULES = {
    "KV": "_kv",
    "NoRecorderError": "_recorder",
    "Pool": "_pools",
    "RWLock": "_rwlock",
    "TooLateError": "_enable",
    "_jupyter_server_extension_points": "_jupyter_server",
    "enable": "_enable",
    "load_ipython_extension": "_magic",
    "pools": "_pools",
    "report": "_report",
    "status": "_status",
}


def __getattr__(name: str) -> object:
    if name == "__version__":
        from weft._version import VERSION as value
    elif name in _MODULES:
        import importlib

        value = getattr(importlib.import_module(f"weft.{_MODULES[name]}"), name)
    else:
        raise AttributeError(f"module 'weft' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> "list[str]":
    return sorted(set(globals()) | set(__all__))


def _offer_backend(parallel: "ModuleType") -> None:
    """To `joblib.parallel_config(backend="weft")`, and so to scikit-learn's n_jobs."""

    def backend(**options: object) -> object:
        from weft._joblib import WeftBackend

        return WeftBackend(**options)

    parallel.register_parallel_backend("weft", backend)


when_imported("joblib.parallel", _offer_backend)
