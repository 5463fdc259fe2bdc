# SPDX-License-Identifier: Apache-2.0
"""Workers share a cache of prepared samples: what one has prepared the others read.

python store_workers.py
"""

import multiprocessing
import os

import weft

SAMPLES = 200
WORKERS = 4


def prepare(number):
    """Stands for what takes long: reading and decoding a sample."""
    return bytes([number % 256]) * 10_000


def load_all(cache, prepared):
    """An epoch of a data loader's worker."""
    total = 0
    for number in range(SAMPLES):
        sample = cache.get(f"sample:{number}")
        if sample is None:
            sample = prepare(number)
            cache[f"sample:{number}"] = sample
            with prepared.get_lock():
                prepared.value += 1
        total += sum(sample[:10])
    return total


def epoch(cache, prepared, totals):
    totals.put(load_all(cache, prepared))


def main():
    with weft.KV(f"samples-{os.getpid()}", max_bytes=1 << 26) as cache:
        totals, prepared = multiprocessing.Queue(), multiprocessing.Value("i", 0)
        workers = [multiprocessing.Process(target=epoch, args=(cache, prepared, totals)) for _ in range(WORKERS)]
        for worker in workers:
            worker.start()
        sums = {totals.get() for _ in workers}
        for worker in workers:
            worker.join()
        cache.unlink()
        print(
            f"{len(cache)} samples, all workers agree: {len(sums) == 1}, prepared less often than read: "
            f"{prepared.value < SAMPLES * WORKERS}"
        )


if __name__ == "__main__":
    main()
