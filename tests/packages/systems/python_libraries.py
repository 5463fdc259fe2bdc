# SPDX-License-Identifier: Apache-2.0
"""Prints what NumPy, SciPy and scikit-learn compute: the same on any OpenMP runtime."""

import numpy
import scipy.linalg
from sklearn.cluster import KMeans
from sklearn.neighbors import NearestNeighbors

points = numpy.random.default_rng(1).normal(size=(2000, 20))
print(round(KMeans(8, n_init=3, random_state=0).fit(points).inertia_, 3))
print(NearestNeighbors(n_neighbors=5, n_jobs=2).fit(points).kneighbors(points)[1].sum())
print(round(float(scipy.linalg.svdvals(points @ points[:300].T).sum()), 3))
