# SPDX-License-Identifier: Apache-2.0
"""weft.enable(): weft from inside a program that has started already."""

from __future__ import annotations

import importlib.machinery
import os
import threading
import warnings

from weft import _launchers, _limits, _numba, _owners, _runtime
from weft._settings import Settings, store_launch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec
    from types import ModuleType


class TooLateError(RuntimeError):
    """Other OpenMP runtimes are mapped, and weft cannot take their place any more."""


_LAUNCH = "run the program by `python -m weft`, which needs no change to it"


def _check_in_time(late: str) -> None:
    others = _runtime.other_runtimes()
    if not others:
        return
    named = ", ".join(f"{path} (of {_owners.owner(path)})" for path in others)
    message = f"mapped already: {named}. Call weft.enable() before the imports that bring them, or {_LAUNCH}"
    if late == "error":
        raise TooLateError(message)
    warnings.warn(f"weft.enable(): {message}", RuntimeWarning, stacklevel=3)


def _check_settings(settings: Settings) -> None:
    """A runtime that is mapped has read its settings."""
    before = {name: value for name, value in os.environ.items() if name.startswith("WEFT_")}
    after = dict(before)
    settings.store(after)
    changed = sorted(name for name in after if after[name] != before.get(name) and name != "WEFT_STATIC_FACTOR")
    if _runtime.mapped() is not None and changed:
        raise TooLateError(
            f"weft is in this process and has read its settings: {', '.join(changed)} cannot change any more. "
            f"Call weft.enable() before other imports, or {_LAUNCH}"
        )


# One call at a time: behind its own call, each thread may rely on all that enable() does.
_lock = threading.Lock()
_adopts_at_imports = False


def _adopt_at_imports(blas: _runtime.Blas) -> None:
    """Each extension module may bring a copy of OpenBLAS: take it over before the module's code can call it."""
    global _adopts_at_imports
    if _adopts_at_imports:
        return
    _adopts_at_imports = True
    create_module = importlib.machinery.ExtensionFileLoader.create_module

    def create_and_adopt(self: importlib.machinery.ExtensionFileLoader, spec: ModuleSpec) -> ModuleType:
        module = create_module(self, spec)
        blas.adopt()
        return module

    importlib.machinery.ExtensionFileLoader.create_module = create_and_adopt  # type: ignore[method-assign]


def enable(
    *,
    mode: str | None = None,
    node: bool | None = None,
    weight: int | None = None,
    cpus: int | None = None,
    stats: bool | str | None = None,
    factor: float | None = None,
    reproducible: bool | None = None,
    late: str = "error",
    children: bool = True,
) -> None:
    """Puts this process, and with `children` the programs that it starts, on weft.

    To be called before modules are imported that use OpenMP. Where one is here already, `late` says what happens:
    "error" raises TooLateError, "warn" warns and does what is still possible (OpenBLAS copies, later runtimes'
    symbols, child processes). Under `python -m weft` only settings are left to do. May be called again.
    """
    if late not in ("error", "warn"):
        raise ValueError(f"late {late!r}: there are 'error' and 'warn'")
    settings = Settings(
        mode=mode, node=node, weight=weight, cpus=cpus, stats=stats, factor=factor, reproducible=reproducible
    )
    with _lock:
        _check_settings(settings)
        _check_in_time(late)
        settings.store(os.environ)
        _runtime.load()
        _runtime.load_permits()
        blas = _runtime.blas()
        if blas is not None:
            blas.adopt()
            if not _runtime.audited():
                _adopt_at_imports(blas)
        if children:
            store_launch(os.environ)
        if os.environ.get("WEFT_MODE") == "static":
            from weft import _static

            _static.install()
        _launchers.install()
        _limits.install()
        _numba.install()
