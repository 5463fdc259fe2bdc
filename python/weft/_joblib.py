# SPDX-License-Identifier: Apache-2.0
"""joblib's processes on weft: loky's, with one budget of CPUs for all of them."""

from __future__ import annotations

from joblib.parallel import LokyBackend

from weft import _workers


class WeftBackend(LokyBackend):
    """Each worker may use all CPUs of the node in its libraries, and has those that the others leave.

    joblib gives each one CPUs // n_jobs instead: those of a worker that waits or has ended lie idle. Workers start on
    weft, whether this process has or not. What the user asks for, by `inner_max_num_threads` or by a variable such as
    OMP_NUM_THREADS, holds as with loky. So do joblib's shares for libraries that weft doesn't run.
    """

    def _prepare_worker_env(self, n_jobs: int) -> dict[str, str]:
        variables: dict[str, str] = super()._prepare_worker_env(n_jobs)
        if self.inner_max_num_threads is None:
            asked = _workers.asked_limits()
            variables = {
                name: value for name, value in variables.items() if name in asked or name not in _workers.LIMITS
            }
        return {**variables, **_workers.environment()}
