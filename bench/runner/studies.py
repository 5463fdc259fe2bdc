# SPDX-License-Identifier: Apache-2.0
"""All studies: what each is, where it is written, and how `bench/run everything` runs it."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Entry:
    name: str
    written: str = ""  # module and class in this package; empty: among those of together.py
    options: str = ""  # of docs/reference/performance.md
    needs: tuple[str, ...] = ()  # scripts that install what it is built with or runs
    made_by: tuple[str, ...] = ()  # scripts that need weft's build

    def command(self) -> list[str]:
        return ["bench/run", self.name, *self.options.split()]


# Those that run several of the others, and all others.
ABOUT = {
    "demo": "a pool of callers on a busy machine and on this one; nested BLAS, small, and some calls: three minutes",
    "all": "callers, nested-blas, blas-calls, micro and node",
    "everything": "every study, as docs/reference/performance.md has it: hours; STUDY... for some of them",
    "callers": "threads of a pool that all call a parallel library, with and without other programs beside",
    "nested-blas": "nested BLAS: every routine and type",
    "blas-calls": "calls of BLAS and LAPACK outside of regions, by each way to link OpenBLAS",
    "gangs": "a BLAS that is told more threads than there are CPUs, called from several places",
    "micro": "single constructs, against the targets",
    "loads": "flat constructs in many runs beside programs that compute: how far the runs are from each other",
    "quotas": "steps of a parallel loop under quotas of CPUs, as in containers",
    "programs": "real programs, under their own runtime too",
    "node": "processes that run at once, with and without one budget for the node",
    "loops": "parallel loops by weftcc, flat and nested, against clang's, gcc's and oneTBB's",
    "engines": "the loops of a program by weftcc, run by each library that is there",
    "compile-cost": "what weftcc costs against clang: time to compile, size of the code",
    "openblas": "nested BLAS with OpenBLAS by several compilers",
    "mpi": "single calls of MPI, outside and inside of tasks",
    "gauss-seidel": "the heat equation by MPI and tasks, in seven versions",
    "ifsker": "a mock-up of a weather model by MPI and tasks, in four versions",
    "hpl": "High Performance Linpack by ranks and threads, with several BLAS",
    "collectives": "collectives of each MPI, and weft's in their place",
    "rwlock": "reader-writer locks between processes",
    "kv": "stores of keys and values between processes",
    "numa": "a matrix times a vector on NUMA nodes: first touch, binding, balancing; --guest makes two nodes",
    "numa-cost": "what weft numa costs a program with much memory",
    "python": "Python programs in several modes",
    "inference": "servers and training: PyTorch, llama.cpp, onnxruntime",
}
MPI, ENGINES = ("scripts/setup-mpi",), ("scripts/setup-engines",)
VERSIONS = "pure-mpi,interop-blk,interop-nonblk"
PYTHON = ("scripts/setup-bench-python --torch --stacks",)
STUDIES = (
    Entry("callers"),
    Entry("nested-blas"),
    Entry("blas-calls"),
    Entry("gangs", "openmp.gangs.Gangs"),
    Entry("micro", options="--rounds 2"),
    Entry("loads", "openmp.loads.Loads", "--rounds 8", MPI),
    Entry("quotas", "openmp.quotas.Quotas"),
    Entry("programs", needs=("scripts/setup-programs",)),
    Entry("node"),
    Entry("loops", "compiler.loops.Loops", "--rounds 4 --repeat 9", ENGINES),
    Entry("engines", "compiler.engines.Engines", needs=ENGINES),
    Entry("compile-cost", "compiler.compile_cost.CompileCost", "--rounds 3"),
    Entry("openblas", "openmp.openblas.OpenBlas", made_by=("scripts/build-openblas",)),
    Entry("mpi", "mpi.calls.Calls", needs=MPI),
    Entry("gauss-seidel", "mpi.gauss_seidel.GaussSeidel", f"--runtimes weft --only {VERSIONS} --rounds 3", MPI),
    Entry("ifsker", "mpi.ifsker.Ifsker", "--rounds 3", MPI),
    Entry("hpl", "mpi.hpl.Hpl", "--rounds 3", (*MPI, "scripts/setup-hpl")),
    Entry("collectives", "mpi.collectives.Collectives", "--rounds 1 --ranks 2,8", MPI),
    Entry("rwlock", "shm.rwlock.Rwlock", "--rounds 3"),
    Entry("kv", "shm.kv.Kv", "--only stores --rounds 3", ("scripts/setup-kv",)),
    Entry("numa", "numa.nodes.Numa", "--guest", ("scripts/setup-numa",)),
    Entry("numa-cost", "numa.cost.NumaCost", "--rounds 3 --passes 12"),
    Entry("python", "python.main.Python", "--rounds 2", PYTHON),
    Entry("inference", "python.inference.Inference", "--rounds 2", PYTHON),
)


def listed() -> str:
    """For --help."""
    return "studies:\n" + "\n".join(f"  {name:14}{about}" for name, about in ABOUT.items())
