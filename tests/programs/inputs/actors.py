"""Ray's servers, which bring jemalloc, and workers that learn with threads of their own."""

import ray
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs


@ray.remote
def inertia(seed):
    points, _ = make_blobs(n_samples=2000, centers=5, random_state=seed)
    return KMeans(n_clusters=5, n_init=2, random_state=0).fit(points).inertia_


ray.init(num_cpus=2, include_dashboard=False, logging_level="error", log_to_driver=False)
print(*[f"{value:.6f}" for value in ray.get([inertia.remote(seed) for seed in range(3)])])
