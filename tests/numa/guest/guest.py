#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A machine with several NUMA nodes, made by an emulator: it boots a kernel with the files it is given, and runs a
command. The emulator makes the nodes: Debian's kernel for clouds knows no numa=fake.

    guest.py [--nodes N] [--cpus N] [--memory MB] [--accelerator kvm|tcg] [--kernel TEXT] [--file PATH]... -- COMMAND

COMMAND is run by a shell, with the files at their own paths; the shared libraries that they need come along. What it
prints comes out, and its exit code is guest.py's. 125: there was no machine. scripts/setup-numa fetches the parts.
"""

import argparse
import gzip
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

PARTS = pathlib.Path(__file__).resolve().parents[3] / "build/numa"
FAILED = 125

INIT = """#!/bin/busybox sh
/bin/busybox mkdir -p /proc /sys /dev /tmp /run
/bin/busybox mount -t proc proc /proc
/bin/busybox mount -t sysfs sys /sys
/bin/busybox mount -t devtmpfs dev /dev
/bin/busybox mkdir -p /dev/shm
/bin/busybox mount -t tmpfs shm /dev/shm
/bin/busybox --install -s /bin
stty -F /dev/ttyS1 raw -echo
export PATH=/bin:/usr/bin HOME=/tmp
cd /tmp
sh /command > /dev/ttyS1 2>&1 < /dev/null
echo "[guest: exit $?]" > /dev/ttyS1
poweroff -f
"""


class NoGuest(Exception):
    """There is no machine to run on: what is missing, and the way out."""


def libraries_of(file: pathlib.Path) -> set[pathlib.Path]:
    """The shared libraries that a program or library needs, with the dynamic linker."""
    found = subprocess.run(["ldd", file], capture_output=True, text=True, check=False).stdout
    paths = {pathlib.Path(path) for path in re.findall(r"(/\S+) \(0x", found)}
    # The dynamic linker is found by its own path, and as a library by another.
    return paths | {path.resolve() for path in paths}


def make_root(root: pathlib.Path, files: list[pathlib.Path], command: str) -> None:
    """The guest's files below `root`. A folder comes with its shared libraries and programs."""
    absent = [str(file) for file in files if not file.exists()]
    if absent:
        raise NoGuest(f"not there for the guest: {', '.join(absent)}")
    every = [inner for file in files for inner in (sorted(file.rglob("*")) if file.is_dir() else [file])]
    wanted = {file for file in every if file.is_file()}
    for file in list(wanted):
        wanted |= libraries_of(file)
    for file in wanted:
        to = root / file.relative_to("/")
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, to)
    busybox = shutil.which("busybox")
    if busybox is None:
        raise NoGuest("no busybox; run scripts/setup-numa")
    (root / "bin").mkdir(exist_ok=True)
    shutil.copy(busybox, root / "bin/busybox")
    (root / "init").write_text(INIT)
    (root / "init").chmod(0o755)
    (root / "command").write_text(command + "\n")


def pack(root: pathlib.Path, into: pathlib.Path) -> None:
    """As the kernel takes it: a compressed cpio archive."""
    names = "\n".join(str(path.relative_to(root)) for path in sorted(root.rglob("*")))
    archive = subprocess.run(
        ["cpio", "--quiet", "-o", "-H", "newc"], cwd=root, input=names.encode(), check=True, capture_output=True
    ).stdout
    into.write_bytes(gzip.compress(archive, compresslevel=1))


def accelerator(wanted: str | None) -> str:
    """KVM where it works: without, everything takes some times as long. Some machines have its device and no more, so
    a kernel is tried once."""
    if wanted is not None:
        return wanted
    known = PARTS / "accelerator"
    if not known.exists():
        how = "kvm" if os.access("/dev/kvm", os.R_OK | os.W_OK) and boots("kvm") else "tcg"
        PARTS.mkdir(parents=True, exist_ok=True)
        known.write_text(how)
    if known.read_text() == "tcg":
        print("guest: no KVM that works; emulated (tcg), which takes some times as long", file=sys.stderr)
    return known.read_text()


