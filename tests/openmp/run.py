#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs OpenMP test programs under a runtime given by its directory, in several environments.

    run.py --runtime build/release/lib/weft build/release/tests/openmp/gcc/parallel
    run.py --environments default,sixteen PROGRAM...      # under the system's own runtime

A program passes in an environment when it exits 0 in time and prints nothing. The exit status is the number of
programs that failed (at most 100).
"""

import argparse
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

# One row an environment: what every program is tried with, chosen by name.
ENVIRONMENTS = {
    "default": {},
    "one": {"OMP_NUM_THREADS": "1"},
    "four": {"OMP_NUM_THREADS": "4"},
    "sixteen": {"OMP_NUM_THREADS": "16"},
    "nested": {"OMP_NUM_THREADS": "4,3", "OMP_MAX_ACTIVE_LEVELS": "3"},
    "passive": {"OMP_NUM_THREADS": "4", "OMP_WAIT_POLICY": "passive"},
    "active": {"OMP_NUM_THREADS": "3", "OMP_WAIT_POLICY": "active"},
    "cpus1": {"WEFT_NUM_CPUS": "1", "OMP_NUM_THREADS": "4"},
    "cpus2": {"WEFT_NUM_CPUS": "2", "OMP_NUM_THREADS": "4"},
    "cpus4": {"WEFT_NUM_CPUS": "4", "OMP_NUM_THREADS": "4"},
    # No identity beside those of the threads that run has an OS thread (docs/explanation/core.md).
    "absent": {"WEFT_PARKED_THREADS": "0", "OMP_NUM_THREADS": "4"},
    "static": {"OMP_SCHEDULE": "static", "OMP_NUM_THREADS": "4"},
    "static3": {"OMP_SCHEDULE": "static,3", "OMP_NUM_THREADS": "4"},
    "dynamic": {"OMP_SCHEDULE": "dynamic", "OMP_NUM_THREADS": "4"},
    "dynamic7": {"OMP_SCHEDULE": "nonmonotonic:dynamic,7", "OMP_NUM_THREADS": "4"},
    "monotonic": {"OMP_SCHEDULE": "monotonic:dynamic,2", "OMP_NUM_THREADS": "4"},
    "guided": {"OMP_SCHEDULE": "guided,2", "OMP_NUM_THREADS": "4"},
    "auto": {"OMP_SCHEDULE": "auto", "OMP_NUM_THREADS": "4"},
    "limited": {"OMP_THREAD_LIMIT": "3", "OMP_NUM_THREADS": "4"},
    "adjusted": {"OMP_DYNAMIC": "true", "OMP_NUM_THREADS": "4"},
    "flat": {"OMP_MAX_ACTIVE_LEVELS": "1", "OMP_NUM_THREADS": "4"},
    "priority": {"OMP_MAX_TASK_PRIORITY": "10"},
    "cancel": {"OMP_CANCELLATION": "true", "OMP_NUM_THREADS": "4"},
    "bound": {"OMP_PROC_BIND": "true"},
    "bound9": {"OMP_PROC_BIND": "close,spread", "OMP_NUM_THREADS": "9"},
    "spread": {"OMP_PROC_BIND": "spread", "OMP_PLACES": "cores", "OMP_NUM_THREADS": "4"},
    "primary": {"OMP_PROC_BIND": "primary", "OMP_PLACES": "threads", "OMP_NUM_THREADS": "3"},
    "sockets": {"OMP_PLACES": "sockets", "OMP_NUM_THREADS": "4", "OMP_WAIT_POLICY": "passive"},
    "bound4": {"OMP_PROC_BIND": "close", "WEFT_NUM_CPUS": "4", "OMP_NUM_THREADS": "4"},
    "exclusive": {"WEFT_MODE": "exclusive", "OMP_NUM_THREADS": "4"},
    "counting": {"WEFT_MODE": "counting", "WEFT_NUM_CPUS": "4", "OMP_NUM_THREADS": "2"},
    "virtual8": {"WEFT_NUM_CPUS": "8", "OMP_MAX_TASK_PRIORITY": "10"},
    "virtual8_passive": {"WEFT_NUM_CPUS": "8", "OMP_MAX_TASK_PRIORITY": "10", "OMP_WAIT_POLICY": "passive"},
    "virtual16": {"WEFT_NUM_CPUS": "16", "OMP_MAX_TASK_PRIORITY": "10"},
    "many64": {"WEFT_NUM_CPUS": "64"},
    "many64_nested": {"WEFT_NUM_CPUS": "64", "OMP_NUM_THREADS": "16,4", "OMP_MAX_ACTIVE_LEVELS": "3"},
    "many64_bound": {"WEFT_NUM_CPUS": "64", "OMP_PROC_BIND": "close"},
    "many192": {"WEFT_NUM_CPUS": "192"},
    "many192_passive": {"WEFT_NUM_CPUS": "192", "OMP_WAIT_POLICY": "passive"},
    "stack": {"OMP_STACKSIZE": "16M", "OMP_NUM_THREADS": "4"},
}
USUAL = "default,one,four,sixteen,nested,passive,active,cpus1,cpus4"
GDB_EXTENSION = pathlib.Path(__file__).resolve().parents[2] / "tools" / "gdb" / "weft-gdb.py"
RUNTIME_NAMES = ("libgomp.so.1", "libomp.so.5", "libiomp5.so")


def clean_environment():
    """The caller's environment without what would steer an OpenMP runtime."""
    prefixes = ("OMP_", "GOMP_", "KMP_", "WEFT_", "LIBOMP_")
    return {k: v for k, v in os.environ.items() if not k.startswith(prefixes) or k.startswith("WEFT_TEST_")}


