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
    """Stands before the others, finds nothing itself, and marks the loaders of modules that are waited for.

    Threads import at the same time. Each change below is one step of a list or a dictionary: a lock would have to be
    held while hooks import modules, whose own locks others hold that want this one.
    """

    def __init__(self) -> None:
        self.asked: dict[tuple[str, Hook], object] = {}
        self.waiting: list[tuple[str, Hook]] = []

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if not any(waited_for == name for waited_for, _ in tuple(self.waiting)):
            return None
        # Only those behind: others that stand first do the same.
        finders = list(sys.meta_path)
        for finder in finders[finders.index(self) + 1 :]:
            find = getattr(finder, "find_spec", None)
            spec: ModuleSpec | None = find(name, path, target) if find is not None else None
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
            vars(loader).pop("exec_module", None)  # the class's own shows again
            execute(module)
            self.run(spec.name, module)

        loader.exec_module = exec_module

    def run(self, name: str, module: ModuleType) -> None:
        """Calls the hooks of a module whose code has run."""
        for entry in tuple(self.waiting):
            if entry[0] != name:
                continue
            try:
                self.waiting.remove(entry)
            except ValueError:  # another thread calls it
                continue
            entry[1](module)


FINDER = _Finder()
sys.meta_path.insert(0, FINDER)


def when_imported(name: str, hook: Hook) -> None:
    """Calls `hook` with the module `name`: at once if it is imported, else right after its code has run.

    Once, however often and by how many threads it is asked for."""
    own = object()
    if FINDER.asked.setdefault((name, hook), own) is not own:
        return
    FINDER.waiting.append((name, hook))
    # Only now: the module may come at any time.
    module = sys.modules.get(name)
    if module is not None and not getattr(getattr(module, "__spec__", None), "_initializing", False):
        FINDER.run(name, module)
