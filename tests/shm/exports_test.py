#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""exports_test.py LIBRARY MAP INCLUDE: it exports what the map lists and the headers declare, and needs libc alone."""

import pathlib
import re
import subprocess
import sys

LIBC = {"libc.so.6", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}


def lines(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()


library, exports, include = sys.argv[1:]
listed = set(re.findall(r"(weft_\w+);", pathlib.Path(exports).read_text()))
headers = "".join((pathlib.Path(include) / "weft" / name).read_text() for name in ("shm.h", "rwlock.h", "kv.h"))
code = re.sub(r"/\*.*?\*/", "", headers, flags=re.S)
declared = set(re.findall(r"^(?!static)\w[\w ]*[ *](weft_\w+)\(", code, re.M))
# For other languages than C those may be exported, too.
in_line = set(re.findall(r"^static inline \w[\w ]*[ *](weft_\w+)\(", code, re.M))
found = {line.split()[-1].split("@")[0] for line in lines("nm", "-D", "--defined-only", library)} - {"WEFT_SHM_0"}
dynamic = lines("readelf", "-dW", library)
needed = {line.split("[")[1].rstrip("]") for line in dynamic if "(NEEDED)" in line}
faults = [f"declared, not listed: {name}" for name in sorted(declared - listed)]
faults += [f"listed, not declared: {name}" for name in sorted(listed - declared - in_line)]
faults += [f"listed, not exported: {name}" for name in sorted(listed - found)]
faults += [f"exported, not listed: {name}" for name in sorted(found - listed)]
faults += [f"needs {name}" for name in sorted(needed - LIBC)]
if not any("SONAME" in line and "[libweft-shm.so.0]" in line for line in dynamic):
    faults.append("its SONAME is not libweft-shm.so.0")
print("\n".join(faults), end="")
sys.exit(bool(faults))
