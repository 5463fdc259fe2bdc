# SPDX-License-Identifier: Apache-2.0
"""Call a function when a module has been imported, now or later, without importing it."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType
    from typing import Any

    Hook = Callable[[ModuleType], None]


class _Finder:
    """Stands first among the finders, finds nothing itself, and marks the loaders of modules that are waited for."""

    def __init__(self) -> None:
        self.hooks: dict[str, list[Hook]] = {}

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name not in self.hooks:
            return None
        for finder in sys.meta_path:
            find = getattr(finder, "find_spec", None)
            spec: ModuleSpec | None = find(name, path, target) if finder is not self and find is not None else None
            if spec is not None:
                self._mark(spec)
                return spec
        return None

    def _mark(self, spec: ModuleSpec) -> None:
        # A loader that is a class (frozen modules) serves many modules: those are left alone.
        loader: Any = spec.loader
        if isinstance(loader, type) or not hasattr(loader, "exec_module"):
            return
        execute = loader.exec_module

        def exec_module(module: ModuleType) -> None:
            del loader.exec_module  # the class's own shows again
            execute(module)
            for hook in self.hooks.pop(spec.name, ()):
                hook(module)

        loader.exec_module = exec_module


FINDER = _Finder()


def when_imported(name: str, hook: Hook) -> None:
    """Calls `hook` with the module `name`: at once if it is imported, else right after its code has run."""
    module = sys.modules.get(name)
    spec = getattr(module, "__spec__", None)
    if module is not None and not getattr(spec, "_initializing", False):
        hook(module)
        return
    FINDER.hooks.setdefault(name, []).append(hook)
    if FINDER not in sys.meta_path:
        sys.meta_path.insert(0, FINDER)