def boots(how: str) -> bool:
    """Whether a kernel says something within some seconds. It ends by itself, for want of files."""
    start = [*machine(1, 1, 512, how), "-append", "console=ttyS0 panic=-1", "-serial", "stdio"]
    try:
        ended = subprocess.run(start, stdin=subprocess.DEVNULL, capture_output=True, timeout=10, check=False)
    except subprocess.TimeoutExpired:
        return False
    return b"Linux version" in ended.stdout


def machine(nodes: int, cpus: int, memory: int, how: str) -> list[str]:
    """The emulator's command line, without kernel and files."""
    emulator = shutil.which("qemu-system-x86_64")
    kernel = PARTS / "vmlinuz"
    if emulator is None or not kernel.exists():
        raise NoGuest(f"no {'qemu-system-x86_64' if emulator is None else kernel}; run scripts/setup-numa")
    # It ends with this process, however that ends.
    command = [
        "setpriv",
        "--pdeathsig",
        "KILL",
        emulator,
        "-nodefaults",
        "-no-reboot",
        "-display",
        "none",
        "-accel",
        how,
        "-smp",
        str(cpus),
        "-m",
        f"{memory}M",
        "-cpu",
        "host,-arch-capabilities" if how == "kvm" else "max",
        "-kernel",
        str(kernel),
    ]
    for node in range(nodes):
        first = cpus * node // nodes
        last = cpus * (node + 1) // nodes - 1
        command += [
            "-object",
            f"memory-backend-ram,id=m{node},size={memory // nodes}M",
            "-numa",
            f"node,nodeid={node},cpus={first}-{last},memdev=m{node}",
        ]
    for node in range(nodes):
        for other in range(node + 1, nodes):
            command += ["-numa", f"dist,src={node},dst={other},val=21"]
    return command


def run(
    command: str,
    files: list[pathlib.Path],
    *,
    nodes: int = 2,
    cpus: int = 4,
    memory: int = 2048,
    how: str | None = None,
    kernel: str = "",
    timeout: float = 300,
) -> tuple[int, str]:
    """Runs `command` in a guest. Returns its exit code and what it has printed. Raises NoGuest."""
    how = accelerator(how)
    start = machine(nodes, cpus, memory, how)
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder, "root")
        root.mkdir()
        make_root(root, files, command)
        pack(root, pathlib.Path(folder, "initrd"))
        console = pathlib.Path(folder, "console")
        output = pathlib.Path(folder, "output")
        start += [
            "-initrd",
            f"{folder}/initrd",
            "-append",
            f"console=ttyS0 quiet panic=-1 {kernel}",
            "-serial",
            f"file:{console}",
            "-serial",
            f"file:{output}",
        ]
        try:
            ended = subprocess.run(
                start, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=timeout, check=False
            )
            complaint = ended.stderr.strip()
        except subprocess.TimeoutExpired:
            complaint = f"not done after {timeout:g} seconds"
        printed = output.read_text(errors="replace") if output.exists() else ""
        end = re.search(r"\[guest: exit (\d+)\]\s*$", printed)
        if end is None:
            tail = console.read_text(errors="replace")[-1500:] if console.exists() else ""
            raise NoGuest(f"the guest ({how}) did not end: {complaint}\n{printed[-1500:]}{tail}")
        return int(end[1]), printed[: end.start()]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=2)
    parser.add_argument("--cpus", type=int, default=4)
    parser.add_argument("--memory", type=int, default=2048, help="megabytes")
    parser.add_argument("--accelerator", choices=("kvm", "tcg"))
    parser.add_argument("--kernel", default="", help="more on the kernel's command line")
    parser.add_argument("--timeout", type=float, default=300, help="seconds")
    parser.add_argument("--file", type=pathlib.Path, action="append", default=[])
    parser.add_argument("command", nargs="+")
    options = parser.parse_args()
    try:
        code, printed = run(
            " ".join(options.command),
            [file.absolute() for file in options.file],
            nodes=options.nodes,
            cpus=options.cpus,
            memory=options.memory,
            how=options.accelerator,
            kernel=options.kernel,
            timeout=options.timeout,
        )
    except NoGuest as missing:
        print(f"guest.py: {missing}", file=sys.stderr)
        return FAILED
    sys.stdout.write(printed)
    return code


if __name__ == "__main__":
    sys.exit(main())
