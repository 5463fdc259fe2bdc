# SPDX-License-Identifier: Apache-2.0
"""The tools that the tests of the pass run: compilers with the plugin, opt and FileCheck."""

import os

from finished import finished

PLUGIN = os.environ["WEFT_TEST_PASS"]
CLANG = os.environ.get("WEFT_TEST_CLANG", "clang-19")
FLANG = os.environ.get("WEFT_TEST_FLANG", "")
OPT = os.environ.get("WEFT_TEST_OPT", "opt-19")
FILECHECK = os.environ.get("WEFT_TEST_FILECHECK", "FileCheck-19")
INCLUDE = os.environ["WEFT_TEST_INCLUDE"]


def run(*command, **environment):
    """Fails with what the command has written."""
    words = [str(word) for word in command]
    result = finished(words, env={**os.environ, **{k: str(v) for k, v in environment.items()}}, timeout=120)
    if result.returncode != 0:
        raise AssertionError(f"{' '.join(words)}: exit code {result.returncode}\n{result.stdout}{result.stderr}")
    return result


def compiler(source):
    if source.suffix == ".f90":
        return [FLANG]
    return [CLANG, "-std=c++20" if source.suffix == ".cpp" else "-std=gnu11", f"-I{INCLUDE}"]


def front_end(source, output, *flags):
    """What the front end makes of a source, before any pass."""
    if source.suffix == ".f90":
        return run(FLANG, "-O0", "-fopenmp", "-S", "-emit-llvm", *flags, source, "-o", output)
    return run(
        *compiler(source),
        "-O1",
        "-Xclang",
        "-disable-llvm-passes",
        "-fopenmp",
        "-S",
        "-emit-llvm",
        *flags,
        source,
        "-o",
        output,
    )


def compile(source, output, *flags, **environment):
    return run(
        *compiler(source), "-fopenmp", f"-fpass-plugin={PLUGIN}", *flags, "-c", source, "-o", output, **environment
    )


def link(source, output, *objects):
    libraries = ["-lstdc++"] if source.suffix == ".cpp" else []
    return run(compiler(source)[0], "-fopenmp", *objects, "-o", output, *libraries)
