#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs public OpenMP test suites under libgomp, libomp and weft, and says where weft differs.

    conformance.py                                     # all of libomp's and libgomp's tests, by gcc, clang and weftcc
    conformance.py --only '*task*' --repeat 20 --load  # some, again and again, on a busy machine
    conformance.py --suite libomp --compiler clang --runtimes weft --only tasking/bug_36720.c --keep

weftcc's programs are compared with clang's, both on weft. The suites are fetched by scripts/setup-conformance (`make conformance` does both). The exit status is 1 when a test passes
under its compiler's own runtime, fails under weft and is not in differences.toml; 2 when nothing could be compared.
"""

import argparse
import concurrent.futures
import fnmatch
import pathlib
import sys
import time

import differences
import report
import runtimes
from execution import Load, Runner
from suites import SUITES

DEFAULT_SUITES = ["libomp", "libgomp"]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--suite", action="append", choices=SUITES, help="default: libomp and libgomp")
    parser.add_argument(
        "--compiler", action="append", choices=list(runtimes.APPLICABLE), help="default: all; weftcc where it is built"
    )
    parser.add_argument(
        "--runtimes",
        default="libgomp,libomp,weft",
        help="comma-separated; each runs the programs it can take; default: %(default)s",
    )
    parser.add_argument(
        "--only",
        action="append",
        default=[],
        metavar="PATTERN",
        help="tests whose name, or SUITE/COMPILER/NAME, matches; may be repeated",
    )
    parser.add_argument(
        "--weft",
        type=pathlib.Path,
        default=runtimes.ROOT / "build/release/lib/weft",
        help="folder of weft's libraries; default: build/release/lib/weft",
    )
    parser.add_argument(
        "--cache",
        type=pathlib.Path,
        default=runtimes.ROOT / "build/conformance",
        help="folder of the suites and of what is built; default: build/conformance",
    )
    parser.add_argument("--timeout", type=float, default=60, help="seconds for one test; default: %(default)g")
    parser.add_argument("--jobs", type=int, default=2, help="tests at the same time; default: %(default)d")
    parser.add_argument("--repeat", type=int, default=1, help="runs of each test; one failure is a failure")
    parser.add_argument("--load", action="store_true", help="keep every CPU busy meanwhile")
    parser.add_argument("--json", type=pathlib.Path, help="where results go; default: CACHE/results.json")
    parser.add_argument("--docs", type=pathlib.Path, metavar="PAGE", help="put the table into this page")
    parser.add_argument("--keep", action="store_true", help="keep the programs of tests that pass")
    parser.add_argument("--list", action="store_true", help="print the tests and why some are not run; run nothing")
    options = parser.parse_args()
    options.suite = options.suite or DEFAULT_SUITES
    options.runtimes = options.runtimes.split(",")
    unknown = [name for name in options.runtimes if name not in ("libgomp", "libomp", "weft")]
    if unknown:
        parser.error(f"no such runtime: {', '.join(unknown)}; there are libgomp, libomp, weft")
    options.weft, options.cache = options.weft.resolve(), options.cache.resolve()
    if options.compiler and "weftcc" in options.compiler and not runtimes.has_weftcc(options.weft):
        parser.error(
            f"no weftcc, or no pass: {runtimes.driver_folder(options.weft)}/weftcc and {options.weft}/libweft-pass.so "
            "are wanted; build them (make build), or name another build by --weft"
        )
    options.compiler = options.compiler or [
        compiler for compiler in runtimes.APPLICABLE if compiler != "weftcc" or runtimes.has_weftcc(options.weft)
    ]
    # What it is compared with.
    options.compiler += [
        other
        for name, other in runtimes.COMPARED_WITH.items()
        if name in options.compiler and other not in options.compiler
    ]
    options.json = options.json or options.cache / "results.json"
    return options


class NoSuite(Exception):
    """Its sources are not there."""


def wanted_cases(options):
    for suite in options.suite:
        root = options.cache / "suites" / suite
        if not root.is_dir():
            raise NoSuite(f"no {SUITES[suite].TITLE} in {root}; fetch them: scripts/setup-conformance {suite}")
        for compiler in SUITES[suite].COMPILERS:
            if compiler in options.compiler:
                for case in SUITES[suite].cases(root, compiler):
                    if not options.only or any(
                        fnmatch.fnmatchcase(name, pattern) for pattern in options.only for name in (case.name, case.key)
                    ):
                        yield case


class Progress:
    """One line that is written over on a terminal; else one now and then."""

    def __init__(self, total):
        self.total, self.done, self.failed, self.shown = total, 0, 0, 0.0
        self.terminal = sys.stdout.isatty()

    def count(self, case, results):
        self.done += 1
        self.failed += len(list(report.differing(results)))
        if self.terminal or time.monotonic() - self.shown > 20 or self.done == self.total:
            self.shown = time.monotonic()
            line = f"{self.done}/{self.total} tests, {self.failed} that only weft fails; {case.key}"
            print(f"\r\033[K{line[:110]}" if self.terminal else line, end="" if self.terminal else "\n", flush=True)

    def finish(self):
        if self.terminal:
            print()


def run_all(cases, options, work):
    runner = Runner(options, work)
    progress = Progress(len(cases))
    results = []

    def run(case):
        return runner.run(case, [name for name in runtimes.APPLICABLE[case.compiler] if name in options.runtimes])

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        futures = {pool.submit(run, case): case for case in cases}
        try:
            for future in concurrent.futures.as_completed(futures):
                results += future.result()
                progress.count(futures[future], future.result())
        except BaseException:
            runner.stop.set()
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    progress.finish()
    return sorted(results, key=lambda result: (result.key, result.runtime))


def say(results, explained, options, loops):
    """Prints the outcome; returns the exit status."""
    left = report.unexplained(results, explained)
    known = [result for result in report.differing(results) if result not in left]
    print(report.table(results, explained))
    for result in report.better(results):
        print(f"only {runtimes.OWN.get(result.compiler, 'clang')} fails: {result.key}")
    for result in left:
        print(
            f"\nFAIL {result.key}: {result.status}, {result.failures} of {result.runs} runs\n{result.detail.rstrip()}"
        )
        print(f"     repeat: tests/conformance/conformance.py --only '{result.key}' --keep")
    same = [
        difference
        for difference in explained
        if not any(difference.covers(result) for result in known)
        and any(
            difference.names(result.key) and result.status == "passed" for result in results if result.runtime == "weft"
        )
    ]
    for difference in same:
        print(f"explained, but did not differ this time: {', '.join(difference.tests)}")
    if loops:
        print(report.describe_lowered(loops))
    print(f"{len(known)} explained differences, {len(left)} without an explanation; {options.json}")
    return 1 if left else 0


def main():
    options = arguments()
    try:
        cases = list(wanted_cases(options))
    except NoSuite as problem:
        print(f"conformance: {problem}", file=sys.stderr)
        return 2
    if options.list:
        for case in cases:
            print(f"{case.key}: not run: {case.unsupported}" if case.unsupported else case.key)
        return 0
    if not cases:
        print("conformance: no test has such a name", file=sys.stderr)
        return 2
    work = options.cache / "work"
    work.mkdir(parents=True, exist_ok=True)
    (work / runtimes.LOWERED).unlink(missing_ok=True)
    try:
        for compiler in sorted({case.compiler for case in cases}):
            for runtime in runtimes.APPLICABLE[compiler]:
                if runtime in options.runtimes:
                    runtimes.check(runtime, compiler, options.weft, work)
    except runtimes.WrongRuntime as problem:
        print(f"conformance: {problem}", file=sys.stderr)
        return 2
    if options.load:
        with Load():
            results = run_all(cases, options, work)
    else:
        results = run_all(cases, options, work)
    explained = differences.load()
    loops = report.lowered(work / runtimes.LOWERED)
    report.write_json(options.json, results, explained, options, loops)
    if options.docs:
        report.write_docs(options.docs, results, explained, options, loops)
    return say(results, explained, options, loops)


if __name__ == "__main__":
    sys.exit(main())
