# SPDX-License-Identifier: Apache-2.0
"""The programs in programs/: what each says of itself, how it is built and run.

The first lines of a program have
    Fault: KIND             a kind of advice (tools/weft/report/model/model.h), or none
    Environment: NAME=VALUE that the fault needs; the variant without the fault runs without it
    Flags: ...              more for the compiler
    Library: FILE           of a Python program: what it loads
    Needs: MODULE           of a Python program
    Nodes: N                NUMA nodes without which there is no fault
The lines that a good report blames are marked PLANTED. In a file that several programs use the kind stands behind.
Code without lines is blamed by its library: "PLANTED in NAME". With -DFIXED a program, or its library, has the fault no
more.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import os
import pathlib
import re
import shlex
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
FOLDER = HERE / "programs"
WEFT = os.environ.get("WEFT_COMMAND", str(HERE.parents[1] / "build/release/bin/weft"))
GCC = os.environ.get("WEFT_TEST_GCC", "gcc-12")
CLANG = os.environ.get("WEFT_TEST_CLANG", "clang-19")
GFORTRAN = os.environ.get("WEFT_TEST_GFORTRAN", "gfortran-12")
PYTHON = os.environ.get("WEFT_TEST_PYTHON", str(HERE.parents[1] / "build/python/venv/bin/python"))
COMPILERS = {"gcc": GCC, "clang": CLANG, "gfortran": GFORTRAN, "python": GCC}
TIMEOUT_S = 120
# How far from a marked line a compiler may put a call.
NEAR = 2


@dataclasses.dataclass(frozen=True)
class Program:
    source: pathlib.Path
    fault: str | None
    environment: dict[str, str]
    flags: list[str]
    native_source: pathlib.Path | None  # of the library that a Python program loads
    needs: str | None
    nodes: int

    @property
    def name(self) -> str:
        return self.source.stem

    @property
    def compilers(self) -> list[str]:
        return {".c": ["gcc", "clang"], ".f90": ["gfortran"], ".py": ["python"]}[self.source.suffix]

    def marks(self) -> tuple[set[tuple[str, int]], set[str]]:
        """The places to blame: files with lines, and libraries without."""
        places: set[tuple[str, int]] = set()
        libraries: set[str] = set()
        for file in filter(None, (self.source, self.native_source)):
            for number, line in enumerate(file.read_text().splitlines(), 1):
                mark = re.search(r"PLANTED(?: in (?P<library>\w+)| (?P<kind>\w+)|$)", line)
                if mark is None:
                    continue
                if mark["library"]:
                    libraries.add(mark["library"])
                elif mark["kind"] in (None, self.fault):
                    places.add((file.name, number))
        return places, libraries

    def is_marked(self, place: dict) -> bool:
        """Whether a place of a report is one of them."""
        places, libraries = self.marks()
        name = pathlib.PurePath(place.get("file") or "").name
        if any(name == file and abs(place.get("line", 0) - line) <= NEAR for file, line in places):
            return True
        object_name = pathlib.PurePath(place.get("object") or "").name
        return any(object_name.startswith(library) for library in libraries)


def read(source: pathlib.Path) -> Program | None:
    """None: no program of its own."""
    head = "\n".join(source.read_text().splitlines()[:8])

    def said(word: str) -> str | None:
        found = re.search(rf"^\W*{word}: (.*)$", head, re.M)
        return found and found[1].strip()

    fault = said("Fault")
    if fault is None:
        return None
    settings = (setting.split("=", 1) for setting in shlex.split(said("Environment") or ""))
    library = said("Library")
    return Program(
        source,
        None if fault == "none" else fault,
        dict(settings),
        shlex.split(said("Flags") or ""),
        library and FOLDER / library,
        said("Needs"),
        int(said("Nodes") or 1),
    )


def programs() -> list[Program]:
    return [program for file in sorted(FOLDER.iterdir()) if file.is_file() and (program := read(file))]


@functools.cache
def nodes() -> int:
    return len(list(pathlib.Path("/sys/devices/system/node").glob("node[0-9]*"))) or 1


@functools.cache
def missing_python(needs: str | None) -> str | None:
    if not os.access(PYTHON, os.X_OK):
        return f"no {PYTHON} (scripts/setup-python makes it)"
    if needs and subprocess.run([PYTHON, "-c", f"import {needs}"], capture_output=True, check=False).returncode != 0:
        return f"{PYTHON} has no module {needs}"
    return None


def missing(program: Program, compiler: str) -> str | None:
    """Why it cannot run here."""
    if program.nodes > nodes():
        return f"it needs {program.nodes} NUMA nodes"
    return missing_python(program.needs) if compiler == "python" else None


def compile_c(source: pathlib.Path, compiler: str, into: pathlib.Path, *flags: str) -> pathlib.Path:
    subprocess.run(
        [COMPILERS[compiler], "-std=gnu11", "-O2", "-g", "-fopenmp", "-Wall", "-Wextra", source, "-o", into, *flags],
        check=True,
    )
    return into


class Builder:
    """Builds in a folder what it has not built yet."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder = folder

    def command(self, program: Program, compiler: str, *, fixed: bool = False) -> list[str]:
        flags = [*program.flags, *(["-DFIXED"] if fixed else [])]
        variant = "fixed" if fixed else "planted"
        if compiler == "python":
            arguments = []
            if program.native_source:
                into = self.folder / f"{program.native_source.stem}-{variant}.so"
                if not into.exists():
                    compile_c(program.native_source, compiler, into, "-fPIC", "-shared", *flags)
                arguments = [str(into)]
            return [PYTHON, "-B", str(program.source), *arguments]
        into = self.folder / f"{program.name}-{compiler}-{variant}"
        if not into.exists():
            if compiler == "gfortran":
                self.compile_fortran(program, into, flags)
            else:
                compile_c(program.source, compiler, into, *flags)
        return [str(into)]

    def compile_fortran(self, program: Program, into: pathlib.Path, flags: list[str]) -> None:
        sources = [FOLDER / "busy_fortran.c", FOLDER / "busy.f90", program.source]
        command = [GFORTRAN, "-cpp", "-O2", "-g", "-fopenmp", "-Wall", "-Wextra", "-J", self.folder]
        subprocess.run([*command, *sources, "-o", into, *flags], check=True)


