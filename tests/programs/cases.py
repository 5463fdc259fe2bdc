# SPDX-License-Identifier: Apache-2.0
"""The programs that run.py tries: how each is prepared and started, and what of its output is its result."""

import dataclasses
import hashlib
import pathlib
import random
import re
import shutil
import subprocess
from collections.abc import Callable

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
INPUTS = HERE / "inputs"
KERNELS = ROOT / "bench" / "kernels"
VENV = ROOT / "build" / "programs" / "venv"


class Missing(Exception):
    """Something that the program needs is not installed; says what."""


def tool(name, package):
    path = shutil.which(name, path="/usr/bin:/usr/local/bin")
    if path is None:
        raise Missing(f"{name} (apt install {package}, or run scripts/setup-programs)")
    return path


def call(*command, cwd):
    done = subprocess.run(
        [str(part) for part in command], cwd=cwd, capture_output=True, text=True, timeout=600, check=False
    )
    if done.returncode != 0:
        raise RuntimeError(f"preparing failed: {' '.join(map(str, command))}\n{(done.stdout + done.stderr)[-2000:]}")


def digest(*paths):
    return [hashlib.sha256(path.read_bytes()).hexdigest()[:16] for path in paths]


def words(text):
    return text.split()


@dataclasses.dataclass(frozen=True)
class Size:
    """How much the programs have to do, and by how many threads. The defaults are for tests."""

    threads: int = 4
    picture: str = "700x500"
    edge: int = 120  # of the Fortran solvers' square
    steps: int = 300  # of molecular dynamics
    grid: int = 3  # k-points of Elk in each direction
    rows: str = "3e5"  # of R's table
    samples: int = 20000  # of scikit-learn's
    rounds: int = 1  # of Octave's factorizations
    mesh: int = 60  # FreeFem++'s square
    sequences: int = 60  # of FastTree's family


def adapt(name, folder, **changes):
    """Copies an input, each change a pair: what stands there, and what is to stand there."""
    text = (INPUTS / name if (INPUTS / name).exists() else HERE / name).read_text()
    for old, new in changes.values():
        if old not in text:
            raise RuntimeError(f"{name} does not say {old} any more")
        text = text.replace(old, new)
    (folder / name).write_text(text)


@dataclasses.dataclass(frozen=True)
class Case:
    name: str
    # Gets an empty folder and fills it with what all runs need; returns the command.
    prepare: Callable[[pathlib.Path, Size], list]
    # The result, a list of words, from the folder and the standard output.
    result: Callable[[pathlib.Path, str], list] = lambda folder, output: words(output)
    # Relative difference up to which two numbers are the same: sums of floating-point numbers depend on the order.
    tolerance: float = 0.0
    environment: dict = dataclasses.field(default_factory=dict)
    # Whether it finds its runtime by the usual name, so that another library of that name can take its place.
    replaceable: bool = True
    # Whether it opens parallel regions. The others have threads of their own, which must go on as they do.
    regions: bool = True
    threads: int | None = None  # OMP_NUM_THREADS, where it is not what the others have


# ---- kernels of our own ----


def kernel(compiler, name, *arguments):
    def prepare(folder, _size):
        call(
            tool(compiler, "gcc-12 clang-19 libomp-19-dev"),
            "-O2",
            "-fopenmp",
            KERNELS / f"{name}.c",
            "-o",
            folder / name,
            "-lm",
            cwd=folder,
        )
        return [f"./{name}", *arguments]

    label = " ".join([name.upper(), *arguments])
    return Case(f"{label} ({compiler})", prepare, tolerance=1e-9, environment={"OMP_MAX_ACTIVE_LEVELS": "2"})


def solvers(folder, size):
    adapt("solvers.f90", folder, edge=("n = 120", f"n = {size.edge}"))
    call(
        tool("gfortran-12", "gfortran-12"),
        "-O2",
        "-fopenmp",
        "solvers.f90",
        "-J",
        folder,
        "-o",
        folder / "solvers",
        cwd=folder,
    )
    return ["./solvers"]


# ---- programs of Debian's ----


