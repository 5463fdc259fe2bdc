# SPDX-License-Identifier: Apache-2.0
"""What is measured of locks and stores between processes, and how it is called in results and tables."""

READERS = (1, 2, 4, 8, 28)
ALONE = (1, 2)
WRITES_PER_SECOND = 1000
CONTINUOUS, PACED = "writes back to back", f"{WRITES_PER_SECOND} writes a second"
PACES = {CONTINUOUS: 0, PACED: WRITES_PER_SECOND}
NO_WRITER = "no writer"
# The algorithm that the figures of the paper are normalised to.
NORM = "2n-mutex"
# Measure, title.
LOCK_TABLES = (
    ("writer_mean", "writer's time until it has the lock, ns, mean"),
    ("writer_p50", "writer's time until it has the lock, ns, p50"),
    ("reads", "reads of all readers, millions a second"),
)

# Of a get, and what of each is shown.
PHASES = ("P7-P1", "P2-P1", "P3-P2", "P4-P3", "P5-P4", "P5-P3", "P6-P5", "P7-P6")
STATISTICS = ("mean", "p50", "p99")
PHASE_TABLES = (("ticks", "mean"), ("ticks", "p50"), ("ns", "p50"), ("ns", "p99"))


def key(name: str, readers: int) -> str:
    return f"{name}, {readers} readers" if readers > 1 else f"{name}, 1 reader"
