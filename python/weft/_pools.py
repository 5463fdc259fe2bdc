# SPDX-License-Identifier: Apache-2.0
"""weft.pools(): every pool of threads in this process, whose it is and what weft did with it."""

from __future__ import annotations

import ctypes
import os
import re
from collections import Counter
from typing import NamedTuple

from weft import _elf, _files, _owners, _runtime, _threads


class Pool(NamedTuple):
    """One row of `python -m weft --explain`."""

    kind: str
    file: str | None  # of the library; None for threads whose start is unknown
    owner: str  # the package
    threads: int  # how many there are now, besides those of the program itself
    limit: int | None  # how many it uses at once, where it can be asked
    treatment: str  # replaced, adopted, permits, own
    note: str


# Libraries with threads of their own that weft cannot take over: pattern, kind, how to bound them.
_OWN = (
    (r"libarrow\.so", "Arrow's pools for CPU and input", "pyarrow.set_cpu_count(n), pyarrow.set_io_thread_count(n)"),
    (r"_?polars.*\.so$", "rayon, of polars", "POLARS_MAX_THREADS=n"),
    (r"cv2.*\.so$|libopencv_core", "OpenCV's own pool", "cv2.setNumThreads(n)"),
    (r"libtorch_cpu\.so", "torch's pool between operators", "torch.set_num_interop_threads(n)"),
    (r"workqueue.*\.so$", "numba's workqueue", "NUMBA_THREADING_LAYER=omp puts numba on weft's pool"),
    (r"libblis.*\.so", "BLIS", "BLIS_NUM_THREADS=n"),
    (r"libmkl_(intel|gnu|tbb)_thread", "MKL", "it runs on the OpenMP or TBB runtime in this list"),
)
_TBB = re.compile(r"libtbb(-[0-9a-f]+)?\.so")
_PYTHON = re.compile(r"(libpython3\.[0-9]+[a-z]*|python3?(\.[0-9]+)?[a-z]*)(\.so.*)?$")


def _name(path: str) -> str:
    return os.path.basename(path)


class _OpenBlas:
    """One copy of OpenBLAS. Its symbols carry a prefix and an ending of the builder's choice."""

    _FORMS = tuple(f"{before}openblas_%s{after}" for before in ("", "scipy_") for after in ("", "64_", "_64"))

    def __init__(self, path: str) -> None:
        """Raises OSError for a file that is none: a search in a library goes on in those that it needs, so that one
        that passes calls on would answer for them."""
        form = next((form for form in self._FORMS if _elf.defines(path, form % "get_config")), None)
        if form is None:
            raise OSError(f"{path} defines no configuration")
        self._form = form
        self._library = ctypes.CDLL(path, mode=os.RTLD_NOLOAD | os.RTLD_NOW)

    def _call(self, name: str, kind: type = ctypes.c_int) -> object:
        function = getattr(self._library, self._form % name, None)
        if function is None:
            return None
        function.restype = kind
        return function()

    def limit(self) -> int | None:
        value = self._call("get_num_threads")
        return value if isinstance(value, int) else None

    def version(self) -> str:
        words = self._call("get_config", ctypes.c_char_p)
        text = words.decode("utf-8", "replace") if isinstance(words, bytes) else ""
        found = re.search(r"OpenBLAS (\d+(\.\d+)+)", text)
        return f" {found[1]}" if found else ""

    def _reason(self) -> str:
        """Why weft leaves it alone."""
        numbers = tuple(int(number) for number in self.version().strip().split(".")[:3] if number)
        if not _runtime.adopts_libraries():
            return "WEFT_ADOPT_LIBRARIES says no"
        if numbers < (0, 3, 29):
            return "older than 0.3.29"
        if numbers > (0, 3, 34):
            return "newer than weft knows"
        if self._adopted() is None:
            return "its builders hide the names that weft needs"
        return "weft does not know it" if _runtime.audited() else "weft.enable() takes it over"

    def left_alone(self) -> str | None:
        """Why weft does not run its jobs, and what that costs; None: it does, or there are none."""
        if self._call("get_parallel") != 1 or self._adopted():
            return None
        return (
            f"left alone ({self._reason()}): its threads are its own and want CPUs beside weft's; "
            "OPENBLAS_NUM_THREADS=n bounds them"
        )

    def pool(self, path: str, threads: int, openmp: str | None) -> Pool:
        layer = {0: "serial", 1: "pthreads", 2: "OpenMP"}.get(self._call("get_parallel"), "unknown")  # type: ignore[call-overload]
        treatment, note, limit = "own", "weft is not in this process", self.limit()
        if layer == "serial":
            note = "has no threads"
        elif layer == "OpenMP":
            if openmp is not None:
                treatment, note = "replaced", "runs on weft's pool"
        elif self._adopted() and _runtime.on_weft():
            treatment, note = "adopted", "weft runs its jobs, by its callback"
            blas = _runtime.blas()
            limit = blas.num_threads(path) if blas is not None else limit
            if limit is not None and blas is not None and not blas.sees_waits(path):
                note += ", and does not see all of their waits: the load decides how calls are split, and rounding"
        elif _runtime.on_weft():
            note = self.left_alone() or "its threads are its own"
        kind = f"OpenBLAS{self.version()}, {layer}"
        return Pool(kind, path, _owners.owner(path), threads, limit, treatment, note)

    def _adopted(self) -> bool | None:
        """Whether its callback is set; None: it has none."""
        try:
            return ctypes.c_void_p.in_dll(self._library, "openblas_threads_callback_").value is not None
        except ValueError:
            return None


