#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What weft does with each version of OpenBLAS and oneTBB, checked: make test-blas-versions.

Wheels are downloaded once, into build/blas-versions. Each copy of OpenBLAS is called from threads, from a parallel region,
and with more threads than there are CPUs (blas_calls.c); those that weft leaves alone with as many as there are.
"""

import argparse
import dataclasses
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = pathlib.Path(__file__).parent
CPUS = 4
LIMIT = 600  # seconds
# A copy that is left alone may take a hundred times as long: its threads spin on each other without CPUs.
ROUNDS = {"taken over": 6, "OpenMP": 6, "left alone": 1}

OPENBLAS = (
    "0.3.23.293.2 0.3.24.95.1 0.3.26.0.4 0.3.27.63.1 0.3.28.0.2 0.3.29.0.0 0.3.29.265.1 0.3.30.0.8 0.3.30.359.2 "
    "0.3.30.443.1 0.3.31.22.1 0.3.31.126.5 0.3.31.188.0 0.3.33.0.0 0.3.33.201.0 0.3.34.0.0 0.3.34.106.0 0.3.34.237.2 "
    "0.3.34.481.3"
).split()
# Each with a version of Python that it has a wheel for.
NUMPY = {
    "1.19.5": "3.9",
    "1.21.6": "3.9",
    "1.22.4": "3.9",
    "1.23.5": "3.9",
    "1.24.4": "3.9",
    "1.25.2": "3.11",
    "1.26.4": "3.11",
    "2.0.2": "3.11",
    "2.1.3": "3.11",
    "2.2.0": "3.11",
    "2.2.6": "3.11",
    "2.3.5": "3.11",
    "2.4.6": "3.11",
}
TBB = (
    "2021.1.1 2021.5.1 2021.10.0 2021.11.0 2021.12.0 2021.13.1 2022.0.0 2022.1.0 2022.2.0 2022.3.1 2023.0.0 2023.1.0 "
    "2023.2.0"
).split()


@dataclasses.dataclass
class Outcome:
    says: str  # what `weft info` says of it
    treatment: str  # taken over, OpenMP, left alone
    ran: str  # "yes", or what went wrong

    def version(self) -> str:
        return re.match(r"OpenBLAS (\S+?):? ", self.says)[1]

    def good(self) -> bool:
        return self.ran == "yes" and "not known in this build" not in self.says


def expected(version: str) -> str:
    """Of a build whose names are there."""
    numbers = tuple(int(number) for number in re.findall(r"\d+", version)[:3])
    return "taken over" if numbers >= (0, 3, 29) else "left alone"


def settings(**more: object) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("WEFT_", "OMP_", "OPENBLAS_"))}
    return kept | {name: str(value) for name, value in more.items()}


class Checker:
    """Runs programs under one build of weft."""

    def __init__(self, weft: str, compiler: str, folder: pathlib.Path, libc: pathlib.Path | None = None) -> None:
        """`libc`: the folder of another one, with its dynamic linker, for libraries of a newer system."""
        self.weft, self.compiler, self.folder, self.libc = weft, compiler, folder, libc
        self.program = folder / "blas_calls"
        flags = "-std=gnu11 -Wall -Wextra -Werror -O2 -fopenmp -pthread".split()
        subprocess.run([compiler, *flags, HERE / "blas_calls.c", "-o", self.program, "-ldl", "-lm"], check=True)

    def says(self, library: pathlib.Path) -> str:
        """What `weft info` says of a program that is linked with the library."""
        linked, source = self.folder / "linked", self.folder / "linked.c"
        source.write_text("int main(void) { return 0; }\n")
        flags = ["-Wl,--no-as-needed", "-Wl,--allow-shlib-undefined", f"-Wl,-rpath,{self.folder / 'names'}"]
        subprocess.run([self.compiler, source, *flags, library, "-o", linked], check=True)
        # Some wheels have the file under another name than it is asked for.
        dynamic = subprocess.run(["readelf", "-d", library], capture_output=True, text=True, check=True).stdout
        name = re.search(r"\(SONAME\).*\[(.*)\]", dynamic)
        names = self.folder / "names"
        names.mkdir(exist_ok=True)
        alias = names / (name[1] if name else library.name)
        alias.unlink(missing_ok=True)
        alias.symlink_to(library)
        where = settings(LD_LIBRARY_PATH=f"{names}:{library.parent}")
        told = subprocess.run([self.weft, "info", "--", linked], env=where, capture_output=True, text=True, check=True)
        found = re.search(r"^ *\S*openblas\S*: (OpenBLAS .*)$", told.stdout, re.MULTILINE)
        return found[1] if found else ""

    def openblas(self, library: pathlib.Path) -> Outcome:
        says = self.says(library)
        if not says:
            return Outcome(says, "", "weft info does not know it")
        treatment = "OpenMP" if " on OpenMP" in says else "left alone" if "left alone" in says else "taken over"
        alone = treatment == "left alone"
        threads = 2 if alone else CPUS
        where = settings(
            LD_LIBRARY_PATH="" if self.libc else library.parent,
            WEFT_NUM_CPUS=CPUS,
            WEFT_STATS="all",
            OMP_NUM_THREADS=CPUS,
            OPENBLAS_NUM_THREADS=threads,
        )
        linker = []
        if self.libc:
            paths = f"{self.libc}:{library.parent}"
            linker = [next(self.libc.glob("ld-linux-*")), "--library-path", paths]
        arguments = [library, "1" if alone else str(CPUS), str(ROUNDS[treatment])]
        try:
            done = subprocess.run(
                [self.weft, "run", "--", *linker, self.program, *arguments],
                env=where,
                capture_output=True,
                text=True,
                timeout=LIMIT,
            )
        except subprocess.TimeoutExpired:
            return Outcome(says, treatment, "hangs")
        if done.returncode != 0:
            return Outcome(says, treatment, f"code {done.returncode}: {done.stdout[-200:]}{done.stderr[-200:]}")
        adopted = int(re.search(r"libraries adopted: (\d+)", done.stderr)[1])
        if adopted != (treatment == "taken over"):
            return Outcome(says, treatment, f"{adopted} copies taken over")
        lent = int(re.search(r"threads lent to them: (\d+)", done.stderr)[1])
        return Outcome(says, treatment, f"threads lent: {lent}" if lent else "yes")

    def tbb(self, library: pathlib.Path) -> bool:
        """Whether it asks weft's library for permits when it starts."""
        code = "import ctypes, sys; ctypes.CDLL(sys.argv[1]); print(open('/proc/self/maps').read())"
        where = settings(LD_LIBRARY_PATH=library.parent)
        command = [self.weft, "run", "--", sys.executable, "-c", code, library]
        done = subprocess.run(command, env=where, capture_output=True, text=True, timeout=LIMIT, check=True)
        return "/weft/libtcm.so" in done.stdout


