# SPDX-License-Identifier: Apache-2.0
"""Where the parts that belong to this package lie, and what of them is in this process."""

import os
import sys

FOLDER = os.path.dirname(os.path.abspath(__file__))
RUNTIME = f"{FOLDER}/lib/weft/libgomp.so.1"
SHM = f"{FOLDER}/lib/weft/libweft-shm.so.0"
PERMITS = f"{FOLDER}/lib/weft/libtcm.so.1"
AUDIT = f"{FOLDER}/lib/weft/libweft-audit.so"
PRELOAD = f"{FOLDER}/lib/weft/libweft-preload.so"
RECORDER = f"{FOLDER}/lib/weft/libweft-observe.so"
# Holds nothing but sitecustomize.py, which Python runs when it starts.
STARTUP = f"{FOLDER}/_site"


def require(path: str) -> str:
    """The path, if it can be read; an OSError that names the way out otherwise."""
    if os.access(path, os.R_OK):
        return path
    raise OSError(f"{path} is missing; install weft again (pip install --force-reinstall .)")


def command() -> str:
    """The command `weft` that belongs to this package: inside of it, or among the scripts of its Python."""
    places = [f"{FOLDER}/bin", os.path.dirname(sys.executable), *os.environ.get("PATH", "").split(os.pathsep)]
    for place in places:
        path = os.path.join(place, "weft")
        if os.access(path, os.X_OK) and os.path.isfile(path):
            return path
    raise OSError(f"the command weft is neither in {places[0]} nor in {places[1]} nor on PATH; install weft again")


def check_name(option: str, name: str) -> None:
    """Raises ValueError, with a text for the user, where the name of a file is more like another option, or empty."""
    if not name:
        raise ValueError(f"{option}: the name of a file is wanted; this one is empty")
    if name.startswith("-"):
        raise ValueError(f"{option}: the name of a file is wanted, not {name}; a file of that name is ./{name}")


def _is_result(begin: bytes) -> bool:
    """Of weft: a page, or JSON."""
    return begin.startswith(b"<") or (begin.startswith(b"{") and begin[1:].lstrip().startswith((b'"', b"}")))


def _is_program(name: str) -> bool:
    """Or a script, or a library: what stands behind an option whose file was forgotten, as by `weft report`."""
    if not os.path.isfile(name):
        return False
    try:
        with open(name, "rb") as file:
            begin = file.read(256)
    except OSError:
        begin = b""
    if begin.startswith((b"\x7fELF", b"#!")) or name.endswith(".py"):
        return True
    # A shell runs any text that may be executed.
    may_run = os.stat(name).st_mode & 0o111 != 0
    return may_run and begin != b"" and b"\0" not in begin and not _is_result(begin)


def check_output(name: str) -> None:
    """Raises OSError, with a text for the user, where no result can be written to a file of that name: before there is
    one."""
    folder = os.path.dirname(name) or "."
    if os.path.isdir(name):
        raise IsADirectoryError(f"{name}: is a folder; a file is wanted")
    if not os.path.isdir(folder):
        raise FileNotFoundError(f"{name}: there is no folder {folder}; make it, or name a file elsewhere")
    if _is_program(name):
        raise FileExistsError(f"{name}: is a program or a library, over which no result is written; name another file")
    if not os.access(name if os.path.exists(name) else folder, os.W_OK):
        raise PermissionError(f"{name}: may not be written")


def mapped_libraries() -> "list[str]":
    """The files that are mapped executable into this process, in the order of their addresses."""
    with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as maps:
        lines = (line.split(None, 5) for line in maps)
        paths = [line[5].rstrip("\n") for line in lines if len(line) == 6 and "x" in line[1]]
    return list(dict.fromkeys(path for path in paths if path.startswith("/")))
