# SPDX-License-Identifier: Apache-2.0
"""The OpenMP runtimes that are compared: each as a directory that holds it under all its names."""

import dataclasses
import pathlib
import subprocess
from collections.abc import Iterable, Mapping
from typing import Any

NAMES = ("libgomp.so.1", "libomp.so.5", "libiomp5.so")
DEFAULT = ("weft", "libgomp", "libiomp5")
KNOWN = (*DEFAULT, "libomp")


@dataclasses.dataclass(frozen=True)
class Runtime:
    name: str
    file: pathlib.Path  # the library, links resolved
    directory: pathlib.Path

    def variables(self, blas: pathlib.Path | None = None) -> dict[str, str]:
        """By which a program finds it, and the OpenBLAS of this directory."""
        path = ":".join(str(directory) for directory in (self.directory, blas) if directory)
        return {"LD_LIBRARY_PATH": path, "KMP_WARNINGS": "0"}


def find(
    root: pathlib.Path, build: pathlib.Path, wanted: list[str], before: pathlib.Path | None = None
) -> list[Runtime]:
    """The runtimes of these names, and that of another build; exits with a message when one is missing."""
    found = []
    if before is not None:
        file = (before / "lib/weft/libgomp.so.1").resolve()
        if not file.exists():
            raise SystemExit(f"bench/run: --before {before}: there is no {file}; name a folder that weft is built in")
        found.append(Runtime("before", file, links(build / "bench/runtimes/before", NAMES, file)))
    for name in wanted:
        if name not in KNOWN:
            raise SystemExit(f"bench/run: --runtimes {name}: there are {', '.join(KNOWN)}")
        file = file_of(root, build, name)
        if file is None or not file.exists():
            raise SystemExit(f"bench/run: {name} is not there{f' ({file})' if file else ''}; {remedy(name, build)}")
        directory = links(build / "bench/runtimes" / name, NAMES, file.resolve())
        found.append(Runtime(name, file.resolve(), directory))
    return found


def links(directory: pathlib.Path, names: tuple[str, ...], file: pathlib.Path) -> pathlib.Path:
    """A directory with links of these names to the file."""
    directory.mkdir(parents=True, exist_ok=True)
    for name in names:
        (directory / name).unlink(missing_ok=True)
        (directory / name).symlink_to(file)
    return directory


def openblas(build: pathlib.Path, path: pathlib.Path) -> pathlib.Path:
    """A directory that holds this OpenBLAS (a library, or a folder with one) under the name that programs ask for."""
    file = path / "libopenblas.so.0" if path.is_dir() else path
    if not file.exists():
        raise SystemExit(f"bench/run: --openblas {path}: no such library (a folder must hold libopenblas.so.0)")
    return links(build / "bench/openblas", ("libopenblas.so.0",), file.resolve())


def file_of(root: pathlib.Path, build: pathlib.Path, name: str) -> pathlib.Path | None:
    """The runtime of this name, wherever it would be."""
    if name == "weft":
        return build / "lib/weft/libgomp.so.1"
    if name == "libiomp5":
        return next((root / ".venv").glob("lib*/libiomp5.so"), None)
    if name == "libomp":
        versions = sorted(pathlib.Path("/usr/lib").glob("llvm-*/lib/libomp.so.5"), key=lambda p: (len(str(p)), str(p)))
        return versions[-1] if versions else None
    command = ["gcc", "-print-file-name=libgomp.so.1"]
    return pathlib.Path(subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip())


def remedy(name: str, build: pathlib.Path) -> str:
    """What to do where it is not there."""
    return {
        "weft": f"build it first (cmake --build {build}), or name another build with --build",
        "libgomp": "install gcc",
        "libiomp5": "run scripts/setup-bench",
        "libomp": "install a package such as libomp-19-dev",
    }[name]


def wrong_runtime(runtime: Runtime, result: Mapping[str, Any]) -> str:
    """Which other OpenMP runtime a program says it had; empty: the one that was meant."""
    return _wrong(str(runtime.file), {runtime.file}, result["runtimes"])


def wrong_libraries(runtime: Runtime, blas: pathlib.Path | None, result: Mapping[str, Any]) -> str:
    """The same of the runtime, and of the OpenBLAS, if the program has one."""
    wrong = wrong_runtime(runtime, result)
    if wrong or not blas or not result["blas"]:
        return wrong
    return _wrong("the OpenBLAS of --openblas", {(blas / "libopenblas.so.0").resolve()}, result["blas"])


def _wrong(what: str, meant: set[pathlib.Path], paths: Iterable[str]) -> str:
    mapped = {pathlib.Path(path).resolve() for path in paths}
    return "" if mapped == meant else f"{what} was meant, mapped was {', '.join(sorted(map(str, mapped))) or 'none'}"
