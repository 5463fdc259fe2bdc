#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""exports_test.py LIBRARY: it has the names that clients look for, needs libc only, and exports nothing else."""

import subprocess
import sys

NAMES = {
    f"tcm{name}"
    for name in (
        "Connect Disconnect RequestPermit GetPermitData ReleasePermit IdlePermit DeactivatePermit ActivatePermit RegisterThread "
        "UnregisterThread GetVersionInfo GetVersion RuntimeVersion RuntimeInterfaceVersion"
    ).split()
} | {"weft_guest_link"}
LIBC = {"libc.so.6", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}


def lines(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()


library = sys.argv[1]
names = {line.split()[-1] for line in lines("nm", "-D", "--defined-only", library)}
dynamic = [line.split("[")[1].rstrip("]") for line in lines("readelf", "-dW", library) if "Shared library:" in line]
soname = [line for line in lines("readelf", "-dW", library) if "SONAME" in line]
faults = [f"missing: {name}" for name in sorted(NAMES - names)]
faults += [f"not meant to be exported: {name}" for name in sorted(names - NAMES)]
faults += [f"needs {name}" for name in dynamic if name not in LIBC]
if "[libtcm.so.1]" not in "".join(soname):
    faults.append("its SONAME is not libtcm.so.1")
print("\n".join(faults), end="")
sys.exit(bool(faults))
