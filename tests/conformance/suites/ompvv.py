# SPDX-License-Identifier: Apache-2.0
"""The OpenMP Validation and Verification suite: programs that exit 0 when all is well. Only with --suite ompvv, since its
sources come from GitHub. Those of the directories of target devices run on the host."""

import shlex

from case import Case

TITLE = "OpenMP Validation and Verification suite"
COMPILERS = ("clang", "gcc", "weftcc")
DRIVERS = {
    ("gcc", ".c"): "gcc-12",
    ("gcc", ".cpp"): "g++-12",
    ("gcc", ".F90"): "gfortran-12",
    ("clang", ".c"): "clang-19 -w",
    ("clang", ".cpp"): "clang++-19 -w",
    ("weftcc", ".c"): "weftcc -w",
    ("weftcc", ".cpp"): "weftc++ -w",
}


def case(compiler, root, source):
    found = Case("ompvv", compiler, str(source.relative_to(root / "tests")))
    driver = DRIVERS.get((compiler, source.suffix))
    if not driver:
        found.unsupported = "no Fortran compiler"
        return found
    words = f"-O2 -fopenmp -I {shlex.quote(str(root / 'ompvv'))} {shlex.quote(str(source))}"
    found.build = lambda folder: f"cd {shlex.quote(str(folder))}\n{driver} {words} -o program -lm\n"
    found.run = lambda built, folder: f"cd {shlex.quote(str(folder))}\nexec {shlex.quote(str(built / 'program'))}\n"
    return found


def cases(root, compiler):
    for suffix in (".c", ".cpp", ".F90"):
        for source in sorted((root / "tests").rglob(f"*{suffix}")):
            yield case(compiler, root, source)