def with_runtime(environment, runtime):
    if runtime:
        inherited = environment.get("LD_LIBRARY_PATH")
        environment["LD_LIBRARY_PATH"] = f"{runtime}:{inherited}" if inherited else str(runtime)
    return environment


def as_run_by(emulator, program, environment):
    """The command that runs the program. The emulator is a program of this machine: what the other machine's loader
    is to see, it must be told."""
    if not emulator:
        return program
    loader = [f"{name}={environment.pop(name)}" for name in list(environment) if name.startswith("LD_")]
    return [emulator, *(word for setting in loader for word in ("-E", setting)), *program]


def wrong_runtime(program, runtime, emulator):
    """A test that ran under another runtime than asked for would prove nothing: says which it would be, or None."""
    environment = with_runtime(clean_environment(), runtime)
    environment["LD_TRACE_LOADED_OBJECTS"] = "1"
    command = as_run_by(emulator, [program], environment)
    listing = subprocess.run(command, env=environment, capture_output=True, text=True, check=False).stdout
    for name, path in re.findall(r"^\s*(\S+) => (\S.*?)(?: \(0x|$)", listing, re.MULTILINE):
        if name in RUNTIME_NAMES and pathlib.Path(path).parent.resolve() != pathlib.Path(runtime).resolve():
            return f"{name} would be {path}, not one of {runtime}"
    return None


def where_it_hangs(pid):
    """What the threads of a hung process are doing, as far as this machine's tools tell."""
    if shutil.which("gdb"):
        command = [
            "gdb",
            "-nx",
            "-batch",
            "-p",
            str(pid),
            "-x",
            str(GDB_EXTENSION),
            "-ex",
            "weft threads",
            "-ex",
            "set print frame-arguments none",
            "-ex",
            "thread apply all backtrace 8",
        ]
        try:
            out = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False).stdout
            head, *threads = re.split(r"^(?=Thread )", out, flags=re.MULTILINE)
            members = head[head.find("id  state") :] if "id  state" in head else ""
            # A parked donor of a context says nothing.
            busy = [
                line
                for thread in threads
                if "donor_main" not in thread
                for line in thread.splitlines()
                if line.startswith(("#", "Thread"))
            ]
            return (members + "\n".join(busy))[:4000]
        except subprocess.TimeoutExpired:
            pass
    lines = []
    for task in sorted(pathlib.Path(f"/proc/{pid}/task").glob("*")):
        try:
            state = (task / "stat").read_text().rsplit(")", 1)[1].split()[0]
            lines.append(f"thread {task.name}: state {state}, in {(task / 'wchan').read_text() or '?'}")
        except OSError:
            continue
    return "\n".join(lines)


