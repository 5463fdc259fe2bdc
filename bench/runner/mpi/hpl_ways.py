# SPDX-License-Identifier: Apache-2.0
"""BLAS and OpenMP runtimes by which hpcc runs High Performance Linpack, as far as they are there."""

import dataclasses
import pathlib
from collections.abc import Mapping

from ..frame import machine, runtimes
from . import jobs

# Debian chooses the BLAS of all programs by links in /etc; here each run finds its own first.
BLAS, OPENBLAS = "libblas.so.3", "libopenblas.so.0"
STOCK = "OpenBLAS"
# How ranks are bound to CPUs, and what mpirun is told. Up to two ranks it binds each to one core by itself.
BINDINGS = {"none": jobs.UNBOUND["openmpi"], "core": ()}
PEER, OURS, NODE = f"{STOCK}, libgomp", f"{STOCK}, weft", f"{STOCK}, weft --node"


@dataclasses.dataclass(frozen=True)
class Place:
    ranks: int
    threads: int  # 0: what the runtime takes by itself
    binding: str

    @property
    def label(self) -> str:
        bound = "" if self.binding == "none" else f", bound to a {self.binding}"
        return f"{self.ranks} x {self.threads or 'default'}{bound}"

    @property
    def exceeds(self) -> bool:
        """Whether all ranks together have more threads than there are CPUs. By default each has one on each CPU it has;
        mpirun leaves more than two ranks unbound."""
        own = 1 if self.binding == "core" and self.ranks <= 2 else machine.cpus()
        return self.ranks * (self.threads or own) > machine.cpus()


@dataclasses.dataclass(frozen=True, eq=False)
class Way:
    name: str
    words: tuple[str, ...]  # in front of the program
    variables: Mapping[str, str]
    libraries: Mapping[str, pathlib.Path]  # that must be mapped, by the beginning of the name


@dataclasses.dataclass(frozen=True)
class Trial:
    place: Place
    way: Way


@dataclasses.dataclass(frozen=True)
class _Blas:
    name: str
    file: pathlib.Path | None
    remedy: str  # what to do where it is not there
    names: tuple[str, ...]  # under which programs find it
    beside: tuple[pathlib.Path, ...] = ()  # what must be found with it
    variables: Mapping[str, str] = dataclasses.field(default_factory=dict)


def _libraries(root: pathlib.Path) -> tuple[_Blas, _Blas, _Blas]:
    """The stock one, that by weftcc, and the vendor's."""
    stock = next(pathlib.Path("/usr/lib").glob(f"*/openblas-openmp/{OPENBLAS}"), None)
    mkl = next((root / ".venv").glob("lib*/libmkl_rt.so.2"), None)
    return (
        _Blas(STOCK, stock, "install libopenblas0-openmp", (OPENBLAS,), (stock.parent / BLAS,) if stock else ()),
        _Blas(
            f"{STOCK} by weftcc",
            root / "build/openblas/weftcc" / OPENBLAS,
            "run scripts/build-openblas weftcc",
            (BLAS, OPENBLAS),
        ),
        _Blas(
            "MKL",
            mkl,
            "run scripts/setup-hpl",
            (BLAS,),
            tuple(mkl.parent.glob("libmkl_*.so.2")) if mkl else (),
            {"MKL_THREADING_LAYER": "INTEL"},
        ),
    )


def find(root: pathlib.Path, build: pathlib.Path, only: list[str]) -> tuple[list[Way], dict[str, str]]:
    """Those whose names have one of these parts, and of those that are not there, why."""
    command, ours = str(build / "bin/weft"), build / "lib/weft/libgomp.so.1"
    stock, weftcc, mkl = _libraries(root)
    weft = (command, "run")
    candidates: list[tuple[_Blas, str, tuple[str, ...], pathlib.Path | None]] = [
        (stock, "libgomp", (), runtimes.file_of(root, build, "libgomp")),
        (stock, "weft", weft, ours),
        (stock, "weft --node", (*weft, "--node"), ours),
        (stock, "weft --mpi", (*weft, "--mpi"), ours),
        (weftcc, "weft", weft, ours),
        (mkl, "libiomp5", (), runtimes.file_of(root, build, "libiomp5")),
        (mkl, "weft", weft, ours),
    ]
    found: list[Way] = []
    skipped: dict[str, str] = {}
    for blas, name, words, runtime in candidates:
        whole = f"{blas.name}, {name}"
        if only and not any(part in whole for part in only):
            continue
        if blas.file is None or not blas.file.exists():
            skipped[whole] = f"{blas.file or blas.name} is not there; {blas.remedy}"
        elif runtime is None or not runtime.exists():
            skipped[whole] = f"{runtime or name} is not there; {runtimes.remedy(name.split()[0], build)}"
        else:
            found.append(_way(build, whole, words, blas, blas.file, runtime))
    return found, skipped


def _way(
    build: pathlib.Path, name: str, words: tuple[str, ...], blas: _Blas, file: pathlib.Path, runtime: pathlib.Path
) -> Way:
    # A folder of links: that of MKL has an hwloc too, with which Open MPI crashes.
    folder = runtimes.links(build / "bench/hpl" / name.replace(", ", "_").replace(" ", "_"), blas.names, file.resolve())
    for other in (*blas.beside, *([] if words else [runtime])):
        runtimes.links(folder, (other.name,), other.resolve())
    # A program on weft has its runtime under the first of its names.
    kind = "libgomp" if words else runtime.name.split(".")[0]
    mapped = {file.resolve().name.split(".")[0].split("-")[0]: file, kind: runtime}
    return Way(name, words, {"LD_LIBRARY_PATH": str(folder), **blas.variables}, mapped)
