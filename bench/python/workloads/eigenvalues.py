# SPDX-License-Identifier: Apache-2.0
"""Eigenvalues of many small matrices by a pool of threads or processes (SciPy 2018 paper, sections 3.2, 3.4, 3.5)."""

import argparse
import functools
import multiprocessing
import multiprocessing.pool
import sys
from collections.abc import Callable
from typing import Any

import common
import numpy as np

SIZE = 256
REPEATS = 3
# The paper's machine had 88 CPUs: 1024 matrices on 88 workers, 1408 on 44, and products of 8192 x 8192.
MATRICES_BALANCED, MATRICES_UNBALANCED = 12, 32  # for each worker
PRODUCTS, PRODUCT_SIZE, PAPER_CPUS = 6, 8192, 88
QUICK_SIZE, QUICK_MATRICES, QUICK_PRODUCT_SIZE = 96, 2, 256


def eigenvalues(x: np.ndarray) -> tuple[np.ndarray, None]:
    """Without the vectors: sent from one process to another they would be most of the time."""
    return np.linalg.eig(x)[0], None


def residual(x: np.ndarray, result: tuple[np.ndarray, np.ndarray | None]) -> float:
    """How far eigenvalues are from their sum and the sum of their squares, and eigenvectors from being such."""
    values, vectors = result
    far = max(abs(values.sum() - np.trace(x)), abs((values**2).sum() - np.trace(x @ x)) / np.linalg.norm(x))
    if vectors is not None:
        far = max(far, np.abs(x @ vectors - vectors * values).max())
    return float(far)


def pool_of(kind: str, workers: int) -> multiprocessing.pool.Pool:
    return multiprocessing.pool.ThreadPool(workers) if kind == "threads" else multiprocessing.Pool(workers)


def product_size(arguments: argparse.Namespace) -> int:
    """As many operations for each CPU as in the paper."""
    if arguments.quick:
        return QUICK_PRODUCT_SIZE
    return 64 * round(PRODUCT_SIZE * (common.cpus() / PAPER_CPUS) ** (1 / 3) / 64)


def balanced(
    arguments: argparse.Namespace, measured: common.Measurement, pool: multiprocessing.pool.Pool, x: np.ndarray
) -> tuple[list[Any], dict[str, Any]]:
    # The same work for any number of workers, so that the scaling studies can compare them.
    count = common.cpus() * (QUICK_MATRICES if arguments.quick else MATRICES_BALANCED)
    function: Callable[..., Any] = np.linalg.eig if arguments.pool == "threads" else eigenvalues
    results = []
    measured.ready()
    for index in range(REPEATS):
        with measured.step(f"round {index}", counted=index > 0):
            results = pool.map(function, [x] * count)
    return results, {"matrices": count}


def unbalanced(
    arguments: argparse.Namespace, measured: common.Measurement, pool: multiprocessing.pool.Pool, x: np.ndarray
) -> tuple[list[Any], dict[str, Any]]:
    share = QUICK_MATRICES if arguments.quick else MATRICES_UNBALANCED
    count = share * arguments.workers
    size = product_size(arguments)
    y = np.random.default_rng(2).random((size, size))
    multiply = functools.partial(np.matmul, y)
    measured.ready()
    with measured.step(f"1 of {arguments.workers} workers"):
        products = pool.map(multiply, [y] * PRODUCTS, PRODUCTS)
    with measured.step(f"{-(-arguments.workers // 2)} of {arguments.workers} workers"):
        results = pool.map(np.linalg.eig, [x] * count, 2 * share)
    with measured.step(f"{arguments.workers} of {arguments.workers} workers"):
        results += pool.map(np.linalg.eig, [x] * count, share)
    # (y y) v = y (y v)
    ones = np.ones(size)
    if not all(np.allclose(product @ ones, y @ (y @ ones)) for product in products):
        raise ArithmeticError("a product of matrices is wrong")
    return results, {"matrices": count, "products": PRODUCTS, "product_size": size}


def main() -> int:
    parser = common.parser(__doc__, ("balanced", "unbalanced"))
    parser.add_argument("--workers", type=int, default=max(2, common.cpus()), help="of the pool; default: the CPUs")
    parser.add_argument("--pool", choices=("threads", "processes"), default="threads")
    arguments = parser.parse_args()
    size = QUICK_SIZE if arguments.quick else SIZE
    x = np.random.default_rng(1).random((size, size))
    measured = common.Measurement(arguments)
    wrong, checksum, sizes = "", 0.0, {}
    with pool_of(arguments.pool, arguments.workers) as pool:
        try:
            measure = balanced if arguments.case == "balanced" else unbalanced
            results, sizes = measure(arguments, measured, pool, x)
        except ArithmeticError as error:
            results, wrong = [], str(error)
    worst = max((residual(x, result) for result in results), default=0.0)
    if worst > 1e-8 * size:
        wrong = f"eigenvalues are wrong by {worst}"
    if results:
        checksum = float(np.mean([np.abs(values).sum() for values, _ in results]))
    return measured.finish(
        checksum,
        wrong,
        sizes | {"size": size, "workers": arguments.workers, "pool": arguments.pool},
        **({} if arguments.case == "balanced" else {"combine": sum}),
    )


if __name__ == "__main__":
    sys.exit(main())
