# SPDX-License-Identifier: Apache-2.0
"""The collectives that are measured. "Bytes" are what one rank gives: of the vector for bcast, reduce and allreduce, of
one block for the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .faults import usage


@dataclass(frozen=True)
class Operation:
    name: str
    openmpi_id: int
    blocks: bool = False  # a rank has a block for each rank
    adds: bool = False  # ints, so that 4 bytes are the least
    sized: bool = True


_ALL = (
    Operation("allgather", 0, blocks=True),
    Operation("allreduce", 2, adds=True),
    Operation("alltoall", 3, blocks=True),
    Operation("barrier", 6, sized=False),
    Operation("bcast", 7),
    Operation("gather", 9, blocks=True),
    Operation("reduce", 11, adds=True),
    Operation("scatter", 15, blocks=True),
)
OPERATIONS = {operation.name: operation for operation in _ALL}
DEFAULT = ("allgather", "allreduce", "alltoall", "bcast", "reduce")
SIZES = (8, 64, 512, 2048, 8192, 32768, 131072, 524288)
# Of the buffers of one rank.
MOST_MEMORY = 64 << 20


def choose(only: str | None) -> list[Operation]:
    names = [name.strip() for name in only.split(",") if name.strip()] if only else list(DEFAULT)
    unknown = [name for name in names if name not in OPERATIONS]
    if unknown or not names:
        raise usage(f"--only: {', '.join(unknown) or 'nothing'}: there are {', '.join(OPERATIONS)}")
    return [OPERATIONS[name] for name in dict.fromkeys(names)]


def sizes_of(operation: Operation, sizes: list[int] | tuple[int, ...], ranks: int) -> list[int]:
    if not operation.sized:
        return [0]
    least = 4 if operation.adds else 1
    most = MOST_MEMORY // ranks if operation.blocks else MOST_MEMORY
    rounded = {max(least, size // least * least) for size in sizes if size <= most}
    return sorted(rounded)


def check_sizes(operations: Sequence[Operation], sizes: Sequence[int], counts: Sequence[int]) -> None:
    """Of sizes that the user has given, none is left out without a word."""
    for operation in operations:
        limit = MOST_MEMORY // max(counts) if operation.blocks else MOST_MEMORY
        if operation.sized and max(sizes) > limit:
            each = f" for each of {max(counts)} ranks" if operation.blocks else ""
            raise usage(f"--sizes: {max(sizes)}: {operation.name} is measured with at most {limit} bytes{each}")


def openmpi_bytes(operation: Operation, size: int, ranks: int) -> int:
    """What Open MPI's rules call the size of a message."""
    return size * ranks if operation.blocks else size