def left_alone() -> dict[str, str]:
    """The copies of OpenBLAS whose jobs weft does not run: their files, and why."""
    found = {}
    for path in _files.mapped_libraries():
        if "openblas" not in _name(path):
            continue
        try:
            copy = _OpenBlas(path)
        except OSError:  # as in pools()
            continue
        why = copy.left_alone()
        if why is not None:
            found[path] = f"OpenBLAS{copy.version()}, {why}"
    return found


def _openmp_pool(path: str, threads: int, users: list[str]) -> Pool:
    of = ", ".join(users) if users else "nobody so far"
    if path in _runtime.not_called():
        note = f"mapped, and not called: weft came first, and runs the regions of {of}"
        return Pool("OpenMP", path, _owners.owner(path), threads, None, "replaced", note)
    # Under the audit library every path of a runtime leads to weft's.
    redirected = _runtime.audited() and not _runtime.is_weft(path)
    limit = None
    if not redirected:
        library = ctypes.CDLL(path, mode=os.RTLD_NOLOAD | os.RTLD_NOW)
        limit = int(library.omp_get_max_threads())
    if _runtime.is_weft(path):
        return Pool("weft's pool", path, "weft", threads, limit, "replaced", f"runs the OpenMP regions of {of}")
    note = "weft is not in this process"
    if redirected:
        note = "opened on a way on which nobody is asked: dlmopen with a path, or a link namespace of its own"
    elif _runtime.on_weft():
        note = "mapped before weft came: python -m weft replaces it"
    return Pool("OpenMP", path, _owners.owner(path), threads, limit, "own", f"used by {of}; {note}")


def _stem(path: str) -> str:
    return _name(path).split(".so")[0]


def _openmp_users(runtime: str, paths: list[str]) -> list[str]:
    """Packages that ask for an OpenMP runtime and get this one, each with the names it asks for."""
    users: dict[str, set[str]] = {}
    for path in paths:
        if _runtime.is_openmp(path):
            continue
        for name in _elf.needed(path):
            if _runtime.is_openmp(name) and (_runtime.is_weft(runtime) or _stem(name) == _stem(runtime)):
                users.setdefault(_owners.owner(path), set()).add(name)
    return [f"{user} ({', '.join(sorted(names))})" for user, names in sorted(users.items())]


def _tbb_pool(path: str, threads: int, paths: list[str]) -> Pool:
    provider = next((other for other in paths if _name(other).startswith("libtcm.so")), None)
    treatment, note = "own", "not taken over: older than 2021.11, or WEFT_ADOPT_LIBRARIES or TCM_ENABLE say no"
    if not _runtime.on_weft():
        note = "weft is not in this process"
    if provider is not None and _name(os.path.dirname(os.path.realpath(provider))) == "weft":
        treatment, note = "permits", "its arenas ask weft how many threads may run (libtcm)"
    return Pool("oneTBB", path, _owners.owner(path), threads, None, treatment, note)


def _known(path: str, threads: int, paths: list[str], weft: str | None) -> Pool | None:
    name = _name(path)
    if _runtime.is_openmp(path):
        return _openmp_pool(path, threads, _openmp_users(path, paths))
    if "openblas" in name:
        return _OpenBlas(path).pool(path, threads, weft)
    if _TBB.match(name):
        return _tbb_pool(path, threads, paths)
    for pattern, kind, bound in _OWN:
        if re.match(pattern, name):
            return Pool(kind, path, _owners.owner(path), threads, None, "own", f"not taken over; {bound}")
    if _runtime.has_inside(path):
        note = "a runtime that was linked into it: its own regions run on that, beside weft"
        return Pool("OpenMP inside", path, _owners.owner(path), threads, None, "own", note)
    return None


def pools() -> list[Pool]:
    """Libraries that are known to have a pool, started or not, and any other that has started threads."""
    paths = _files.mapped_libraries()
    weft = _runtime.mapped()
    threads = Counter(_threads.starters().values())
    found = []
    for path in paths:
        try:
            pool = _known(path, threads.get(path, 0), paths, weft)
        except OSError:  # it has been unloaded meanwhile, or its file has been replaced
            continue
        if pool is not None:
            found.append(pool)
            threads.pop(path, None)
    for starter, count in threads.items():
        kind, owner, note = "threads", "unknown", "this libc does not say who started them"
        if starter is not None and _PYTHON.match(_name(starter)):
            kind, owner, note = "threads of Python", "the program", "by threading and its pools"
        elif starter is not None:
            owner, note = _owners.owner(starter), "not taken over"
        found.append(Pool(kind, starter, owner, count, None, "own", note))
    return found
