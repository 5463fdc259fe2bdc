#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""aarch64.py ARCHIVE [PROGRAM...]: the archive for 64-bit Arm with the glibc of Debian 11, on an x86-64 machine by emulation.

scripts/setup-system unpacks that Debian. The programs of tests/openmp are cross compiled by gcc, linked with the symbols of glibc
2.28 as the archive is, and run by QEMU. Prints how many pass, and what each that fails says. Exit code 1 if one fails.
"""

import concurrent.futures
import os
import pathlib
import subprocess
import sys
import tempfile

import openmp

TREE = pathlib.Path(__file__).resolve().parents[3]
ROOT = TREE / "build/systems/bullseye-arm64"
SYMBOLS = TREE / "build/glibc-2.28/aarch64"
COMPILER = "aarch64-linux-gnu-gcc-12"
# The libgomp that gcc links with needs a newer glibc.
LINKED = [f"-B{SYMBOLS}", f"-Wl,-rpath-link,{SYMBOLS},--allow-shlib-undefined"]
SECONDS = 300
# Beside those that CTest leaves out in an emulator: these start themselves again, and the kernel cannot start a program for
# another machine; or the emulator has threads of its own, whose settings they see.
LEFT_OUT = {"own_settings", "root_ends", "task_pause", "which_cpu"}


def run(command: "list[object]", **variables: str) -> "tuple[int, str]":
    try:
        done = subprocess.run(
            [str(word) for word in command],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=SECONDS,
            env={"PATH": os.environ["PATH"], **variables},
            check=False,
        )
    except subprocess.TimeoutExpired:
        return 124, f"no end in {SECONDS} s"
    return done.returncode, done.stdout.strip()


def main() -> int:
    archive, *names = sys.argv[1:]
    if not (ROOT / "made").exists():
        print(f"aarch64.py: no {ROOT}; scripts/setup-system bullseye-arm64 makes it")
        return 2
    left_out = LEFT_OUT | set(openmp.differing("EMULATOR"))
    sources = [
        source
        for folder in ("constructs", "hazards")
        for source in sorted((openmp.TESTS / folder).glob("*.c"))
        if (source.stem in names if names else source.stem not in left_out)
    ]
    flags, compilers = openmp.differing("FLAGS"), openmp.differing("COMPILERS")
    sources = [source for source in sources if "gcc" in compilers.get(source.stem, "gcc").split(";")]
    failed: list[str] = []
    passed = unbuilt = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        subprocess.run(["tar", "xf", archive, "-C", folder, "--strip-components=1"], check=True)
        emulated = ["qemu-aarch64", "-L", ROOT]
        code, said = run([*emulated, folder / "bin/weft", "--version"])
        print(said)
        if code != 0:
            return 1

        def both(source: pathlib.Path) -> "tuple[int, str] | None":
            program = folder / source.stem
            more = [flags[source.stem]] if source.stem in flags else []
            command = [COMPILER, "-std=gnu11", *openmp.FLAGS, source, "-o", program, *LINKED, *more, *openmp.LIBRARIES]
            if run(command)[0] != 0:
                return None
            return run([*emulated, program], LD_LIBRARY_PATH=str(folder / "lib/weft"), OMP_NUM_THREADS="4")

        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for source, found in zip(sources, pool.map(both, sources)):
                if found is None:
                    unbuilt += 1
                    continue
                code, said = found
                if code == 0:
                    passed += 1
                else:
                    failed.append(source.stem)
                    print(f"{source.stem}: exit code {code}: {said}", flush=True)
    print(f"{passed} pass, {len(failed)} fail, {unbuilt} do not build, {len(left_out)} left out")
    return 1 if failed or passed == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
