# SPDX-License-Identifier: Apache-2.0
"""MPI programs by the MPIs that are there, under an OpenMP runtime, with and without task-aware MPI."""

import contextlib
import dataclasses
import json
import os
import pathlib
import shutil
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..frame import machine, process, runtimes
from ..frame.runtimes import Runtime

# How each MPI starts a job.
LAUNCHERS = {
    "openmpi": ("mpirun.openmpi", "--allow-run-as-root", "--oversubscribe"),
    "mpich": ("mpiexec.mpich",),
}
# Ranks are not bound then: with threads they would share one CPU.
UNBOUND = {"openmpi": ("--bind-to", "none"), "mpich": ()}
LIBRARY = "lib/weft/libweft-mpi.so"
HUNG = "no end after"
# Open MPI is to leave the CPU to others while it waits, and its mpirun now and then loses the end of a rank.
SETTINGS = {"OMPI_MCA_mpi_yield_when_idle": "1", "OMPI_MCA_orte_allowed_exit_without_sync": "1", "KMP_WARNINGS": "0"}
# From the polite end of a job to the other one.
LEAVE_S = 10


@dataclasses.dataclass(frozen=True)
class Place:
    """Where a program runs: so many ranks, each with so many OpenMP threads."""

    mpi: str
    ranks: int
    threads: int

    @property
    def label(self) -> str:
        return f"{self.mpi}, {self.ranks} x {self.threads}"


@dataclasses.dataclass(frozen=True)
class Way:
    """An OpenMP runtime, and the library of task-aware MPI where it is used."""

    runtime: Runtime
    preloaded: pathlib.Path | None

    @property
    def name(self) -> str:
        return self.runtime.name


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What the program wrote, or why there is nothing."""

    result: dict[str, Any] | None
    reason: str = ""

    @property
    def hung(self) -> bool:
        return self.reason.startswith(HUNG)


def found_mpis(build: pathlib.Path, program: str) -> list[str]:
    """The MPIs that can be started here and for which the program was built."""
    return [
        name
        for name, words in LAUNCHERS.items()
        if shutil.which(words[0]) and (build / "bench" / f"{program}_{name}").exists()
    ]


def find_ways(root: pathlib.Path, build: pathlib.Path, names: Sequence[str]) -> list[Way]:
    """Of these runtimes; with weft, task-aware MPI is used."""
    library = (build / LIBRARY).absolute()
    if "weft" in names and not library.exists():
        raise SystemExit(f"bench/run: weft: {library} is not there; build it, or leave weft out of --runtimes")
    found = runtimes.find(root, build, list(names))
    return [Way(runtime, library if runtime.name == "weft" else None) for runtime in found]


def without_library(ways: Sequence[Way]) -> Way:
    """In which versions without OpenMP run: without task-aware MPI, if there is such a way."""
    return next((way for way in ways if way.preloaded is None), ways[0])


def there_by_default(build: pathlib.Path) -> tuple[str, ...]:
    return ("weft", "libgomp") if (build / LIBRARY).exists() else ("libgomp",)


def rank_counts() -> list[int]:
    """One, one on each CPU, and twice as many."""
    return list(dict.fromkeys((1, machine.cpus(), 2 * machine.cpus())))


def places(mpi: str) -> list[Place]:
    """Each rank with its share of the CPUs, and with all of them."""
    cpus = machine.cpus()
    return [
        Place(mpi, ranks, threads)
        for ranks in rank_counts()
        for threads in dict.fromkeys((max(1, cpus // ranks), cpus))
    ]


def run(build: pathlib.Path, place: Place, way: Way, program: str, words: Sequence[object], timeout_s: int) -> Outcome:
    """A job whose rank 0 writes JSON, or nothing."""
    variables = {"LD_LIBRARY_PATH": str(way.runtime.directory), "OMP_NUM_THREADS": str(place.threads)}
    if way.preloaded:
        variables["LD_PRELOAD"] = str(way.preloaded)
    launcher = [*LAUNCHERS[place.mpi], *UNBOUND[place.mpi]]
    program_words = [str(build / "bench" / f"{program}_{place.mpi}"), *(str(word) for word in words)]
    output, reason = finish(start(launcher, place.ranks, variables, program_words), timeout_s)
    if reason:
        return Outcome(None, reason)
    if not output.strip():
        return Outcome({})
    try:
        result = json.loads(output)
    except json.JSONDecodeError as error:
        return Outcome(None, f"no JSON on stdout: {error}")
    wrong = runtimes.wrong_runtime(way.runtime, result)
    return Outcome(None, wrong) if wrong else Outcome(result)


def start(
    launcher: Sequence[str],
    ranks: int,
    variables: Mapping[str, str],
    words: Sequence[str],
    folder: pathlib.Path | None = None,
) -> subprocess.Popen[str]:
    """A job in this folder. The variables are those of the ranks, not of what starts them."""
    settings = (f"{name}={value}" for name, value in variables.items())
    # Ranks and threads are more than the CPUs: a rank that waits in Open MPI gives its CPU away.
    return subprocess.Popen(
        [*launcher, "-n", str(ranks), "env", *settings, *words],
        cwd=folder,
        env=process.environment() | SETTINGS,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


@contextlib.contextmanager
def running(build: pathlib.Path, mpi: str, program: str, words: Sequence[object]) -> Iterator[subprocess.Popen[str]]:
    """A job of two ranks runs meanwhile; if this process is killed, it ends by itself."""
    launcher = ["timeout", str(process.TIMEOUT_S), *LAUNCHERS[mpi], *UNBOUND[mpi]]
    job = start(launcher, 2, {"OMP_NUM_THREADS": "1"}, [str(build / "bench" / f"{program}_{mpi}"), *map(str, words)])
    try:
        yield job
    finally:
        end(job)


def finish(job: subprocess.Popen[str], timeout_s: float) -> tuple[str, str]:
    """What it wrote, and why that is no result; empty: it is one."""
    try:
        output, errors = job.communicate(timeout=timeout_s)
    except subprocess.TimeoutExpired:
        end(job)
        return "", f"{HUNG} {timeout_s:g} s"
    # Without what Open MPI's mpirun adds.
    return output, process.exit_status(job.returncode, errors.split("-----")[0]) if job.returncode != 0 else ""


def end(job: subprocess.Popen[str]) -> None:
    """With all of its ranks, which the launcher ends when it is asked to. Those that it leaves are of its session."""
    job.terminate()
    try:
        job.communicate(timeout=LEAVE_S)
    except subprocess.TimeoutExpired:
        job.kill()
    for rank in processes(job.pid):
        with contextlib.suppress(ProcessLookupError):
            os.kill(rank, signal.SIGKILL)
    job.communicate()


def processes(leader: int) -> list[int]:
    """Of the session of this job."""
    found = []
    for status in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = status.read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it has ended
        if int(fields[3]) == leader and fields[0] != "Z":
            found.append(int(status.parent.name))
    return found
