# SPDX-License-Identifier: Apache-2.0
"""weft.status(): whether this process runs on weft, and how."""

from __future__ import annotations

import os

from weft import _pools, _runtime
from weft._version import VERSION


def _how() -> str | None:
    if _runtime.audited():
        return "audit"
    path = _runtime.mapped()
    if path is None:
        return None
    return "preload" if path in os.environ.get("LD_PRELOAD", "").replace(" ", ":").split(":") else "enable"


def status() -> dict[str, object]:
    """What holds now.

    active: whether weft's runtime is in the process. how: "audit" (python -m weft, weft run), "preload", "enable" (or
    linked), None. Under "audit" it comes with the first library that needs it. other_runtimes: OpenMP runtimes that
    weft has not replaced. openblas_copies: those on pthreads that it has taken over, None where this build cannot.
    openblas_left_alone: those on pthreads that it has not taken over, and why.
    """
    path = _runtime.mapped()
    blas = _runtime.blas()
    environment = os.environ
    return {
        "version": VERSION,
        "active": path is not None,
        "how": _how(),
        "library": path,
        "mode": environment.get("WEFT_MODE") or "dynamic",
        "node": environment.get("WEFT_NODE") or None,
        "weight": environment.get("WEFT_WEIGHT") or None,
        "cpus": int(_runtime.load().omp_get_num_procs()) if path is not None else None,
        "other_runtimes": _runtime.other_runtimes(),
        "openblas_copies": blas.copies() if blas is not None else None,
        "openblas_left_alone": _pools.left_alone() if _runtime.on_weft() else {},
    }
