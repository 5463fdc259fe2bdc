#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What is left of stubs is OpenACC's: such a one says in one line what it belongs to and what to do, and aborts. The
allocator objects have OpenMP's values.

usage: missing_test.py LIBRARY STUBS

STUBS is the abi_stubs.cpp of the build.
"""

import ctypes
import os
import pathlib
import re
import signal
import subprocess
import sys

CALL = "import ctypes, sys; getattr(ctypes.CDLL(sys.argv[1]), sys.argv[2])()"


def main():
    library = os.path.abspath(sys.argv[1])
    for name in ("GOMP_PLUGIN_fatal", "GOACC_parallel_keyed", "acc_init"):
        run = subprocess.run([sys.executable, "-c", CALL, library, name], capture_output=True, text=True)
        assert run.returncode == -signal.SIGABRT, f"exit status {run.returncode}, stderr: {run.stderr}"
        assert run.stderr.startswith(f"weft: {name} belongs to OpenACC"), run.stderr
        assert "libgomp (without weft)" in run.stderr, run.stderr
        assert run.stderr.count("\n") == 1 and run.stderr.endswith("\n"), run.stderr

    for symbol, value in (
        ("omp_null_allocator", 0),
        ("omp_default_mem_alloc", 1),
        ("omp_thread_mem_alloc", 8),
        ("omp_low_lat_mem_space", 4),
    ):
        found = ctypes.c_uint64.in_dll(ctypes.CDLL(library), symbol).value
        assert found == value, f"{symbol} is {found}, should be {value}"

    stubs = re.findall(r'weft_abi_missing\("(\w+)"\)', pathlib.Path(sys.argv[2]).read_text())
    others = [name for name in stubs if not re.match("acc_|GOACC_|GOMP_PLUGIN_", name)]
    unexpected = [name for name in others if "affinity" not in name]
    print(f"missing_test: {len(stubs) - len(others)} stubs of OpenACC; others:", " ".join(others) or "none")
    assert not unexpected, f"stubs that are not OpenACC's: {' '.join(unexpected)}"


if __name__ == "__main__":
    main()
