# SPDX-License-Identifier: Apache-2.0
"""threadpoolctl's limits, and those of joblib and scikit-learn that stand on it, for OpenBLAS copies that weft runs.

weft lowers and raises such a library's own number by the load. Who asks the library gets that number, and who puts back
what it was told would make a passing value last. So the question and the limit go to weft.
"""

from __future__ import annotations

from weft._import_hooks import when_imported

TYPE_CHECKING = False
if TYPE_CHECKING:
    import ctypes
    from types import ModuleType
    from typing import Any


def _runs_on_weft(library: ctypes.CDLL) -> bool:
    """Whether this copy gives its work to whoever has set its callback: weft."""
    import ctypes

    try:
        return ctypes.c_void_p.in_dll(library, "openblas_threads_callback_").value is not None
    except ValueError:  # built with OpenMP, or older than the callback
        return False


def _wrap(threadpoolctl: ModuleType) -> None:
    from weft import _runtime

    controller = getattr(threadpoolctl, "OpenBLASController", None)
    if controller is None:  # before 3.2
        return
    get, limit = controller.get_num_threads, controller.set_num_threads

    def get_num_threads(self: Any) -> int | None:  # noqa: ANN401 (a class of another package)
        blas = _runtime.blas()
        return blas.num_threads() if blas is not None and _runs_on_weft(self.dynlib) else get(self)

    def set_num_threads(self: Any, num_threads: int) -> object:  # noqa: ANN401
        blas = _runtime.blas()
        if blas is None or not _runs_on_weft(self.dynlib):
            return limit(self, num_threads)
        blas.set_num_threads(num_threads)
        return None

    controller.get_num_threads, controller.set_num_threads = get_num_threads, set_num_threads


_installed = False


def install() -> None:
    """Once threadpoolctl is imported, and joblib's own copy of it where there is one."""
    global _installed
    if not _installed:
        _installed = True
        when_imported("threadpoolctl", _wrap)
