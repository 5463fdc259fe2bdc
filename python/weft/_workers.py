# SPDX-License-Identifier: Apache-2.0
"""The environment of worker processes that share the CPUs of the node, whoever starts them."""

from __future__ import annotations

import os

from weft import _runtime
from weft._settings import Settings, store_launch

# By these, launchers give each worker a fixed share. They bound libraries that weft runs, and weft shares the CPUs out.
LIMITS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


def _starts_on_weft() -> bool:
    """Whether programs that this process starts run on weft already, be it on another one than this package's."""
    audits = os.environ.get("LD_AUDIT", "").split(":")
    preloads = os.environ.get("LD_PRELOAD", "").replace(" ", ":").split(":")
    return any(os.path.basename(path) == "libweft-audit.so" for path in audits) or any(map(_runtime.is_weft, preloads))


def environment() -> dict[str, str]:
    """What a worker needs beside the environment of this process: it starts on weft, and takes part in the node."""
    whole = os.environ.copy()
    if not _starts_on_weft():
        store_launch(whole)
    Settings(node=True).store(whole)
    return {name: value for name, value in whole.items() if value != os.environ.get(name)}


def asked_limits() -> dict[str, str]:
    """Those of the limits that the user has set: they hold for workers too."""
    return {name: os.environ[name] for name in LIMITS if name in os.environ}
