#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A stub says in one line which function is missing and aborts; the allocator objects have OpenMP's values.

usage: missing_test.py LIBRARY [NAME of a stub]
"""
import ctypes
import os
import signal
import subprocess
import sys

CALL = "import ctypes, sys; getattr(ctypes.CDLL(sys.argv[1]), sys.argv[2])()"


def main():
    library = os.path.abspath(sys.argv[1])
    # An entry point of offload plugins, which weft never loads: it stays a stub.
    name = sys.argv[2] if len(sys.argv) > 2 else "GOMP_PLUGIN_fatal"
    run = subprocess.run([sys.executable, "-c", CALL, library, name], capture_output=True, text=True)
    assert run.returncode == -signal.SIGABRT, f"exit status {run.returncode}, stderr: {run.stderr}"
    assert run.stderr.startswith(f"weft: {name} is not supported yet"), run.stderr
    assert run.stderr.count("\n") == 1 and run.stderr.endswith("\n"), run.stderr

    for symbol, value in (("omp_null_allocator", 0), ("omp_default_mem_alloc", 1), ("omp_thread_mem_alloc", 8),
                          ("omp_low_lat_mem_space", 4)):
        found = ctypes.c_uint64.in_dll(ctypes.CDLL(library), symbol).value
        assert found == value, f"{symbol} is {found}, should be {value}"
    print("missing_test: ok")


if __name__ == "__main__":
    main()