def wheel(folder: pathlib.Path, package: str, version: str, python: str = "3.11") -> pathlib.Path:
    """The shared libraries of a wheel, downloaded once."""
    into = folder / f"{package}-{version}"
    if into.is_dir():
        return into
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        platforms = [f"--platform=manylinux{kind}_x86_64" for kind in ("_2_28", "_2_27", "_2_17", "2014", "2010", "1")]
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:", *platforms]
        options = ["--python-version", python, "--implementation", "cp", "--dest", scratch, f"{package}=={version}"]
        subprocess.run([*command, *options], check=True)
        [file] = pathlib.Path(scratch).glob("*.whl")
        unpacked = pathlib.Path(scratch, "unpacked")
        shutil.unpack_archive(file, unpacked, "zip")
        for other in list(unpacked.rglob("*")):
            if other.is_file() and ".so" not in other.name:
                other.unlink()
        unpacked.rename(into)
    return into


def libraries(folder: pathlib.Path, pattern: str) -> list[pathlib.Path]:
    return sorted(file for file in folder.rglob(pattern) if file.is_file() and not file.is_symlink())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=pathlib.Path, default=ROOT / "build/blas-versions", help="for the wheels")
    parser.add_argument("--weft", default=str(ROOT / "build/release/bin/weft"))
    parser.add_argument("--compiler", default="gcc")
    parser.add_argument("--only", default="", help="packages and versions that contain this, as in numpy-2")
    parser.add_argument("--libc", type=pathlib.Path, help="the folder of the libc, and others, that the files need")
    parser.add_argument("files", nargs="*", type=pathlib.Path, help="other copies of OpenBLAS; none: all wheels")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    wanted = [
        (package, version, "3.11") for version in OPENBLAS for package in ("scipy-openblas32", "scipy-openblas64")
    ]
    wanted += [("numpy", version, python) for version, python in NUMPY.items()]
    wanted = [] if options.files else [one for one in wanted if options.only in f"{one[0]}-{one[1]}"]
    faults = 0
    with tempfile.TemporaryDirectory(prefix="weft-test-") as scratch:
        checker = Checker(options.weft, options.compiler, pathlib.Path(scratch), options.libc)
        copies = [(str(file), file.resolve()) for file in options.files]
        for package, version, python in wanted:
            for file in libraries(wheel(options.folder, package, version, python), "*openblas*.so*"):
                copies.append((f"{package} {version}", file))
        for name, file in copies:
            outcome = checker.openblas(file)
            fault = not outcome.good()
            if outcome.says and "hide the names" not in outcome.says and outcome.treatment != "OpenMP":
                fault = fault or outcome.treatment != expected(outcome.version())
            faults += fault
            print(f"{'FAULT ' if fault else ''}{name}: {outcome.says}; runs: {outcome.ran}", flush=True)
        for version in TBB if not options.files else ():
            if options.only not in f"tbb-{version}":
                continue
            [file] = libraries(wheel(options.folder, "tbb", version), "libtbb.so.12")
            asks = checker.tbb(file)
            fault = asks != (tuple(map(int, version.split(".")[:2])) >= (2021, 11))
            faults += fault
            print(f"{'FAULT ' if fault else ''}tbb {version}: {'asks weft' if asks else 'left alone'}", flush=True)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
