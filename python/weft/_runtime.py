# SPDX-License-Identifier: Apache-2.0
"""weft's runtime library in this process, and calls into it."""

from __future__ import annotations

import ctypes
import functools
import os
import re
import struct

from weft import _elf, _files, _threads

# As the audit library knows them: base name, perhaps the hash that tools add to copies in wheels.
_OPENMP = re.compile(r"lib(gomp|omp5?|iomp5)(-[0-9a-f]+)?\.so")


def is_openmp(path: str) -> bool:
    """Whether a file of that name is an OpenMP runtime, weft's or another."""
    return _OPENMP.match(os.path.basename(path)) is not None


def is_weft(path: str) -> bool:
    """Whether it is weft's: the one of this package, or one from an installation's folder, which is called so."""
    folder, name = os.path.split(os.path.realpath(path))
    return name == "libgomp.so.1" and os.path.basename(folder) == "weft"


def has_inside(path: str) -> bool:
    """Whether a library defines what every OpenMP region calls, as only runtimes do (platform/openmp_runtime.h)."""
    return any(
        _elf.defines(path, *names)
        for names in (("GOMP_parallel", "omp_get_num_threads"), ("__kmpc_fork_call", "__kmpc_global_thread_num"))
    )


def mapped() -> str | None:
    """The file of weft's runtime in this process."""
    return next((path for path in _files.mapped_libraries() if is_openmp(path) and is_weft(path)), None)


_RTLD_DI_LINKMAP = 2
_NAME, _NEXT = 8, 24  # where they stand in a link_map
_MOST_LIBRARIES = 1 << 16  # the list may change while it is walked


def _in_order_of_loading() -> list[str]:
    """The files of this link namespace's libraries.

    Not by dl_iterate_phdr: it would run Python with the dynamic linker's lock held. An import in another thread holds
    what Python needs and waits for that lock.
    """
    found: list[str] = []
    program, first = ctypes.CDLL(None), ctypes.c_size_t()
    if program.dlinfo(ctypes.c_void_p(program._handle), _RTLD_DI_LINKMAP, ctypes.byref(first)) != 0:
        return found
    at = first.value
    try:
        memory = _threads.Memory()
    except OSError:  # no /proc
        return found
    try:
        for _ in range(_MOST_LIBRARIES):
            if at == 0:
                break
            name = memory.text(memory.word(at + _NAME))
            if name:
                found.append(os.path.realpath(os.fsdecode(name)))
            at = memory.word(at + _NEXT)
    except (OSError, struct.error):
        pass
    finally:
        memory.close()
    return found


def _is_found_first() -> bool:
    """Whether libraries that are loaded from now on get weft's functions, whatever runtime they bring."""
    function = getattr(ctypes.CDLL(None), "GOMP_parallel", None)
    address = ctypes.cast(function, ctypes.c_void_p).value if function is not None else None
    file = _threads.Mappings().file(address) if address is not None else None
    return file is not None and is_weft(file)


def _beside_weft() -> list[str]:
    """Other OpenMP runtimes that are mapped, whether anybody calls them or not."""
    return [path for path in _files.mapped_libraries() if is_openmp(path) and not is_weft(path)]


def not_called() -> list[str]:
    """Other OpenMP runtimes that are mapped, but whose users call weft: it was found first when they were loaded.

    One that has started threads is called all the same, as by a handle.
    """
    others = _beside_weft()
    if not others or not _is_found_first():
        return []
    order = _in_order_of_loading()
    weft = next((at for at, path in enumerate(order) if is_openmp(path) and is_weft(path)), len(order))
    behind, started = set(order[weft:]), set(_threads.starters().values())
    return [path for path in others if os.path.realpath(path) in behind and path not in started]


def other_runtimes() -> list[str]:
    """OpenMP runtimes in this process that weft has not replaced."""
    unused = not_called()
    return [path for path in _beside_weft() if path not in unused]


@functools.lru_cache(maxsize=1)
def audited() -> bool:
    """Whether the dynamic linker asks weft's audit library: every OpenMP runtime is weft's. It never changes."""
    return any(os.path.basename(path) == "libweft-audit.so" for path in _files.mapped_libraries())


def on_weft() -> bool:
    """Whether weft is in this process, or will be as soon as somebody needs OpenMP."""
    return audited() or mapped() is not None


def load() -> ctypes.CDLL:
    """weft's runtime; maps it, for all to see, when it is not there yet."""
    path = mapped() or _files.require(os.environ.get("WEFT_LIBRARY") or _files.RUNTIME)
    return ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL)


def adopts_libraries() -> bool:
    """Whether weft may take over libraries with threads of their own."""
    return os.environ.get("WEFT_ADOPT_LIBRARIES", "").strip().lower() not in ("false", "no", "off", "0")


def load_permits() -> None:
    """Maps the library by which oneTBB asks weft for CPUs, so that oneTBB finds it under its name when it comes."""
    mapped = (os.path.basename(path) for path in _files.mapped_libraries())
    if (
        adopts_libraries()
        and os.access(_files.PERMITS, os.R_OK)
        and not any(name.startswith("libtcm.so") for name in mapped)
    ):
        ctypes.CDLL(_files.PERMITS, mode=ctypes.RTLD_GLOBAL)


class Blas:
    """weft's calls for copies of OpenBLAS on pthreads whose jobs it runs (include/weft/weft.h)."""

    def __init__(self, library: ctypes.CDLL) -> None:
        """Raises AttributeError where the runtime has no such calls."""
        self._adopt, self._get, self._set, self._sees = (
            library.weft_adopt_libraries,
            library.weft_blas_get_num_threads,
            library.weft_blas_set_num_threads,
            library.weft_blas_sees_waits,
        )
        self._get.argtypes = [ctypes.c_char_p]
        self._sees.argtypes = [ctypes.c_char_p]
        self._set.argtypes = [ctypes.c_char_p, ctypes.c_int]

    def adopt(self) -> None:
        """Takes over copies that have been mapped since."""
        self._adopt()

    def num_threads(self, path: str) -> int | None:
        """What the program allows the copy in that file; None: weft does not run that copy."""
        count = int(self._get(os.fsencode(path)))
        return count if count > 0 else None

    def set_num_threads(self, path: str, count: int) -> bool:
        """Allows each call of that copy so many threads at most; whether weft runs that copy."""
        return int(self._set(os.fsencode(path), count)) >= 0

    def sees_waits(self, path: str) -> bool:
        """Whether its calls are split the same way whatever the load is."""
        return int(self._sees(os.fsencode(path))) > 0

    def copies(self) -> list[str]:
        """The files of the copies that weft runs."""
        paths = (path for path in _files.mapped_libraries() if "openblas" in os.path.basename(path))
        return [path for path in paths if self.num_threads(path) is not None]


_blas: Blas | None = None


def _library() -> ctypes.CDLL | None:
    """The runtime, if it is mapped. Looks at all that is mapped only where it may lie anywhere."""
    try:
        return ctypes.CDLL(os.environ.get("WEFT_LIBRARY") or _files.RUNTIME, mode=os.RTLD_NOLOAD | os.RTLD_NOW)
    except OSError:
        path = None if audited() else mapped()
        return None if path is None else ctypes.CDLL(path)


def blas() -> Blas | None:
    """None: weft is not here, or leaves OpenBLAS on pthreads alone. Some programs ask many times a second."""
    global _blas
    if _blas is None:
        library = _library()
        try:
            _blas = None if library is None else Blas(library)
        except AttributeError:
            return None
    return _blas
