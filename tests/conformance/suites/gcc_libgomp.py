# SPDX-License-Identifier: Apache-2.0
"""gcc 12's tests of libgomp (libgomp/testsuite): DejaGnu's directives, by gcc and, as far as they take them, by clang and
flang, plain and under weftcc.

Every test with `dg-do run` is built once and run under each runtime. What the compiler's own dumps should show (dg-final)
is not our subject. Of Fortran's many optimisation levels one is run.
"""

import functools
import os
import pathlib
import re
import shlex
import shutil

from case import Case, Unsupported

from suites import tcl

TITLE = "gcc 12's tests of libgomp"
COMPILERS = ("gcc", "clang", "weftcc")

FOLDERS = {
    "libgomp.c": ("c",),
    "libgomp.c++": ("c++",),
    "libgomp.c-c++-common": ("c", "c++"),
    "libgomp.fortran": ("fortran",),
}
EXTENSIONS = {"c": {".c"}, "c++": {".C", ".c"}, "fortran": {".f", ".f90", ".f95", ".f03", ".f08", ".F", ".F90"}}
PLAIN_MESSAGES = ["-fmessage-length=0", "-fdiagnostics-color=never"]
DRIVERS = {
    ("gcc", "c"): ["gcc-12", *PLAIN_MESSAGES],
    ("gcc", "c++"): ["g++-12", *PLAIN_MESSAGES],
    ("gcc", "fortran"): ["gfortran-12", *PLAIN_MESSAGES],
    ("clang", "c"): ["clang-19", "-w", *PLAIN_MESSAGES],
    ("clang", "c++"): ["clang++-19", "-w", *PLAIN_MESSAGES],
    ("clang", "fortran"): ["flang-new-19", "-w"],
    ("weftcc", "c"): ["weftcc", "-w", *PLAIN_MESSAGES],
    ("weftcc", "c++"): ["weftc++", "-w", *PLAIN_MESSAGES],
    ("weftcc", "fortran"): ["weftfort", "-w"],
}

# Options that say how gcc optimizes or what it writes down, and nothing about the program: clang does not know them.
OF_GCC = re.compile(r"-fdump-.*|-f(no-)?(tree|ipa)-.*|-fvect-cost-model=.*|-flto-partition=.*|-fno-extern-tls-init")
# flang takes few of gfortran's options, and what most of the others allow it allows anyway.
OF_FLANG = re.compile(r"-O.*|-D.*|-cpp|-fopenmp|-fdefault-(integer|real)-8|-f(fixed|free)-form")
# Who asks gcc to make threads of loops tests gcc.
AUTOPAR = re.compile(r"-ftree-parallelize-loops=[1-9].*")

# Effective targets whose answer does not depend on the machine: Linux on a 64-bit processor, no offloading.
HOLDS = {
    "lp64",
    "tls",
    "tls_runtime",
    "size32plus",
    "sync_int_long",
    "sync_char_short",
    "lto",
    "shared",
    "fpic",
    "int128",
    "fd_truncate",
    "alias",
    "pthread",
    "large_long_double",
    "large_double",
}
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
            return tcl.selected(
                " ".join("{" + part + "}" for part in parts[1:]), lambda name: is_target(name, self.language)
            )
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


def options_for(compiler, test):
    """The test's, as far as the compiler has them."""
    options = test.options + test.more_options
    if compiler == "gcc":
        return options
    if any(AUTOPAR.fullmatch(option) for option in options):
        raise Unsupported("gcc's own parallelization")
    if test.language == "fortran":
        return [option for option in options if OF_FLANG.fullmatch(option)]
    return [option for option in options if not OF_GCC.fullmatch(option)]


# What configuring libgomp has found out, as far as tests ask.
CONFIG = "#define HAVE_PTHREAD_AFFINITY_NP 1"


def build_script(compiler, test, source, root, folder):
    command = [*DRIVERS[compiler, test.language], "-fopenmp", "-I", str(root), "-I", str(folder)]
    command += options_for(compiler, test)
    if test.language == "c++" and source.suffix == ".c":
        command += ["-x", "c++"]
    command += [
        str(source),
        *(str(source.parent / more) for more in test.sources),
        "-o",
        str(folder / "program"),
        "-lm",
    ]
    if compiler != "gcc":
        command.append("-latomic")  # of gcc's; for objects that no instruction serves
    return f"cd {shlex.quote(str(folder))}\necho '{CONFIG}' > config.h\n{shlex.join(command)}\n"


def case(compiler, root, source, language):
    name = str(source.relative_to(root))
    if len(FOLDERS[pathlib.Path(name).parts[0]]) > 1:
        name += f":{language}"
    found = Case("libgomp", compiler, name)
    try:
        # weftcc's compiler is clang's, and weftcc is known to be there.
        needed = DRIVERS["clang" if compiler == "weftcc" else compiler, language][0]
        if not shutil.which(needed):
            raise Unsupported(f"no {needed}")
        test = Test(source, language)
        if test.action != "run":
            raise Unsupported(f"a test of the compiler: dg-do {test.action}")
        options_for(compiler, test)
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
