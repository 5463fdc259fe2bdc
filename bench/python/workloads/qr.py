# SPDX-License-Identifier: Apache-2.0
"""QR decompositions by Dask's threads, checked by multiplying the factors (SciPy 2018 paper, sections 3.1 and 3.3)."""

import sys

import common
import dask
import dask.array as da

ROWS, COLUMNS = 10_000, 1_000  # of the smallest chunk, as in the paper
QUICK_ROWS, QUICK_COLUMNS = 500, 100
COPIES = 8  # of the matrix that are alive at once, at the most
REPEATS = 3


def chunk_shape(quick: bool, chunks: int) -> tuple[int, int]:
    if quick:
        return QUICK_ROWS, QUICK_COLUMNS
    fits = common.memory_bytes() // 2 // (COPIES * 8 * COLUMNS * chunks)
    return max(COLUMNS, min(ROWS, fits)), COLUMNS


def decompose(shape: tuple[int, int], rows: int, workers: int) -> tuple[bool, float]:
    """Whether q r is the matrix, and the sum of |r|'s diagonal. The random matrix is made in parallel too."""
    x = da.random.default_rng(1).random(shape, chunks=(rows, shape[1]))
    q, r = da.linalg.qr(x)
    test = da.all(da.isclose(x, q.dot(r)))
    same, diagonal = dask.compute(test, da.abs(da.diag(r)).sum(), scheduler="threads", num_workers=workers)
    return bool(same), float(diagonal)


def main() -> int:
    arguments = common.parser(__doc__, ("balanced", "unbalanced")).parse_args()
    count = max(2, common.cpus())  # chunks and workers; the paper's 44 are the CPUs that a BLAS call takes
    rows, columns = chunk_shape(arguments.quick, count)
    shape = (rows * count, columns)
    measured = common.Measurement(arguments)
    measured.ready()
    results = []
    if arguments.case == "balanced":
        for index in range(REPEATS):
            with measured.step(f"round {index}", counted=index > 0):
                results.append(decompose(shape, rows, count))
    else:
        for chunks in (1, count // 2, count):
            with measured.step(f"{chunks} of {count} workers"):
                results.append(decompose(shape, -(-shape[0] // chunks), count))
    wrong = "" if all(same for same, _ in results) else "q r is not the matrix"
    return measured.finish(
        # The random numbers depend on the chunks, so each stage has a matrix of its own.
        sum(diagonal for _, diagonal in results),
        wrong,
        {"rows": shape[0], "columns": columns, "chunks": count},
        **({} if arguments.case == "balanced" else {"combine": sum}),
    )


if __name__ == "__main__":
    sys.exit(main())
