# SPDX-License-Identifier: Apache-2.0
"""Whether a measurement meets its target."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Verdict:
    what: str
    measure: str
    value: float
    limit: float
    unit: str = ""

    @property
    def met(self) -> bool:
        return self.value <= self.limit
