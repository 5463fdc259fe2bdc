# SPDX-License-Identifier: Apache-2.0
"""Tools that give each process that they start one thread, unless a variable says otherwise: Dask, Ray, torchrun.

Where the processes share the CPUs of the node, each may use all of them. The variable says so then, and is inherited.
What the user has set stays.
"""

from __future__ import annotations

import functools
import os

from weft._import_hooks import when_imported
from weft._settings import is_node

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType

# By the module that reads the variables.
_VARIABLES = {
    "distributed.nanny": ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"),
    "ray._private.utils": ("OMP_NUM_THREADS",),
    "torch.distributed.run": ("OMP_NUM_THREADS",),
}


def set_threads(name: str, _module: ModuleType | None = None) -> None:
    """For the tool of that module, before it reads them."""
    if not is_node(os.environ):
        return
    from weft import _runtime

    cpus = int(_runtime.load().omp_get_num_procs())
    for variable in _VARIABLES[name]:
        os.environ.setdefault(variable, str(cpus))


_HOOKS = {name: functools.partial(set_threads, name) for name in _VARIABLES}


def install() -> None:
    """Once such a module is imported."""
    for name, hook in _HOOKS.items():
        when_imported(name, hook)
