# SPDX-License-Identifier: Apache-2.0
"""threadpoolctl's limits, and those of joblib and scikit-learn that stand on it, for OpenBLAS copies that weft runs.

weft lowers and raises such a library's own number by the load. Who asks the library gets that number, and who puts back
what it was told would make a passing value last. So the question and the limit go to weft.
"""

from __future__ import annotations

from weft._import_hooks import when_imported

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any


def _wrap(threadpoolctl: ModuleType) -> None:
    from weft import _runtime

    controller = getattr(threadpoolctl, "OpenBLASController", None)
    if controller is None:  # before 3.2
        return
    get, limit = controller.get_num_threads, controller.set_num_threads

    def get_num_threads(self: Any) -> int | None:  # noqa: ANN401 (a class of another package)
        blas = _runtime.blas()
        threads = blas.num_threads(self.filepath) if blas is not None else None
        return get(self) if threads is None else threads

    def set_num_threads(self: Any, num_threads: int) -> object:  # noqa: ANN401
        blas = _runtime.blas()
        if blas is None or not blas.set_num_threads(self.filepath, num_threads):
            return limit(self, num_threads)
        return None

    controller.get_num_threads, controller.set_num_threads = get_num_threads, set_num_threads


def install() -> None:
    """Once threadpoolctl is imported."""
    when_imported("threadpoolctl", _wrap)
