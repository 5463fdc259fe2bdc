# SPDX-License-Identifier: Apache-2.0
"""The recorder of `weft report` in this process: a part of it is recorded (src/observe/record/profile/calls.h)."""

from __future__ import annotations

import ctypes
import os
import threading

from weft import _files, _runtime

_PAUSED = "WEFT_PROFILE_PAUSED"
_LIBRARIES = "OMP_TOOL_LIBRARIES"
_TOOL = "OMP_TOOL"


class NoRecorderError(RuntimeError):
    """Nothing can be recorded in this process; the text says why, and what to do in a program."""

    def __init__(self, reason: str, is_too_late: bool = False) -> None:
        way = "; start the program by `python -m weft --notebook`, or enter weft.report() before other imports"
        super().__init__(reason + (way if is_too_late else ""))
        self.reason, self.is_too_late = reason, is_too_late


def store_paused(environment: dict[str, str] | os._Environ[str]) -> None:
    """Sets what makes the runtime of this process, or of the program that takes its place, load the recorder."""
    environment[_PAUSED] = str(os.getpid())
    environment[_TOOL] = "enabled"
    recorder = _files.require(_files.RECORDER)
    others = [path for path in environment.get(_LIBRARIES, "").split(":") if path and path != recorder]
    environment[_LIBRARIES] = ":".join([recorder, *others])


class Recorder:
    """What libweft-observe.so answers, as exceptions."""

    def __init__(self, library: ctypes.CDLL, runtime: ctypes.CDLL) -> None:
        """Raises AttributeError where the recorder has no such calls."""
        self._runtime = runtime
        self._begin, self._write, self._cancel = (
            library.weft_profile_begin,
            library.weft_profile_write,
            library.weft_profile_cancel,
        )
        self._write.argtypes = [ctypes.c_char_p, ctypes.c_char_p]
        for call in (self._begin, self._write, self._cancel):
            call.restype = ctypes.c_char_p

    def begin(self) -> None:
        """Raises RuntimeError where a recording runs already, or none can."""
        self._runtime.omp_get_max_threads()  # so that this thread is known
        self._check(self._begin())

    def write(self, folder: str, title: str) -> None:
        """Ends the recording. Raises RuntimeError where there is no profile of it."""
        self._check(self._write(os.fsencode(folder), title.encode(errors="surrogateescape")))

    def cancel(self) -> None:
        """Ends the recording, if there is one."""
        self._cancel()

    @staticmethod
    def _check(fault: bytes | None) -> None:
        if fault is not None:
            raise RuntimeError(os.fsdecode(fault))


def _mapped() -> Recorder | None:
    """The one in this process, from whichever folder the command has loaded it."""
    name = os.path.basename(_files.RECORDER)
    path = next((path for path in _files.mapped_libraries() if os.path.basename(path) == name), None)
    try:
        return None if path is None else Recorder(ctypes.CDLL(path), _runtime.load())
    except (AttributeError, OSError):
        return None


def _bring_runtime() -> None:
    """The runtime into this process, with the recorder if it looks for tools only now."""
    if _runtime.on_weft():
        _runtime.load().omp_get_max_threads()
        return
    from weft import _enable

    try:
        _enable.enable(children=False)
    except _enable.TooLateError:
        others = ", ".join(os.path.basename(path) for path in _runtime.other_runtimes())
        raise NoRecorderError(f"{others} was in this process before weft", is_too_late=True) from None
    _runtime.load().omp_get_max_threads()


def _start() -> Recorder:
    if os.environ.get("WEFT_PROFILE_FOLDER"):
        raise NoRecorderError("weft report records the whole of this process already")
    before = {name: os.environ.get(name) for name in (_PAUSED, _LIBRARIES, _TOOL)}
    try:
        if before[_PAUSED] != str(os.getpid()):
            store_paused(os.environ)
        _bring_runtime()
    except OSError as error:
        raise NoRecorderError(str(error)) from None
    finally:
        # Programs that are started from here are not meant.
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
    found = _mapped()
    if found is None:
        raise NoRecorderError("weft was at work in this process before the recorder came", is_too_late=True)
    return found


_recorder: Recorder | None = None
_lock = threading.Lock()  # held while variables are set that only the runtime of this process may see


def recorder() -> Recorder:
    """The recorder of this process; brings it, and weft, if it is not too late. Raises NoRecorderError."""
    global _recorder
    with _lock:
        if _recorder is None:
            _recorder = _mapped() or _start()
        return _recorder
