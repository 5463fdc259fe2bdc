# SPDX-License-Identifier: Apache-2.0
"""LLVM's tests of its OpenMP runtime (openmp/runtime/test): lit's RUN lines, by clang, gcc and weftcc.

Every RUN line is a line of a bash script; the compilers go through `build`, which ends the script with NOT_BUILT, so that
a program that does not build is never taken for one that fails.
"""

import functools
import os
import pathlib
import re
import shlex
import sys

from case import NOT_BUILT, Case, Unsupported

TITLE = "LLVM 19's tests of libomp"
COMPILERS = ("clang", "gcc", "weftcc")
FILECHECK = "FileCheck-19"

DIRECTIVE = re.compile(r"\b(RUN|XFAIL|UNSUPPORTED|REQUIRES):[ \t]*(.*?)[ \t]*(?:\*/)?[ \t]*$", re.MULTILINE)


@functools.cache
def features(compiler):
    """What lit's configuration of the suite would find here. gcc's programs are for libgomp, which has no OMPT."""
    machine = os.uname().machine
    found = {"true", "linux", "affinity", "hidden-helper", f"{machine}-target-arch"}
    if machine == "x86_64":
        found.add("x86-target-arch")
    if (os.cpu_count() or 1) > 1:
        found.add("multicpu")
    if compiler != "gcc":
        return found | {"clang", "clang-19", "clang-19.1", "ompt"}
    return found | {"gcc", "gcc-12", "gcc-12.2"}


def holds(name, compiler):
    if not re.fullmatch(r"!?[\w.+-]+", name):
        raise Unsupported(f"condition not understood: {name}")
    return (name.removeprefix("!") in features(compiler)) != name.startswith("!")


def read(text):
    """The RUN lines, continued ones joined, and the lists of conditions."""
    lines, conditions, joined = [], {"XFAIL": [], "UNSUPPORTED": [], "REQUIRES": []}, ""
    for kind, words in DIRECTIVE.findall(text):
        if kind != "RUN":
            conditions[kind] += [word.strip() for word in words.split(",") if word.strip()]
        elif words.endswith("\\"):
            joined += words[:-1]
        else:
            lines.append(joined + words)
            joined = ""
    return lines, conditions


def substitutions(compiler, root, source, program):
    """lit's, in the order in which they are put in; those of compiling lead to %clang and %flags."""
    c, cxx = {"clang": ("clang-19", "clang++-19"), "gcc": ("gcc-12", "g++-12"), "weftcc": ("weftcc", "weftc++")}[
        compiler
    ]
    libraries = "-lm" if compiler == "gcc" else "-lm -latomic"
    compile_line = f"%openmp_flags %flags {{}} %s -o %t {libraries}"
    rows = []
    for kind, line in {
        "irbuilder-": "%clang " + compile_line.format("-fopenmp-enable-irbuilder"),
        "c99-": "%clang " + compile_line.format("-std=c99"),
        "cxx20-": "%clangXX " + compile_line.format("-std=c++20"),
        "cxx-": "%clangXX " + compile_line.format("-std=c++17"),
        "": "%clang " + compile_line.format(""),
    }.items():
        rows.append((f"%libomp-{kind}compile-and-run", f"%libomp-{kind}compile && %libomp-run"))
        if kind == "cxx-":
            rows.append(("%libomp-cxx-compile-c", line.replace("%s", "-x c++ %s")))
        rows.append((f"%libomp-{kind}compile", line))
    flags = f"-I {root} -I {root / 'ompt'} -fno-omit-frame-pointer"
    return rows + [
        ("%libomp-run", "%t"),
        ("%clangXX", f"build {cxx}"),
        ("%clang", f"build {c}"),
        ("%openmp_flags", "-fopenmp"),
        ("%flags-use-compiler-omp-h", flags),
        ("%flags", flags),
        ("%python", shlex.quote(sys.executable)),
        ("FileCheck", f"tee %t.out | {FILECHECK}"),
        ("%sort-threads", "sort -n -s"),
        ("%preload-tool", "env LD_PRELOAD=%T/tool.so"),
        ("%no-as-needed-flag", "-Wl,--no-as-needed"),
        ("%not", "!"),
        ("%s", str(source)),
        ("%S", str(source.parent)),
        ("%T", str(program.parent)),
        ("%t", str(program)),
    ]


def script(lines, compiler, root, source, folder):
    rows = substitutions(compiler, root, source, folder / (source.name + ".tmp"))
    commands = [f'build() {{ "$@" || exit {NOT_BUILT}; }}', "set -e -o pipefail"]
    for line in lines:
        # As lit does it: what a row puts in is subject to the later rows only.
        for name, words in rows:
            line = line.replace(name, words)
        commands.append(line)
    return "\n".join(commands) + "\n"


def case(compiler, root, source):
    found = Case("libomp", compiler, str(source.relative_to(root)))
    try:
        lines, conditions = read(source.read_text(errors="replace"))
        for name in conditions["UNSUPPORTED"]:
            if holds(name, compiler):
                raise Unsupported(f"the suite excludes it: {name}")
        for name in conditions["REQUIRES"]:
            if not holds(name, compiler):
                raise Unsupported(f"it requires {name}")
        found.expected_to_fail = any(holds(name, compiler) for name in conditions["XFAIL"])
        found.run = lambda _, folder: script(lines, compiler, root, source, folder)
    except Unsupported as reason:
        found.unsupported = str(reason)
    return found


def cases(root, compiler):
    root = pathlib.Path(root) / "test"
    for source in sorted(root.rglob("*.c")) + sorted(root.rglob("*.cpp")):
        if "RUN:" in source.read_text(errors="replace"):
            yield case(compiler, root, source)
