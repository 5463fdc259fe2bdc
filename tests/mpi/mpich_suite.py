#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""MPICH's own tests of MPI, under each MPI: without weft, then with its runtime and its MPI library. The outcomes must
agree, program by program. Under weft they run twice: outside of OpenMP, and in a parallel region, where calls pause.

scripts/setup-mpich-tests builds them. Exit code 77: skipped, the last line says why.
"""

import argparse
import dataclasses
import pathlib
import re
import subprocess
import sys
import tempfile

import outcomes
from outcomes import ROOT, SKIPPED, WEFT, Comparison, Outcomes

FOLDER = ROOT / "build/mpich-tests"
IN_REGION = pathlib.Path(__file__).resolve().parent / "in_region.c"
MPIS = ("openmpi", "mpich")
WAYS = ("serial", "region")
PARTS = (
    *("attr", "coll", "comm", "datatype", "errhan", "group", "info", "init", "io", "mpi_t", "part", "pt2pt", "rma"),
    *("spawn", "threads", "topo"),
)


@dataclasses.dataclass(frozen=True)
class Test:
    """A line of a list: program, ranks, and words such as arg=VALUE."""

    folder: pathlib.Path
    program: str
    ranks: int
    arguments: tuple[str, ...]
    environment: tuple[str, ...]

    def __str__(self) -> str:
        return " ".join((f"{self.folder.name}/{self.program}", str(self.ranks), *self.arguments, *self.environment))


def tests_of(folder: pathlib.Path, most_ranks: int) -> list[Test]:
    found = []
    lines = (folder / "testlist").read_text().splitlines() if (folder / "testlist").exists() else []
    for line in lines:
        words = line.split("#")[0].split()
        if not words:
            continue
        if (folder / words[0] / "testlist").exists():
            found += tests_of(folder / words[0], most_ranks)
            continue
        ranks = int(words[1]) if len(words) > 1 and words[1].isdigit() else 2
        of = {
            key: tuple(w.removeprefix(f"{key}=") for w in words[2:] if w.startswith(f"{key}="))
            for key in ("arg", "env", "mem")
        }
        program = folder / words[0]
        # libtool's scripts stand for programs as well. Those that need many GB are left out.
        if ranks <= most_ranks and program.is_file() and not of["mem"]:
            found.append(Test(folder, words[0], ranks, of["arg"], of["env"]))
    return found


def outcome(code: int | None, output: str, seconds: float) -> str:
    if code is None:
        return f"takes more than {seconds:g} s"
    said = "says no errors" if "No Errors" in output else "says nothing good"
    # The code of an ended program is the launcher's, and of several ranks it may be any.
    return f"{said}, {'passes' if code == 0 else 'ends with an error'}"


def run(mpi: str, test: Test, way: str, in_region: pathlib.Path, seconds: float, verbose: bool) -> Outcomes:
    weft = [] if way == "plain" else [WEFT, "run", "--preload", "--mpi"]
    if way == "region":
        weft = ["env", f"LD_PRELOAD={in_region}", *weft]
    command = [f"mpiexec.{mpi}", "-n", str(test.ranks), *weft, f"./{test.program}", *test.arguments]
    more = dict(word.split("=", 1) for word in test.environment)
    with tempfile.TemporaryDirectory(prefix="weft-mpich-tests-") as folder:
        written = pathlib.Path(folder) / "output"
        code = outcomes.launch(command, test.folder, written, seconds, more)
        output = written.read_text(errors="replace")
    found = outcome(code, output, seconds)
    if verbose and not found.endswith("no errors, passes"):
        print(output)
    return {"": found}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mpi", nargs="+", choices=MPIS, default=MPIS)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=WAYS)
    parser.add_argument("--only", nargs="+", default=["."], help="tests whose line holds one of these patterns")
    parser.add_argument("--most-ranks", type=int, default=5, help="tests with more ranks are left out")
    parser.add_argument("--seconds", type=float, default=120, help="for each test, by each way")
    parser.add_argument("--tries", type=int, default=3, help="how often a difference must show")
    parser.add_argument("--verbose", action="store_true", help="what tests write that fail")
    options = parser.parse_args()
    mpis = [mpi for mpi in options.mpi if (FOLDER / mpi).exists()]
    if not mpis:
        print("skipped: scripts/setup-mpich-tests builds what it needs")
        return SKIPPED
    comparison = Comparison(options.ways, options.tries)
    with tempfile.TemporaryDirectory() as folder:
        in_region = pathlib.Path(folder) / "in_region.so"
        subprocess.run(["cc", "-O1", "-fopenmp", "-fPIC", "-shared", str(IN_REGION), "-o", str(in_region)], check=True)
        for mpi in mpis:
            for part in options.parts:
                for test in tests_of(FOLDER / mpi / part, options.most_ranks):
                    if any(re.search(pattern, str(test)) for pattern in options.only):
                        comparison.add(
                            f"{mpi}, {test}",
                            lambda way, of=(mpi, test): run(*of, way, in_region, options.seconds, options.verbose),
                        )
    return comparison.end()


if __name__ == "__main__":
    sys.exit(main())
