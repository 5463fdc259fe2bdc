# SPDX-License-Identifier: Apache-2.0
"""The runtimes a program can run under, and the proof that it does."""

import os
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIBOMP = pathlib.Path("/usr/lib/llvm-19/lib/libomp.so.5")

# The runtime each compiler links its programs with: what weft is compared with.
OWN = {"gcc": "libgomp", "clang": "libomp"}
# Its programs run on weft only; they are compared with those of another compiler on weft.
COMPARED_WITH = {"weftcc": "clang"}
SONAME = {"gcc": "libgomp.so.1", "clang": "libomp.so.5", "weftcc": "libgomp.so.1"}
# libomp also takes gcc's programs, by another name; nothing else takes clang's.
APPLICABLE = {"gcc": ("libgomp", "libomp", "weft"), "clang": ("libomp", "weft"), "weftcc": ("weft",)}
COMPILERS = {"gcc": "gcc-12", "clang": "clang-19", "weftcc": "weftcc"}

# What weftcc has made of each construct, lines of JSON.
LOWERED = "lowered.json"

PROBE = """
#include <omp.h>
int main(void) {
  int members = 0;
#pragma omp parallel reduction(+ : members)
  members++;
  return members < 1;
}
"""


class WrongRuntime(Exception):
    """A program would run under another runtime than asked for."""


def clean_environment():
    """The caller's environment without what would steer an OpenMP runtime."""
    prefixes = ("OMP_", "GOMP_", "KMP_", "WEFT_", "WEFTCC_", "LIBOMP_")
    return {name: value for name, value in os.environ.items() if not name.startswith(prefixes)}


def driver_folder(weft):
    """Where weftcc is, beside weft's libraries."""
    return weft.parent.parent / "bin"


def has_weftcc(weft):
    return (driver_folder(weft) / "weftcc").exists() and (weft / "libweft-pass.so").exists()


def building_environment(compiler, weft, work):
    """weftcc is found, and adds what became of each construct to a file."""
    environment = clean_environment()
    if compiler == "weftcc":
        environment["PATH"] = f"{driver_folder(weft)}:{environment['PATH']}"
        environment["WEFTCC_REPORT"] = str(work / LOWERED)
    return environment


def folder_of(runtime, compiler, weft, work):
    """The folder to be put first in LD_LIBRARY_PATH; nothing for the one the loader finds anyway."""
    if runtime == "weft":
        return weft
    if runtime == OWN.get(compiler):
        return None
    folder = work / "libomp-for-gcc"
    folder.mkdir(parents=True, exist_ok=True)
    link = folder / SONAME[compiler]
    if not link.is_symlink():
        link.symlink_to(LIBOMP)
    return folder


def environment_for(runtime, compiler, weft, work):
    environment = building_environment(compiler, weft, work)  # some tests build as they run
    folder = folder_of(runtime, compiler, weft, work)
    if folder:
        inherited = environment.get("LD_LIBRARY_PATH")
        environment["LD_LIBRARY_PATH"] = f"{folder}:{inherited}" if inherited else str(folder)
    return environment


def check(runtime, compiler, weft, work):
    """Results of another runtime than asked for would be worth nothing: sees what the loader takes, and runs it."""
    folder = work / "probe"
    folder.mkdir(parents=True, exist_ok=True)
    source, program = folder / "probe.c", folder / compiler
    source.write_text(PROBE)
    subprocess.run(
        [COMPILERS[compiler], "-fopenmp", str(source), "-o", str(program)],
        check=True,
        env=building_environment(compiler, weft, folder),
    )
    environment = environment_for(runtime, compiler, weft, work)
    wanted = folder_of(runtime, compiler, weft, work)
    listing = subprocess.run(
        [program], env=environment | {"LD_TRACE_LOADED_OBJECTS": "1"}, capture_output=True, text=True, check=False
    ).stdout
    found = re.search(rf"^\s*{re.escape(SONAME[compiler])} => (\S+)", listing, re.MULTILINE)
    if not found:
        raise WrongRuntime(f"{compiler}'s programs find no {SONAME[compiler]}")
    if wanted and pathlib.Path(found[1]).parent.resolve() != wanted.resolve():
        raise WrongRuntime(f"{compiler}'s programs would run on {found[1]} in place of {wanted}")
    if subprocess.run([program], env=environment, check=False).returncode:
        raise WrongRuntime(f"a parallel region of {compiler} fails under {runtime}")
