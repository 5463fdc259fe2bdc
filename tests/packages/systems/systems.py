#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""systems.py ARCHIVE WHEEL RELEASE...: both in roots of these releases of Debian (scripts/setup-system makes them).

Prints a table of the releases and of what works there, and below it why the rest does not; with --page FILE the table
goes to that page too, between its marks. Exit code 1 if something fails. Root alone can run it.
"""

import argparse
import dataclasses
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

TREE = pathlib.Path(__file__).resolve().parents[3]
ROOTS = TREE / "build/systems"
BEGIN, END = "<!-- systems: begin -->", "<!-- systems: end -->"
# The mounts end with the name space. The root's own folders stay as they are.
ENTER = """mount --rbind /proc "$0/proc" && mount --rbind /sys "$0/sys" && mount --rbind /dev "$0/dev" &&
mkdir -p "$0/weft" "$0/tests" && mount --bind "$1" "$0/weft" && mount --bind "$2" "$0/tests" && touch "$0/etc/hosts" &&
mount --bind /etc/hosts "$0/etc/hosts" && shift 2 &&
exec chroot "$0" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 OMPI_ALLOW_RUN_AS_ROOT=1 \
OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1 sh -ec "$@" """
OPENMPI = "mpirun.openmpi --oversubscribe -n 2"
MPICH = "mpirun.mpich -n 2"
# The exit code of a row whose MPI is not there.
NOT_THERE = 77
# Of a row that fails by what the page says of that system's MPI.
EXPLAINED = 78
# Without weft its two threads a rank wait for one another.
TASKS = "OMP_NUM_THREADS=2 timeout 100 {run} /weft/bin/weft run --mpi /tmp/program"


def mpi(compiler: str, run: str) -> str:
    build = f"{compiler} -fopenmp -O2 /tests/mpi/opposite_order.c -o /tmp/program"
    return f"{build}; {TASKS.format(run=run)}"


# The ranks say that they share memory only where weft's collectives take part.
def collectives(compiler: str, run: str) -> str:
    return (
        f"{compiler} -O2 /tests/coll/mpi/programs/operations.c -o /tmp/program -lm; "
        f"timeout 100 {run} env WEFT_COLLECTIVES_AFTER=1 WEFT_COLLECTIVES_REPORT=1 /weft/bin/weft run --collectives "
        "/tmp/program 5000 >/tmp/said 2>&1; cat /tmp/said; grep -q '2 ranks share memory' /tmp/said; "
        "! grep -q 'mca_coll_weft' /tmp/said"
    )


# The MPI standard's ABI: both MPIs may have it, and a library by one name.
def by_abi(mpi: str, headers: str, run: str) -> str:
    libraries = "/usr/lib/x86_64-linux-gnu"
    build = f"gcc -fopenmp -O2 -I{libraries}/{headers} $source -o /tmp/program /tmp/abi/libmpi_abi.so.1 -lm"
    on = f"timeout 100 {run} env LD_LIBRARY_PATH=/tmp/abi"
    return (
        f"test -e {libraries}/libmpi_abi_{mpi}.so.1.0.0 || exit {NOT_THERE}; mkdir -p /tmp/abi; "
        f"ln -sf {libraries}/libmpi_abi_{mpi}.so.1.0.0 /tmp/abi/libmpi_abi.so.1; "
        f"source=/tests/mpi/opposite_order.c; {build}; OMP_NUM_THREADS=2 {on} /weft/bin/weft run --mpi /tmp/program; "
        f"source=/tests/coll/mpi/programs/operations.c; {build}; "
        f"{on} WEFT_COLLECTIVES_AFTER=1 WEFT_COLLECTIVES_REPORT=1 /weft/bin/weft run --collectives /tmp/program 5000 "
        ">/tmp/said 2>&1; cat /tmp/said; grep -q '2 ranks share memory' /tmp/said"
    )


def tune(run: str) -> str:
    return (
        f"rm -rf /tmp/tune; timeout 100 {run} /weft/bin/weft tune collectives --only bcast --budget 5s -o /tmp/tune "
        ">/tmp/said 2>&1 && exit; cat /tmp/said; "
        f"grep -q 'this MPI says that each rank is alone on its host' /tmp/said && exit {EXPLAINED}; exit 1"
    )


# A program that hangs: while it does, and the core file that it leaves.
def of_a_hang(of_process: str, of_core: str) -> str:
    return (
        "mkdir -p /tmp/hang; cd /tmp/hang; rm -f core*; ulimit -c unlimited; "
        "gcc -fopenmp -g /tests/packages/systems/hangs.c -o program; "
        "/weft/bin/weft run ./program & program=$!; trap 'kill -9 $program 2>&1 || true' EXIT; sleep 2; "
        f"{of_process.format(process='$program')} >said 2>&1; cat said; grep -q 'take_both.*hangs.c' said; "
        f"kill -ABRT $program; wait $program || true; {of_core.format(core='core*')} >said 2>&1; cat said; "
        "grep -q 'take_both.*hangs.c' said"
    )


GDB = "gdb -batch -ex 'source /weft/lib/weft/weft-gdb.py' -ex 'weft backtrace all'"

ROWS = {
    "the command starts": "/weft/bin/weft --version; /weft/bin/weft info >/dev/null",
    "OpenMP programs by gcc": "python3 -B /tests/packages/systems/openmp.py /weft/lib/weft gcc",
    "OpenMP programs by clang": "python3 -B /tests/packages/systems/openmp.py /weft/lib/weft clang",
    "NumPy, SciPy, scikit-learn": "python3 /tests/packages/systems/python_libraries.py >/tmp/own; "
    "/weft/bin/weft run --stats=all python3 /tests/packages/systems/python_libraries.py >/tmp/weft 2>/tmp/said; "
    "cmp /tmp/own /tmp/weft; grep -q 'weft statistics' /tmp/said",
    "`--mpi`, Open MPI": mpi("mpicc.openmpi", OPENMPI),
    "`--mpi`, MPICH": mpi("mpicc.mpich", MPICH),
    "`--collectives`, Open MPI": collectives("mpicc.openmpi", OPENMPI),
    "`--collectives`, MPICH": collectives("mpicc.mpich", MPICH),
    "both by the MPI standard's ABI, Open MPI": by_abi("openmpi", "openmpi/include/standard_abi", OPENMPI),
    "both by the MPI standard's ABI, MPICH": by_abi("mpich", "mpi_abi_mpich/include", MPICH),
    "`weft tune collectives`, Open MPI": tune(OPENMPI),
    "`weft tune collectives`, MPICH": tune(MPICH),
    "`weft threads` of a process and a core file": of_a_hang(
        "/weft/bin/weft threads {process}", "/weft/bin/weft threads {core}"
    ),
    "its stacks in gdb, of both": of_a_hang(f"{GDB} -p {{process}}", f"{GDB} ./program {{core}}"),
    # Unpacked as pip does it: these systems have none.
    "the wheel, NumPy and others": "rm -rf /tmp/site; python3 -m zipfile -e /weft/weft.whl /tmp/site; "
    "install -D -m 755 /tmp/site/weft-*.data/scripts/weft /tmp/site/weft/bin/weft; "
    "PYTHONPATH=/tmp/site python3 -m weft --stats=all /tests/packages/systems/python_libraries.py >/tmp/weft 2>/tmp/said; "
    "cmp /tmp/own /tmp/weft; grep -q 'weft statistics' /tmp/said",
}


@dataclasses.dataclass
class System:
    """A root, and weft unpacked for it."""

    release: str
    weft: pathlib.Path

    def run(self, command: str) -> "tuple[int, str]":
        words = ["unshare", "--mount", "sh", "-c", ENTER, ROOTS / self.release, self.weft, TREE / "tests", command]
        done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        return done.returncode, done.stdout.strip()

    def title(self) -> str:
        said = self.run(
            "ldd --version; gcc --version; clang --version; python3 --version; grep PRETTY /etc/os-release"
        )[1]
        name = re.search(r'PRETTY_NAME="Debian GNU/Linux ([^"]*)"', said)
        found = [
            re.search(pattern, said) for pattern in (r"GLIBC (\d+\.\d+)", r"gcc .*?(\d+)\.", r"clang version (\d+)")
        ]
        glibc, gcc, clang = (match[1] if match else "?" for match in found)
        return f"Debian {name[1] if name else self.release}<br>glibc {glibc}, gcc {gcc}, clang {clang}"


def table(titles: "list[str]", verdicts: "dict[str, list[str]]") -> str:
    lines = ["| | " + " | ".join(titles) + " |", "|---|" + "---|" * len(titles)]
    return "\n".join([*lines, *("| " + " | ".join([row, *of]) + " |" for row, of in verdicts.items())])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("archive", type=pathlib.Path)
    parser.add_argument("wheel", type=pathlib.Path)
    parser.add_argument("release", nargs="+")
    parser.add_argument("--page", type=pathlib.Path)
    asked = parser.parse_args()
    titles: list[str] = []
    verdicts: dict[str, list[str]] = {row: [] for row in ROWS}
    faults = []
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["tar", "xf", asked.archive, "-C", folder], check=True)
        (weft,) = pathlib.Path(folder).iterdir()
        shutil.copy(asked.wheel, weft / "weft.whl")
        for release in asked.release:
            system = System(release, weft)
            titles.append(system.title())
            for row, command in ROWS.items():
                code, said = system.run(command)
                last = said.splitlines()[-1] if said else ""
                # Of the OpenMP programs, how many.
                count = re.search(r"(\d+) pass, (\d+) fail, (\d+) do not build", last)
                some = f"{count[1]} of {int(count[1]) + int(count[2])}, {count[3]} do not build" if count else ""
                verdict = "not there" if code == NOT_THERE else f"{some or 'no'} (see below)"
                verdicts[row].append((some or "yes") if code == 0 else verdict)
                print(f"{release}: {row}: {verdicts[row][-1]}", flush=True)
                if code not in (0, NOT_THERE, EXPLAINED):
                    faults.append(f"--- {release}: {row}: exit code {code}\n{said}")
    made = table(titles, verdicts)
    print("\n".join([made, *faults]))
    if asked.page is not None:
        before, _, rest = asked.page.read_text().partition(BEGIN)
        asked.page.write_text(f"{before}{BEGIN}\n{made}\n{END}{rest.partition(END)[2]}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