def magick(folder, size):
    convert = tool("convert-im6.q16", "imagemagick")
    call(
        convert, "-size", size.picture, "-seed", "5", "plasma:tomato-steelblue", "-depth", "16", "start.png", cwd=folder
    )
    return [
        convert,
        "start.png",
        "-blur",
        "0x6",
        "-resize",
        "140%",
        "-distort",
        "Arc",
        "70",
        "-unsharp",
        "0x3",
        "-median",
        "2",
        "-modulate",
        "110,80",
        "-colorspace",
        "Lab",
        "-equalize",
        "-colorspace",
        "sRGB",
        "-rotate",
        "13",
        "-depth",
        "8",
        "result.ppm",
    ]


def gromacs(folder, size):
    gmx = tool("gmx", "gromacs")
    threads = str(size.threads)
    shutil.copy(INPUTS / "em.mdp", folder)
    adapt("md.mdp", folder, steps=("nsteps = 300", f"nsteps = {size.steps}"))
    shutil.copy(INPUTS / "water.top", folder / "topol.top")
    call(gmx, "solvate", "-cs", "spc216", "-box", "2.5", "2.5", "2.5", "-o", "box.gro", "-p", "topol.top", cwd=folder)
    call(gmx, "grompp", "-f", "em.mdp", "-c", "box.gro", "-p", "topol.top", "-o", "em.tpr", cwd=folder)
    call(
        gmx,
        "mdrun",
        "-s",
        "em.tpr",
        "-ntmpi",
        "1",
        "-ntomp",
        threads,
        "-reprod",
        "-nb",
        "cpu",
        "-deffnm",
        "em",
        cwd=folder,
    )
    call(gmx, "grompp", "-f", "md.mdp", "-c", "em.gro", "-p", "topol.top", "-o", "run.tpr", cwd=folder)
    return [gmx, "mdrun", "-s", "run.tpr", "-ntmpi", "1", "-ntomp", threads, "-reprod", "-nb", "cpu", "-deffnm", "out"]


def energies(folder, _output):
    """All energies of all steps that the log holds."""
    blocks = re.findall(r"Energies \(kJ/mol\)\n((?:.+\n)+)", (folder / "out.log").read_text())
    return [number for block in blocks for number in re.findall(r"-?\d\.\d+e[+-]\d+", block)]


def elk(folder, size):
    adapt("aluminium.elk", folder, grid=("  3 3 3\n", f"  {size.grid} {size.grid} {size.grid}\n"))
    (folder / "aluminium.elk").rename(folder / "elk.in")
    return [tool("elk-lapw", "elk-lapw")]


def tables(folder, size):
    adapt(
        "tables.R",
        folder,
        rows=("rows <- 3e5", f"rows <- {size.rows}"),
        threads=("setDTthreads(4)", f"setDTthreads({size.threads})"),
    )
    return [tool("Rscript", "r-base-core r-cran-data.table"), "--vanilla", "tables.R"]


# Debian's -lblas and -llapack, in front of OpenBLAS, are in all of the following.

MPI = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def octave(folder, size):
    adapt("linear.m", folder, rounds=("rounds = 1;", f"rounds = {size.rounds};"))
    return [tool("octave-cli", "octave"), "--norc", "--no-history", "--no-init-file", "linear.m"]


def smooth(folder, size):
    adapt("smooth.R", folder, threads=("nthreads = 2", f"nthreads = {size.threads}"))
    return [tool("Rscript", "r-base-core r-cran-mgcv"), "--vanilla", "smooth.R"]


def poisson(folder, size):
    adapt("poisson.edp", folder, mesh=("n = 60;", f"n = {size.mesh};"))
    return [tool("FreeFem++", "freefem++"), "-nw", "-v", "0", "poisson.edp"]


def espresso(folder, size):
    adapt("silicon.pw", folder, grid=(" 3 3 3 ", f" {size.grid} {size.grid} {size.grid} "))
    # The pseudopotential, which no package brings.
    call(tool("ld1.x", "quantum-espresso"), "-in", INPUTS / "silicon.ld1", cwd=folder)
    return [tool("pw.x", "quantum-espresso"), "-in", "silicon.pw"]


def final_energy(_folder, output):
    return re.findall(r"^!\s+total energy\s+=\s+(\S+)", output, re.MULTILINE)


def cp2k(folder, _size):
    adapt("water.cp2k", folder)
    # A core each: a member that polls shares it with the others.
    return [
        tool("mpirun", "openmpi-bin"),
        "-np",
        "2",
        "--bind-to",
        "core",
        tool("cp2k.psmp", "cp2k"),
        "-i",
        "water.cp2k",
    ]


