# SPDX-License-Identifier: Apache-2.0
"""gcc 12's tests of libgomp (libgomp/testsuite): DejaGnu's directives, by gcc and, where the language allows, by clang.

Every test with `dg-do run` is built once and run under each runtime. What the compiler's own dumps should show (dg-final)
is not our subject. Of Fortran's many optimisation levels one is run.
"""
import functools
import os
import pathlib
import re
import shlex

from case import Case, Unsupported
from suites import tcl

TITLE = "gcc 12's tests of libgomp"
COMPILERS = ("gcc", "clang")

FOLDERS = {"libgomp.c": ("c",), "libgomp.c++": ("c++",), "libgomp.c-c++-common": ("c", "c++"),
           "libgomp.fortran": ("fortran",)}
EXTENSIONS = {"c": {".c"}, "c++": {".C", ".c"}, "fortran": {".f", ".f90", ".f95", ".f03", ".f08", ".F", ".F90"}}
DRIVERS = {("gcc", "c"): ["gcc-12"], ("gcc", "c++"): ["g++-12"], ("gcc", "fortran"): ["gfortran-12"],
           ("clang", "c"): ["clang-19", "-w"], ("clang", "c++"): ["clang++-19", "-w"]}

# Effective targets whose answer does not depend on the machine: Linux on a 64-bit processor, no offloading.
HOLDS = {"lp64", "tls", "tls_runtime", "size32plus", "sync_int_long", "sync_char_short", "lto", "shared", "fpic", "int128",
         "fd_truncate", "alias", "pthread", "large_long_double", "large_double"}
FAILS = {"ia32", "run_expensive_tests", "aarch64_tiny", "nonpic", "skip-all-targets"}


@functools.cache
def processor_flags():
    text = pathlib.Path("/proc/cpuinfo").read_text()
    match = re.search(r"^flags\s*:(.*)$", text, re.MULTILINE)
    return set(match[1].split()) if match else set()


def is_target(name, language):
    machine = os.uname().machine
    if "*" in name:
        return tcl.matches_machine(name, f"{machine}-pc-linux-gnu")
    if name in ("c", "c++"):
        return name == language
    if name in ("__float128", "float128"):
        return machine == "x86_64"
    if match := re.fullmatch(r"(avx|avx2|sse2)_runtime", name):
        return match[1] in processor_flags()
    if name == "vect_simd_clones":
        return machine == "x86_64"
    if name.startswith(("offload_", "openacc_")) or name in FAILS:
        return False
    if name in HOLDS:
        return True
    raise Unsupported(f"unknown effective target {name}")


class Test:
    """What the directives of one source say, for one language."""

    def __init__(self, source, language):
        self.options, self.more_options, self.sources = ["-O2"], [], []
        self.environment, self.output, self.should_fail, self.expected_to_fail = {}, "", False, False
        self.action = "run"
        self.language = language
        for name, arguments in tcl.directives(source.read_text(errors="replace")):
            handler = getattr(self, "on_" + name.replace("-", "_"), None)
            if handler:
                handler(arguments)

    def selects(self, arguments, at):
        """Whether the optional selector, argument number `at`, lets the directive apply."""
        if len(arguments) <= at or not arguments[at].strip():
            return True
        parts = tcl.words(arguments[at])
        if parts[0] in ("target", "xfail"):
            # What stands behind the word is one selector or a list of machines.
            return tcl.selected(" ".join("{" + part + "}" for part in parts[1:]),
                                lambda name: is_target(name, self.language))
        return tcl.selected(arguments[at], lambda name: is_target(name, self.language))

    def on_do(self, arguments):
        if not self.selects(arguments, 1):
            raise Unsupported(f"not for this machine: {arguments[1].strip()}")
        self.action = arguments[0]

    def on_options(self, arguments):
        if self.selects(arguments, 1):
            self.options = shlex.split(arguments[0])

    def on_additional_options(self, arguments):
        if self.selects(arguments, 1):
            self.more_options += shlex.split(arguments[0])

    def on_additional_sources(self, arguments):
        self.sources += arguments[0].split()

    def on_require_effective_target(self, arguments):
        if not is_target(arguments[0], self.language):
            raise Unsupported(f"it requires {arguments[0]}")

    def on_skip_if(self, arguments):
        if self.selects(arguments, 1) and (len(arguments) < 3 or arguments[2].strip() in ("", "*")):
            raise Unsupported(f"the suite skips it: {arguments[1].strip()}")

    def on_xfail_run_if(self, arguments):
        self.expected_to_fail |= self.selects(arguments, 1)

    def on_shouldfail(self, arguments):
        self.should_fail |= self.selects(arguments, 1)

    def on_set_target_env_var(self, arguments):
        self.environment[arguments[0]] = arguments[1]

    def on_output(self, arguments):
        if self.selects(arguments, 1):
            self.output += arguments[0]


def build_script(compiler, test, source, root, folder):
    command = [*DRIVERS[compiler, test.language], "-fopenmp", "-fmessage-length=0", "-fdiagnostics-color=never", "-I", str(root)]
    command += test.options + test.more_options
    if test.language == "c++" and source.suffix == ".c":
        command += ["-x", "c++"]
    command += [str(source), *(str(source.parent / more) for more in test.sources), "-o", str(folder / "program"), "-lm"]
    return f"cd {shlex.quote(str(folder))}\n{shlex.join(command)}\n"


def case(compiler, root, source, language):
    name = str(source.relative_to(root))
    if len(FOLDERS[pathlib.Path(name).parts[0]]) > 1:
        name += f":{language}"
    found = Case("libgomp", compiler, name)
    try:
        if compiler == "clang" and language == "fortran":
            raise Unsupported("no Fortran compiler")
        test = Test(source, language)
        if test.action != "run":
            raise Unsupported(f"a test of the compiler: dg-do {test.action}")
        found.environment, found.output = test.environment, test.output
        found.should_fail, found.expected_to_fail = test.should_fail, test.expected_to_fail
        found.build = lambda folder: build_script(compiler, test, source, root, folder)
        found.run = lambda built, folder: f"cd {shlex.quote(str(folder))}\nexec {shlex.quote(str(built / 'program'))}\n"
    except Unsupported as reason:
        found.unsupported = str(reason)
    return found


def cases(root, compiler):
    for folder, languages in FOLDERS.items():
        for source in sorted((root / folder).rglob("*")):
            for language in languages:
                if source.suffix in EXTENSIONS[language]:
                    yield case(compiler, root, source, language)
