# SPDX-License-Identifier: Apache-2.0
"""Runs a case under its runtimes, each script with a limit of time."""

import dataclasses
import os
import re
import shutil
import signal
import subprocess
import threading
import time

import runtimes
from case import NOT_BUILT

BUILD_LIMIT_S = 300
KEPT_OUTPUT = 4000


@dataclasses.dataclass
class Result:
    suite: str
    compiler: str
    test: str
    runtime: str
    status: str  # passed, failed, timed out, not built, unsupported
    detail: str = ""
    seconds: float = 0
    runs: int = 0
    failures: int = 0
    expected_to_fail: bool = False

    @property
    def key(self):
        return f"{self.suite}/{self.compiler}/{self.test}"


def run_script(script, environment, folder, limit):
    """(exit status or None when it took too long, what it printed)"""
    process = subprocess.Popen(
        ["bash", "-c", "ulimit -c 0\n" + script],
        env=environment,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        output, _ = process.communicate(timeout=limit)
        return process.returncode, output.decode(errors="replace")
    except subprocess.TimeoutExpired:
        return None, ""
    finally:
        # Whatever it started ends with it.
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()
        process.stdout.close()


def verdict(case, status, output):
    """(status, detail) of one run."""
    shown = output[-KEPT_OUTPUT:]
    if status is None:
        return "timed out", ""
    if status == NOT_BUILT and not case.build:
        return "not built", shown
    failed = status != 0
    if failed != case.should_fail:
        how = f"exit status {status}" if status >= 0 else f"died of {signal.Signals(-status).name}"
        return "failed", f"{how}\n{shown}"
    if case.output and not re.search(case.output, output):
        return "failed", f"what it printed does not match {case.output!r}\n{shown}"
    return "passed", ""


class Runner:
    def __init__(self, options, work):
        self.options, self.work = options, work
        self.stop = threading.Event()

    def result(self, case, runtime, status, detail="", **more):
        return Result(
            case.suite,
            case.compiler,
            case.name,
            runtime,
            status,
            detail,
            expected_to_fail=case.expected_to_fail,
            **more,
        )

    def run_under(self, case, runtime, built):
        folder = self.work / case.folder / runtime
        folder.mkdir(parents=True, exist_ok=True)
        environment = runtimes.environment_for(runtime, case.compiler, self.options.weft, self.work) | case.environment
        result = self.result(case, runtime, "passed")
        for _ in range(self.options.repeat):
            began = time.monotonic()
            status, output = run_script(case.run(built, folder), environment, folder, self.options.timeout)
            result.seconds = max(result.seconds, round(time.monotonic() - began, 3))
            result.runs += 1
            outcome, detail = verdict(case, status, output)
            if outcome != "passed":
                result.failures += 1
                result.status, result.detail = outcome, detail
            if outcome == "not built" or self.stop.is_set():
                break
        return result

    def run(self, case, wanted):
        """The results of a case, its compiler's own runtime first."""
        if case.unsupported:
            return [self.result(case, runtime, "unsupported", case.unsupported) for runtime in wanted]
        shutil.rmtree(self.work / case.folder, ignore_errors=True)
        built = self.work / case.folder / "build"
        built.mkdir(parents=True)
        if case.build:
            status, output = run_script(
                case.build(built),
                runtimes.building_environment(case.compiler, self.options.weft, self.work),
                built,
                BUILD_LIMIT_S,
            )
            if status != 0:
                return [self.result(case, runtime, "not built", output[-KEPT_OUTPUT:]) for runtime in wanted]
        results = []
        for runtime in wanted:
            if self.stop.is_set():
                break
            results.append(self.run_under(case, runtime, built))
        if all(result.status == "passed" for result in results) and not self.options.keep:
            shutil.rmtree(self.work / case.folder, ignore_errors=True)
        return results


class Load:
    """Something that keeps every CPU busy, for as long as the block lasts."""

    def __enter__(self):
        self.busy = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(os.cpu_count() or 1)]
        return self

    def __exit__(self, *_):
        for process in self.busy:
            process.kill()
            process.wait()