def psi4(folder, size):
    adapt("water.psi4", folder)
    return [tool("psi4", "psi4"), "-n", str(size.threads), "water.psi4", "out.txt"]


def alignment(folder, sequences, length):
    """A family of sequences, each a little different from one before."""
    chance = random.Random(5)
    family = ["".join(chance.choice("ACGT") for _ in range(length))]
    while len(family) < sequences:
        parent = chance.choice(family)
        family.append("".join(chance.choice("ACGT") if chance.random() < 0.08 else letter for letter in parent))
    (folder / "family.fasta").write_text("".join(f">s{i}\n{letters}\n" for i, letters in enumerate(family)))


def fasttree(folder, size):
    alignment(folder, size.sequences, 300)
    return [tool("fasttreeMP", "fasttree"), "-nt", "-quiet", "family.fasta"]


def suite_sparse(name, library):
    def prepare(folder, _size):
        adapt(name, folder)
        if not all(
            pathlib.Path("/usr/include", header).exists() for header in ("suitesparse/cholmod.h", "GraphBLAS.h")
        ):
            raise Missing(
                "SuiteSparse (apt install libsuitesparse-dev libgraphblas-dev, or run scripts/setup-programs)"
            )
        program = folder / pathlib.Path(name).stem
        call(tool("gcc-12", "gcc-12"), "-O2", "-fopenmp", folder / name, "-o", program, library, cwd=folder)
        return [program]

    return prepare


# ---- PyPI's ----


def venv_python():
    python = VENV / "bin" / "python"
    if not python.exists():
        raise Missing("build/programs/venv (run scripts/setup-programs)")
    return python


def script(name):
    def prepare(folder, _size):
        adapt(name, folder)
        return [venv_python(), name]

    return prepare


def learn(folder, size):
    python = venv_python()
    adapt("learn.py", folder, samples=("n_samples=20000", f"n_samples={size.samples}"))
    return [python, "learn.py"]


CASES = [
    *(
        kernel(compiler, *which)
        for compiler in ("gcc-12", "clang-19")
        for which in (("ep",), ("is",), ("cg",), ("cg", "4"), ("mg",))
    ),
    Case("Fortran: Jacobi, CG", solvers, tolerance=1e-9),
    Case("ImageMagick", magick, lambda folder, _: digest(folder / "result.ppm")),
    Case("GROMACS, 510 waters", gromacs, energies, tolerance=1e-5),
    Case(
        "Elk, aluminium",
        elk,
        lambda folder, _: words((folder / "TOTENERGY.OUT").read_text()),
        tolerance=1e-6,
        environment={"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OPENBLAS_NUM_THREADS": "2"},
    ),
    Case("R, data.table", tables, tolerance=1e-9),
    Case("Octave", octave, tolerance=1e-7),
    Case("R, mgcv and LAPACK", smooth, tolerance=1e-5),
    Case("FreeFem++", poisson, tolerance=1e-7),
    Case("Quantum ESPRESSO", espresso, final_energy, tolerance=1e-8, environment=MPI),
    Case(
        "CP2K, 2 bound ranks",
        cp2k,
        lambda _, output: re.findall(r"energy \[a.u.\]:\s+(\S+)", output),
        tolerance=1e-8,
        environment=MPI,
        threads=2,
    ),
    Case(
        "psi4",
        psi4,
        lambda folder, _: re.findall(r"Total Energy\s+=\s+(-\S+)", (folder / "out.txt").read_text()),
        tolerance=1e-7,
    ),
    Case("FastTree", fasttree, tolerance=1e-4),
    Case("CHOLMOD", suite_sparse("sparse.c", "-lcholmod"), tolerance=1e-9),
    Case("GraphBLAS", suite_sparse("graph.c", "-lgraphblas")),
    Case("pyscf", script("molecule.py"), tolerance=1e-7),
    Case("ggml", script("ggml.py"), tolerance=1e-4, replaceable=False),
    # Its regions are those of processes that it starts.
    Case("Ray", script("actors.py"), tolerance=1e-6, replaceable=False, regions=False),
    Case("JAX", script("waves.py"), tolerance=1e-6, replaceable=False, regions=False),
    Case("scikit-learn", learn, tolerance=1e-6, environment={"OPENBLAS_NUM_THREADS": "2"}, replaceable=False),
]
