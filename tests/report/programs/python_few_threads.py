# SPDX-License-Identifier: Apache-2.0
# Fault: few_threads
# Environment: OMP_NUM_THREADS=1
# Needs: sklearn
"""Scikit-learn as it is, under a variable that is left over. Its library has no lines of source, so its name is to be
blamed: PLANTED in _k_means_lloyd."""

import numpy
from sklearn.cluster import KMeans

generator = numpy.random.default_rng(1)
points = generator.random((60000, 16))
model = KMeans(n_clusters=64, init=points[:64], n_init=1, max_iter=300, tol=0).fit(points)
print(f"checksum {model.inertia_:.3f}")
