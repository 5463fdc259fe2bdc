# SPDX-License-Identifier: Apache-2.0
"""One rank of mpi4py_suite.py: mpi4py_rank.py WHERE FOLDER MAIN [ARGUMENT...] runs mpi4py's tests by MAIN, their
test/main.py.

WHERE: plain; serial, with an OpenMP runtime in the process; region, by a thread of a parallel region. The outcome of
each test goes to a file in FOLDER as soon as it is there, since a crash or a hang must not hide what came before.
"""

import ctypes
import json
import os
import runpy
import sys
import unittest


class Report(unittest.TextTestResult):
    """Says what becomes of each test, one line of JSON each; a later line counts."""

    file = None

    def say(self, test: unittest.TestCase, outcome: str) -> None:
        print(json.dumps([test.id(), outcome]), file=Report.file, flush=True)

    def startTest(self, test):
        super().startTest(test)
        self.say(test, "begun")
        self.worst = "passed"

    def stopTest(self, test):
        super().stopTest(test)
        self.say(test, self.worst)

    def addError(self, test, err):
        super().addError(test, err)
        self.worst = f"error: {err[0].__name__}"
        # Those of classes and modules are outside of any test.
        self.say(test, self.worst)

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.worst = "failed"

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None:
            self.worst = "failed"

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.worst = "skipped"

    def addExpectedFailure(self, test, err):
        super().addExpectedFailure(test, err)
        self.worst = "failed, as expected"

    def addUnexpectedSuccess(self, test):
        super().addUnexpectedSuccess(test)
        self.worst = "passed, unexpectedly"


def run_tests(main: str, arguments: list[str]) -> None:
    unittest.TextTestRunner.resultclass = Report
    sys.argv = [main, *arguments]
    runpy.run_path(main, run_name="__main__")


def in_region(openmp: ctypes.CDLL, work) -> None:
    """Calls `work` in the first of two threads of a parallel region: they compile to this call."""
    caught = []

    def body(_):
        if openmp.omp_get_thread_num() != 0:
            return
        try:
            work()
        # Also SystemExit, which ctypes would print and forget.
        except BaseException as error:
            caught.append(error)

    function = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(body)
    openmp.GOMP_parallel(function, None, ctypes.c_uint(2), ctypes.c_uint(0))
    if caught:
        raise caught[0]


def main() -> None:
    where, folder, tests, *arguments = sys.argv[1:]
    # Launchers of Open MPI and MPICH.
    rank = os.environ.get("PMIX_RANK") or os.environ.get("OMPI_COMM_WORLD_RANK") or os.environ["PMI_RANK"]
    with open(f"{folder}/report.{rank}", "w", encoding="utf-8") as Report.file:
        if where == "plain":
            run_tests(tests, arguments)
            return
        openmp = ctypes.CDLL("libgomp.so.1", mode=ctypes.RTLD_GLOBAL)
        if where == "serial":
            run_tests(tests, arguments)
        else:
            in_region(openmp, lambda: run_tests(tests, arguments))


if __name__ == "__main__":
    main()
