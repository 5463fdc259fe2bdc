# SPDX-License-Identifier: Apache-2.0
"""scikit-learn: gradient boosting, alone and cross-validated by processes and by threads, and k-means in threads."""

import sys
from typing import Any

import common
import joblib
import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs, make_classification
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import cross_val_score

REPEATS = 2
SAMPLES, FEATURES, ITERATIONS = 20_000, 20, 60
POINTS, DIMENSIONS, CLUSTERS = 40_000, 16, 32
QUICK = 20  # the part of the samples
FITS = 4  # for each CPU
TURNS, ORDER = 4, 300  # of boosting and eigenvalues


def cross_validation(backend: str, quick: bool, measured: common.Measurement) -> tuple[float, str, dict[str, Any]]:
    """As many folds and jobs as twice and once the CPUs; each fit has parallel loops (OpenMP) for all of them."""
    jobs = max(2, common.cpus())
    samples, iterations = (SAMPLES // QUICK, 10) if quick else (SAMPLES, ITERATIONS)
    x, y = make_classification(samples, FEATURES, n_informative=8, random_state=1)
    model = HistGradientBoostingClassifier(max_iter=iterations, early_stopping=False, random_state=1)
    scores = np.zeros(0)
    with joblib.parallel_config(backend=backend):
        measured.ready()
        for index in range(REPEATS):
            with measured.step(f"round {index}", counted=index > 0):
                scores = cross_val_score(model, x, y, cv=2 * jobs, n_jobs=jobs)
    wrong = "" if scores.min() > 0.6 else f"a fold was predicted with a score of {scores.min()} only"
    return float(scores.sum()), wrong, {"samples": samples, "folds": 2 * jobs, "jobs": jobs, "iterations": iterations}


def kmeans(quick: bool, measured: common.Measurement) -> tuple[float, str, dict[str, Any]]:
    """Clusterings from several starts at once; each is a loop in OpenMP around products of matrices."""
    workers = max(2, common.cpus())
    points, fits = (POINTS // QUICK, workers) if quick else (POINTS, FITS * workers)
    x, _ = make_blobs(points, DIMENSIONS, centers=CLUSTERS, cluster_std=4.0, random_state=1)

    def fit(seed: int) -> float:
        return KMeans(CLUSTERS, n_init=1, random_state=seed, algorithm="lloyd").fit(x).inertia_

    inertias = measured.in_threads(fit, range(fits), workers, REPEATS)
    # Every clustering explains most of the variance.
    spread = float(((x - x.mean(axis=0)) ** 2).sum())
    wrong = "" if max(inertias) < 0.8 * spread else f"an inertia of {max(inertias)} where all is {spread}"
    return sum(inertias), wrong, {"points": points, "clusters": CLUSTERS, "fits": fits, "workers": workers}


def boosting(eigenvalues: bool, quick: bool, measured: common.Measurement) -> tuple[float, str, dict[str, Any]]:
    """Fits of gradient boosting (OpenMP, loops of microseconds), and eigenvalues (BLAS) after each."""
    samples, fits = (SAMPLES // QUICK, 2) if quick else (SAMPLES // 4, TURNS)
    x, y = make_classification(samples, FEATURES, n_informative=8, random_state=1)
    model = HistGradientBoostingClassifier(max_iter=20, early_stopping=False, random_state=1)
    matrix = np.cov(np.random.default_rng(1).normal(size=(ORDER, 2 * ORDER)))
    score = largest = 0.0
    measured.ready()
    for index in range(REPEATS + 1):
        with measured.step(f"round {index}", counted=index > 0):
            for _ in range(fits):
                score = model.fit(x, y).score(x, y)
                if eigenvalues:
                    largest = float(np.linalg.eigvalsh(matrix)[-1])
    wrong = "" if score > 0.6 else f"a score of {score} only"
    return score + largest, wrong, {"samples": samples, "fits": fits, "order": ORDER if eigenvalues else 0}


def main() -> int:
    cases = ("cross-validation-processes", "cross-validation-threads", "kmeans", "boosting", "alternation")
    arguments = common.parser(__doc__, cases).parse_args()
    measured = common.Measurement(arguments)
    if arguments.case == "kmeans":
        checksum, wrong, sizes = kmeans(arguments.quick, measured)
    elif arguments.case in ("boosting", "alternation"):
        checksum, wrong, sizes = boosting(arguments.case == "alternation", arguments.quick, measured)
    else:
        backend = "loky" if arguments.case.endswith("processes") else "threading"
        checksum, wrong, sizes = cross_validation(backend, arguments.quick, measured)
    return measured.finish(checksum, wrong, sizes)


if __name__ == "__main__":
    sys.exit(main())
