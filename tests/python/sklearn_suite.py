# SPDX-License-Identifier: Apache-2.0
"""scikit-learn's own tests of its parts that use threads: under plain python, then under weft; the outcomes must agree.

    tests/python/sklearn_suite.py [--only NAME...] [--seconds S] [-- PYTEST ARGUMENTS]

Needs pytest beside scikit-learn, and weft on Python's path (make test-python sees to both).
"""

from __future__ import annotations

import argparse
import collections
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree

# Modules whose code opens OpenMP regions or parallel loops of joblib, or calls OpenBLAS heavily.
MODULES = (
    "cluster/tests/test_bisect_k_means.py",
    "cluster/tests/test_dbscan.py",
    "cluster/tests/test_hdbscan.py",
    "cluster/tests/test_k_means.py",
    "cluster/tests/test_mean_shift.py",
    "cluster/tests/test_optics.py",
    "cluster/tests/test_spectral.py",
    "compose/tests/test_column_transformer.py",
    "covariance/tests/test_graphical_lasso.py",
    "decomposition/tests/test_dict_learning.py",
    "decomposition/tests/test_fastica.py",
    "decomposition/tests/test_nmf.py",
    "decomposition/tests/test_online_lda.py",
    "decomposition/tests/test_pca.py",
    "decomposition/tests/test_sparse_pca.py",
    "decomposition/tests/test_truncated_svd.py",
    "ensemble/_hist_gradient_boosting/tests",
    "ensemble/tests/test_bagging.py",
    "ensemble/tests/test_forest.py",
    "ensemble/tests/test_iforest.py",
    "ensemble/tests/test_stacking.py",
    "ensemble/tests/test_voting.py",
    "gaussian_process/tests/test_gpr.py",
    "impute/tests/test_knn.py",
    "inspection/tests/test_permutation_importance.py",
    "linear_model/tests/test_base.py",
    "linear_model/tests/test_coordinate_descent.py",
    "linear_model/tests/test_least_angle.py",
    "linear_model/tests/test_logistic.py",
    "linear_model/tests/test_omp.py",
    "linear_model/tests/test_ransac.py",
    "linear_model/tests/test_ridge.py",
    "linear_model/tests/test_sag.py",
    "linear_model/tests/test_sgd.py",
    "linear_model/tests/test_theil_sen.py",
    "manifold/tests/test_locally_linear.py",
    "manifold/tests/test_mds.py",
    "manifold/tests/test_t_sne.py",
    "metrics/tests/test_dist_metrics.py",
    "metrics/tests/test_pairwise.py",
    "metrics/tests/test_pairwise_distances_reduction.py",
    "mixture/tests/test_gaussian_mixture.py",
    "model_selection/tests/test_search.py",
    "model_selection/tests/test_validation.py",
    "neighbors/tests/test_ball_tree.py",
    "neighbors/tests/test_graph.py",
    "neighbors/tests/test_kd_tree.py",
    "neighbors/tests/test_lof.py",
    "neighbors/tests/test_neighbors.py",
    "semi_supervised/tests/test_label_propagation.py",
    "svm/tests/test_svm.py",
    "tests/test_multiclass.py",
    "tests/test_multioutput.py",
    "utils/tests/test_extmath.py",
    "utils/tests/test_parallel.py",
    "utils/tests/test_validation.py",
)
WEFT = ("-m", "weft")


def run(label: str, python: tuple[str, ...], module: pathlib.Path, seconds: float, more: list[str]) -> dict[str, str]:
    """The outcome of each test: passed, failed, error or skipped; "" stands for pytest itself."""
    with tempfile.TemporaryDirectory(prefix="weft-sklearn-") as folder:
        report = pathlib.Path(folder) / "report.xml"
        command = [sys.executable, *python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:randomly"]
        command += [f"--junitxml={report}", "--tb=line", str(module), *more]
        begin = time.monotonic()
        try:
            done = subprocess.run(
                command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=seconds, check=False
            )
            ended = "" if done.returncode in (0, 1) else f"ended with {done.returncode}"
        except subprocess.TimeoutExpired:
            ended = f"took more than {seconds:g} s"
        outcomes = {"": ended} if ended else {}
        if report.exists():
            for case in xml.etree.ElementTree.parse(report).iter("testcase"):
                kinds = [child.tag for child in case if child.tag in ("failure", "error", "skipped")]
                outcomes[f"{case.get('classname')}::{case.get('name')}"] = kinds[0] if kinds else "passed"
    counts = ", ".join(f"{count} {kind}" for kind, count in sorted(collections.Counter(outcomes.values()).items()))
    print(f"  {label:6} {time.monotonic() - begin:6.0f} s  {counts}", flush=True)
    return outcomes


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", default=[], help="modules whose path holds one of these words")
    parser.add_argument("--seconds", type=float, default=3600, help="for each module, under each")
    parser.add_argument("pytest", nargs="*", help="arguments for pytest")
    options = parser.parse_args()
    import sklearn

    root = pathlib.Path(sklearn.__file__).parent
    chosen = [module for module in MODULES if not options.only or any(re.search(word, module) for word in options.only)]
    differences = 0
    for module in chosen:
        print(module, flush=True)
        plain = run("plain", (), root / module, options.seconds, options.pytest)
        weft = run("weft", WEFT, root / module, options.seconds, options.pytest)
        for test in sorted(plain.keys() | weft.keys()):
            before, after = plain.get(test, "missing"), weft.get(test, "missing")
            if before != after:
                differences += 1
                print(f"    {test or module}: {before} -> {after}", flush=True)
    print(f"{len(chosen)} modules, {differences} differences")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
