# SPDX-License-Identifier: Apache-2.0
"""Tables in Markdown, as docs/reference/performance.md has them."""

from collections.abc import Iterable, Sequence


def table(head: Sequence[object], rows: Iterable[Sequence[object]]) -> list[str]:
    """Its lines."""
    lines = ["| " + " | ".join(map(str, row)) + " |" for row in (head, *rows)]
    return [lines[0], "|" + "---|" * len(head), *lines[1:]]