def end(process):
    """Kills the program and whatever it started."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()


def run_once(program, environment, limit):
    """Returns None when the program is content, else what is wrong."""
    log = subprocess.PIPE
    process = subprocess.Popen(
        program, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, start_new_session=True
    )
    try:
        output, _ = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        stacks = where_it_hangs(process.pid)
        end(process)
        output = process.stdout.read() if process.stdout else b""
        return f"no end after {limit:g} s\n{stacks}\n" + output.decode(errors="replace")
    text = output.decode(errors="replace")
    if process.returncode < 0:
        return f"died of {signal.Signals(-process.returncode).name}\n{text}"
    if process.returncode:
        return f"exit status {process.returncode}\n{text}"
    if text:
        return f"printed something, yet exit status 0\n{text}"
    return None


def shown_command(program, extra, runtime):
    words = [f"LD_LIBRARY_PATH={runtime}"] if runtime else []
    words += [f"{name}={value}" for name, value in extra.items()]
    return " ".join(words + [" ".join(program)])


def run_program(program, options):
    """Runs one program in all environments; returns True when all are well."""
    if options.runtime:
        wrong = wrong_runtime(program[0], options.runtime, options.emulator)
        if wrong:
            print(f"FAIL {program[0]}: {wrong}")
            return False
    well, began = True, time.monotonic()
    for name in options.environments.split(","):
        extra = ENVIRONMENTS[name]
        environment = with_runtime(clean_environment() | extra, options.runtime)
        environment |= dict(setting.split("=", 1) for setting in options.set)
        command = as_run_by(options.emulator, program, environment)
        for _ in range(options.repeat):
            started = time.monotonic()
            wrong = run_once(command, environment, options.timeout)
            if options.verbose:
                print(f"     {pathlib.Path(program[0]).name} [{name}] {time.monotonic() - started:.2f} s")
            if wrong:
                well = False
                print(f"FAIL {pathlib.Path(program[0]).name} [{name}]: {wrong.rstrip()}")
                print(f"     repeat: {shown_command(program, extra, options.runtime)}", flush=True)
                break
        if not well and not options.keep_going:
            break
    if well and not options.quiet:
        print(f"ok   {'/'.join(pathlib.Path(program[0]).parts[-2:])} {time.monotonic() - began:.2f} s", flush=True)
    return well


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runtime", help="directory with libgomp.so.1, libomp.so.5; default: what the loader finds")
    parser.add_argument("--emulator", help="program that runs them, such as qemu-aarch64")
    parser.add_argument("--environments", default=USUAL, help=f"comma-separated; default {USUAL}; or: all")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="one more variable")
    parser.add_argument("--timeout", type=float, default=20, help="seconds for one run; a hang is a failure")
    parser.add_argument("--repeat", type=int, default=1, help="runs in each environment")
    parser.add_argument("--keep-going", action="store_true", help="try the other environments after a failure")
    parser.add_argument("--quiet", action="store_true", help="print failures only")
    parser.add_argument("--verbose", action="store_true", help="print the time of each run")
    parser.add_argument("programs", nargs="+")
    options = parser.parse_args()
    if options.environments == "all":
        options.environments = ",".join(ENVIRONMENTS)
    missing = [program for program in options.programs if not os.access(program, os.X_OK)]
    if missing:
        parser.error(f"not a program: {', '.join(missing)}")
    unknown = [name for name in options.environments.split(",") if name not in ENVIRONMENTS]
    if unknown:
        parser.error(f"no such environment: {', '.join(unknown)}; there are {', '.join(ENVIRONMENTS)}")
    if options.runtime:
        options.runtime = str(pathlib.Path(options.runtime).resolve())
    failed = sum(not run_program([str(pathlib.Path(p).resolve())], options) for p in options.programs)
    return min(failed, 100)


if __name__ == "__main__":
    sys.exit(main())
