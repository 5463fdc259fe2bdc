#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""exports_test.py LIBRARY MAP: it exports what the map names and nothing else, and needs libc only."""
import re
import subprocess
import sys

LIBC = {"libc.so.6", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}


def lines(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()


library, version_script = sys.argv[1:]
with open(version_script, encoding="utf-8") as opened:
    wanted = set(re.findall(r"^ +(weft_\w+);", opened.read(), re.MULTILINE))
symbols = [line.split() for line in lines("nm", "-D", "--defined-only", library)]
names = {name.split("@")[0] for _, kind, name in symbols if kind != "A"}
needed = {line.split("[")[1].rstrip("]") for line in lines("readelf", "-dW", library) if "Shared library:" in line}
soname = [line for line in lines("readelf", "-dW", library) if "SONAME" in line]
faults = [f"missing: {name}" for name in sorted(wanted - names)]
faults += [f"not meant to be exported: {name}" for name in sorted(names - wanted)]
faults += [f"needs {name}" for name in sorted(needed - LIBC)]
if not wanted:
    faults.append(f"{version_script} names nothing")
if "[libweft-shm.so.0]" not in "".join(soname):
    faults.append("its SONAME is not libweft-shm.so.0")
print("\n".join(faults), end="")
sys.exit(bool(faults))
