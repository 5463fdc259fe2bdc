# SPDX-License-Identifier: Apache-2.0
"""Mode `static`: fixed shares of the CPUs for the workers of Python's pools.

A worker of a pool of W on N CPUs gets F x round(N / W) threads, at least one (Malakhov, Gorshkov and Wilmarth,
"Composable Multi-Threading and Multi-Processing for Numeric Libraries", SciPy 2018). In process pools these are CPUs of
its own, by the affinity mask; in thread pools its OpenMP regions have that many threads.

All pools are reached through the `initializer` that their constructors take: a documented argument, which every start
method brings into the workers.
"""

from __future__ import annotations

import functools
import os
import sys
import threading

from weft._import_hooks import when_imported

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from weft._runtime import Blas

_local = threading.local()


def _cpus() -> int:
    """The CPUs that a pool made by this thread can share out."""
    from weft import _runtime

    share = getattr(_local, "share", None)
    if share is not None:
        return int(share)
    return min(len(os.sched_getaffinity(0)), int(_runtime.load().omp_get_num_procs()))


@functools.lru_cache(maxsize=1)
def _factor() -> float:
    text = os.environ.get("WEFT_STATIC_FACTOR") or "1"
    try:
        factor = float(text)
    except ValueError:
        factor = 0.0
    if 0 < factor < float("inf"):
        return factor
    print(f"weft: WEFT_STATIC_FACTOR={text}: a number above 0 is wanted; 1 is used", file=sys.stderr)
    return 1.0


def threads_of_worker(cpus: int, workers: int, factor: float) -> int:
    """The formula."""
    return max(1, min(cpus, round(factor * max(1, round(cpus / workers)))))


class _BlasShare:
    """OpenBLAS on pthreads has one number for a process: while pools live, the share of the one with most workers."""

    def __init__(self) -> None:
        # The garbage collector may end a pool, and call _remove(), in a thread that is inside.
        self._lock = threading.RLock()
        self._shares: dict[int, int] = {}
        self._before: dict[str, int] = {}

    def add(self, pool: object, threads: int) -> None:
        import weakref

        from weft import _runtime

        blas = _runtime.blas()
        if blas is None:
            return
        with self._lock:
            self._shares[id(pool)] = threads
            for path in blas.copies():
                self._before.setdefault(path, blas.num_threads(path) or 1)
            self._apply(blas)
        weakref.finalize(pool, self._remove, id(pool), blas)

    def _remove(self, key: int, blas: Blas) -> None:
        with self._lock:
            self._shares.pop(key, None)
            self._apply(blas)
            if not self._shares:
                self._before.clear()

    def _apply(self, blas: Blas) -> None:
        for path, before in tuple(self._before.items()):
            blas.set_num_threads(path, min([before, *self._shares.values()]))


_blas_share = _BlasShare()


class _ThreadStart:
    """The initializer of a worker thread."""

    def __init__(self, threads: int, then: Callable[..., object] | None, arguments: tuple[object, ...]) -> None:
        self.threads, self.then, self.arguments = threads, then, arguments

    def __call__(self) -> None:
        from weft import _runtime

        library = _runtime.load()
        # What the program asks for by OMP_NUM_THREADS bounds it from above.
        self.threads = min(self.threads, int(library.omp_get_max_threads()))
        library.omp_set_num_threads(self.threads)
        _local.share = self.threads
        if self.then is not None:
            self.then(*self.arguments)


class _ProcessStart:
    """The initializer of a worker process; travels to it by pickle, or is inherited."""

    def __init__(
        self, workers: int, threads: int, then: Callable[..., object] | None, arguments: tuple[object, ...]
    ) -> None:
        self.workers, self.threads, self.then, self.arguments = workers, threads, then, arguments
        self.token = os.urandom(8).hex()

    def __call__(self) -> None:
        install()
        cpus = sorted(os.sched_getaffinity(0))
        first = self._number() * self.threads
        own = {cpus[(first + i) % len(cpus)] for i in range(self.threads)}
        # Libraries may have started threads when the child imported the program.
        for thread in os.listdir("/proc/self/task"):
            try:
                os.sched_setaffinity(int(thread), own)
            except OSError:  # it has ended
                continue
        self._limit(len(own))
        if self.then is not None:
            self.then(*self.arguments)

    def _number(self) -> int:
        """Which of the workers this is. A name in the kernel's abstract space is free again when its owner has died."""
        import socket

        for number in range(self.workers):
            holder = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
            try:
                holder.bind(f"\0weft/{self.token}/{number}")
            except OSError:
                holder.close()
                continue
            _held.append(holder)
            return number
        return os.getpid() % self.workers

    def _limit(self, threads: int) -> None:
        """For libraries that are here already; those that come will see the mask."""
        from weft import _runtime

        library = _runtime.load()
        library.omp_set_num_threads(min(threads, int(library.omp_get_max_threads())))
        blas = _runtime.blas()
        if blas is not None:
            for path in blas.copies():
                blas.set_num_threads(path, min(threads, blas.num_threads(path) or threads))


_held: list[object] = []


def _default_workers() -> int:
    count = getattr(os, "process_cpu_count", os.cpu_count)
    return count() or 1


def _wrap(pool: type, count: str, default: Callable[[], int], threads: Callable[[object], bool]) -> None:
    """Makes the workers of `pool` begin with one of the above.

    count: the constructor's argument that says how many; threads: whether the workers of this object are threads.
    """
    import inspect

    original: Callable[..., None] = pool.__init__  # type: ignore[misc]
    signature = inspect.signature(original)

    @functools.wraps(original)
    def __init__(self: object, *arguments: object, **named: object) -> None:
        try:
            bound = signature.bind(self, *arguments, **named)
        except TypeError:  # the constructor itself says it best
            return original(self, *arguments, **named)
        values = bound.arguments
        workers, initializer = values.get(count) or default(), values.get("initializer")
        usual = isinstance(workers, int) and workers > 0 and (initializer is None or callable(initializer))
        if not usual or any(base.__module__ == "concurrent.futures.interpreter" for base in type(self).__mro__):
            return original(self, *arguments, **named)
        share = threads_of_worker(_cpus(), workers, _factor())
        then = (initializer, tuple(values.get("initargs", ())))
        of_threads = threads(self)
        values["initializer"] = _ThreadStart(share, *then) if of_threads else _ProcessStart(workers, share, *then)
        values["initargs"] = ()
        original(*bound.args, **bound.kwargs)
        if of_threads:
            _blas_share.add(self, share)
        return None

    pool.__init__ = __init__  # type: ignore[misc]


def _wrap_multiprocessing(module: ModuleType) -> None:
    _wrap(module.Pool, "processes", _default_workers, lambda pool: isinstance(pool, module.ThreadPool))


def _wrap_threads(module: ModuleType) -> None:
    _wrap(module.ThreadPoolExecutor, "max_workers", lambda: min(32, _default_workers() + 4), lambda _: True)


def _wrap_processes(module: ModuleType) -> None:
    _wrap(module.ProcessPoolExecutor, "max_workers", _default_workers, lambda _: False)


def install() -> None:
    """Reaches the pools of multiprocessing and concurrent.futures, and those of joblib, loky and dask through them."""
    when_imported("multiprocessing.pool", _wrap_multiprocessing)
    when_imported("concurrent.futures.thread", _wrap_threads)
    when_imported("concurrent.futures.process", _wrap_processes)
    when_imported("loky.process_executor", _wrap_processes)
    when_imported("joblib.externals.loky.process_executor", _wrap_processes)
