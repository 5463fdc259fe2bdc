# SPDX-License-Identifier: Apache-2.0
"""numba's layer for OpenMP in the child of a fork.

It remembers in which process its threads were launched, and ends any other one ("fork() called from a process already
using GNU OpenMP, this is unsafe"): libgomp would hang there. weft starts over in the child, so the layer is told that
its threads have been launched in this process.
"""

from __future__ import annotations

import os

from weft._import_hooks import when_imported

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType


def _wrap(omppool: ModuleType) -> None:
    import ctypes

    from weft import _runtime

    # How numba itself calls it: the module gives the function's address.
    launch = ctypes.CFUNCTYPE(None, ctypes.c_int)(omppool.launch_threads)

    def after_fork() -> None:
        from numba import config

        if not _runtime.other_runtimes():
            launch(config.NUMBA_NUM_THREADS)

    os.register_at_fork(after_in_child=after_fork)


def install() -> None:
    """Once numba has loaded the layer."""
    when_imported("numba.np.ufunc.omppool", _wrap)
