# SPDX-License-Identifier: Apache-2.0
"""The OpenMP runtimes that are compared: each as a directory that holds it under all its names."""
import dataclasses
import pathlib
import subprocess

NAMES = ("libgomp.so.1", "libomp.so.5", "libiomp5.so")


@dataclasses.dataclass(frozen=True)
class Runtime:
    name: str
    file: pathlib.Path  # the library, links resolved
    directory: pathlib.Path


def _directory(folder: pathlib.Path, name: str, file: pathlib.Path) -> Runtime:
    directory = folder / name
    directory.mkdir(parents=True, exist_ok=True)
    for link in NAMES:
        (directory / link).unlink(missing_ok=True)
        (directory / link).symlink_to(file)
    return Runtime(name, file.resolve(), directory)


def find(root: pathlib.Path, build: pathlib.Path, wanted: list[str]) -> list[Runtime]:
    """The runtimes of these names; exits with a message when one is missing."""
    gomp = subprocess.run(["gcc", "-print-file-name=libgomp.so.1"], capture_output=True, text=True, check=True)
    files = {
        "weft": build / "lib/weft/libgomp.so.1",
        "libgomp": pathlib.Path(gomp.stdout.strip()),
        "libiomp5": next((root / ".venv").glob("lib*/libiomp5.so"), pathlib.Path("libiomp5.so")),
    }
    for name in wanted:
        if name not in files:
            raise SystemExit(f"bench/run: --runtimes {name}: there are {', '.join(files)}")
        if not files[name].exists():
            raise SystemExit(f"bench/run: {name} is not there ({files[name]}); run make build and scripts/setup-bench")
    return [_directory(build / "bench/runtimes", name, files[name].resolve()) for name in wanted]
