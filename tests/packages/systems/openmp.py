#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""openmp.py LIBRARIES COMPILER [PROGRAM...]: the OpenMP programs of tests/openmp, built by this system's COMPILER (gcc or
clang) and run with the libraries of an installed weft.

Prints what each program that fails says, then how many passed. Programs that this compiler cannot build, since it is older
than a directive in them, or builds wrongly, are counted apart. Exit code 1 if one fails, or none passes.
"""

import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile

TESTS = pathlib.Path(__file__).resolve().parents[2] / "openmp"
# What a compiler makes wrong code of, on its own runtime too.
BROKEN = {("clang", 11): {"critical": "a variable stays in a register from one critical section to the next"}}
ENVIRONMENTS = "default,four,nested,passive,cpus4"
FLAGS = "-O2 -g -pthread -fopenmp -Werror=unknown-pragmas".split()
LIBRARIES = "-Wl,-z,dynamic-undefined-weak -Wl,--as-needed -latomic -lm -ldl".split()


def differing(what: str) -> "dict[str, str]":
    """By program: what CMake is told of it, as in weft_differ(FLAGS -Wl,-z,execstack code_on_stacks)."""
    found = {}
    for value, programs in re.findall(rf"weft_differ\({what} (\S+) ([^)]*)\)", (TESTS / "CMakeLists.txt").read_text()):
        found |= dict.fromkeys(programs.split(), value)
    return found


def build(compiler: str, source: pathlib.Path, program: pathlib.Path, flags: "list[str]") -> bool:
    plus = {"gcc": "g++", "clang": "clang++"}[compiler]
    command = [compiler, "-std=gnu11"] if source.suffix == ".c" else [plus, "-std=c++20"]
    command += [*FLAGS, source, "-o", program, *flags, *LIBRARIES]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def run(libraries: str, program: pathlib.Path) -> str:
    command = [sys.executable, "-B", TESTS / "run.py", "--quiet", "--runtime", libraries, "--timeout", "120"]
    done = subprocess.run(
        [*command, "--environments", ENVIRONMENTS, program], capture_output=True, text=True, check=False
    )
    return "" if done.returncode == 0 else (done.stdout + done.stderr).strip()


def main() -> int:
    if len(sys.argv) < 3 or sys.argv[2] not in ("gcc", "clang"):
        print(__doc__, file=sys.stderr)
        return 2
    libraries, compiler, *names = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (("a.c", "int main(void) { return 0; }"), ("b.cpp", "#include <vector>\nint main() {}")):
            (pathlib.Path(folder) / name).write_text(text)
            if not build(compiler, pathlib.Path(folder) / name, pathlib.Path(folder) / "program", []):
                print(f"{compiler} builds not even {name}: {text}")
                return 1
    sources = sorted(file for folder in ("constructs", "hazards") for file in (TESTS / folder).glob("*.c*"))
    version = subprocess.run([compiler, "-dumpversion"], capture_output=True, text=True, check=True).stdout
    broken = BROKEN.get((compiler, int(version.split(".")[0])), {})
    compilers = differing("COMPILERS")
    sources = [
        source
        for source in sources
        if source.stem not in broken
        and (not names or source.stem in names)
        and compiler in compilers.get(source.stem, compiler).split(";")
    ]
    flags = differing("FLAGS")
    failed = []
    passed = unbuilt = 0
    with tempfile.TemporaryDirectory() as folder:

        def both(source: pathlib.Path) -> "str | None":
            program = pathlib.Path(folder) / source.stem
            built = build(compiler, source, program, [flags[source.stem]] if source.stem in flags else [])
            return run(libraries, program) if built else None

        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for source, said in zip(sources, pool.map(both, sources)):
                if said is None:
                    unbuilt += 1
                elif said:
                    failed.append(source.stem)
                    print(f"{source.stem}: {said}", flush=True)
                else:
                    passed += 1
    print(f"{compiler}: {passed} pass, {len(failed)} fail, {unbuilt} do not build, {len(broken)} it breaks")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
