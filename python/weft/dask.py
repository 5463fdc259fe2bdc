# SPDX-License-Identifier: Apache-2.0
"""Dask's workers on weft: `dask worker ... --preload-nanny weft.dask`, or a plugin for a cluster that runs.

Worker processes start on weft, share the CPUs of their node, and have no limit of one thread in each library.
"""

from __future__ import annotations

import os

import dask.config
from distributed.diagnostics.plugin import NannyPlugin

from weft import _workers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from distributed import Nanny

__all__ = ["WeftPlugin", "dask_setup"]


def _limits_of_dask() -> dict[str, str]:
    """What a nanny sets by itself, one thread each."""
    settings = dask.config.get("distributed.nanny.pre-spawn-environ")
    return {name: str(settings[name]) for name in _workers.LIMITS if settings.get(name) is not None}


def dask_setup(nanny: Nanny) -> None:
    """Called by Dask in each nanny, before it starts a worker.

    A number that equals Dask's own counts as Dask's: a nanny leaves it in its own environment, where the next one
    finds it.
    """
    if not hasattr(nanny, "pre_spawn_env"):
        raise RuntimeError(
            "weft.dask: the worker's process has started, and weft cannot come into it any more: give --preload-nanny "
            "weft.dask in place of --preload, or start a worker without a nanny by `weft run --node dask worker`"
        )
    method = dask.config.get("distributed.worker.multiprocessing-method")
    if method != "spawn":
        raise RuntimeError(
            f"weft.dask: weft comes with a new program, and workers start by {method}: set Dask's "
            "distributed.worker.multiprocessing-method to spawn"
        )
    # In place: the nanny hands these dictionaries on.
    for variables in nanny.pre_spawn_env, nanny.env, os.environ:
        for name, value in _limits_of_dask().items():
            if variables.get(name) == value:
                del variables[name]
    nanny.pre_spawn_env.update(_workers.environment())


class WeftPlugin(NannyPlugin):
    """`client.register_plugin(weft.dask.WeftPlugin())`: the workers of a cluster start again, on weft, and those that
    join it later start on weft."""

    name = "weft"
    restart = True

    def setup(self, nanny: Nanny) -> None:
        dask_setup(nanny)