def environment(**more: str) -> dict[str, str]:
    """This process's, without settings of OpenMP and of weft."""
    skipped = ("OMP_", "GOMP_", "KMP_", "WEFT_", "LD_", "OPENBLAS_", "MKL_")
    return {name: value for name, value in os.environ.items() if not name.startswith(skipped)} | more


@dataclasses.dataclass
class Ran:
    """A run under `weft report`."""

    report: dict
    output: str  # of the program
    summary: str  # of the command


def report_of(command: list[str], folder: pathlib.Path, **settings: str) -> Ran:
    data = folder / "report.json"
    page = folder / "report.html"
    for file in (data, page):
        file.unlink(missing_ok=True)
    done = subprocess.run(
        [WEFT, "report", "--json", data, "--output", page, "--", *command],
        env=environment(**settings),
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    if done.returncode != 0:
        raise RuntimeError(f"weft report {shlex.join(command)}: exit code {done.returncode}\n{done.stderr}")
    if "<html" not in page.read_text():
        raise RuntimeError(f"weft report {shlex.join(command)}: {page} is no page")
    return Ran(json.loads(data.read_text()), done.stdout, done.stderr)


def described(report: dict) -> str:
    """The advice, for messages."""
    lines = []
    for advice in report["advice"]:
        site = report["sites"][advice["site"]]
        place = site["place"]
        where = f"{place.get('file') or place.get('object')}:{place.get('line')}"
        lines.append(f"{advice['kind']} at {site['kind']} {where}, {advice['gain']:.3f} s: {advice['evidence']}")
    factors = ", ".join(f"{name} {value:.3f}" for name, value in report["factors"].items())
    notes = "".join(f"\n  note: {note}" for note in report["run"]["notes"])
    return f"{report['run']['seconds']:.2f} s, {factors}{notes}\n  " + ("\n  ".join(lines) or "no advice")
