# SPDX-License-Identifier: Apache-2.0
"""scikit-learn's parallel estimators on made data; their wheels bring a renamed libgomp and an OpenBLAS with threads of its own."""

import numpy
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs, make_regression
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.metrics import pairwise_distances_argmin
from sklearn.neighbors import KNeighborsClassifier

points, labels = make_blobs(n_samples=20000, centers=12, n_features=8, random_state=3)
means = KMeans(n_clusters=12, n_init=3, random_state=5).fit(points)
print("kmeans", f"{means.inertia_:.6f}", f"{numpy.sort(means.cluster_centers_.sum(axis=1)).round(6).tolist()}")
samples, targets = make_regression(n_samples=20000, n_features=12, noise=3.0, random_state=7)
boosting = HistGradientBoostingRegressor(max_iter=40, random_state=9).fit(samples, targets)
print("boosting", f"{boosting.score(samples, targets):.9f}", f"{boosting.predict(samples[:500]).sum():.6f}")
print("nearest", len(set(pairwise_distances_argmin(points, means.cluster_centers_))))
neighbours = KNeighborsClassifier(7, algorithm="brute").fit(points[::2], labels[::2])
print("neighbours", f"{neighbours.score(points[1::2], labels[1::2]):.9f}")
