#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Two hosts, made of namespaces: each has a network of its own, a name and shared memory, and a cable joins them. An
MPI's own launcher starts a rank on each, as by ssh; what ranks say to each other goes through the cable.

    WEFT_LIBRARIES=build/release/lib/weft tests/mpi/hosts_test.py MPI

Needs util-linux and iproute2, and a kernel that permits namespaces. Exit code 77: skipped, the last line says why.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
SKIPPED = 77
TIMEOUT_S = 100
LIBRARIES = pathlib.Path(os.environ["WEFT_LIBRARIES"]).resolve()
BUILD = pathlib.Path(os.environ.get("WEFT_BUILD_DIR", LIBRARIES.parents[1])).resolve()
# Set in the process that has the namespaces of its own.
WITHIN = "WEFT_TEST_WITHIN"
HOSTS = {"first": "10.77.0.1", "second": "10.77.0.2"}
# Of the Gauss-Seidel study: neither divides the other.
SIZES = ("--rows", "203", "--cols", "157", "--steps", "20", "--block", "40")
# Bytes in each message of the program that counts them.
MESSAGE, MESSAGES = 1 << 20, 32

# Tasks on both ranks exchange messages in opposite orders, large ones, with fewer threads than tasks.
PROGRAM = r"""
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { messages = MESSAGES, bytes = MESSAGE };

int main(int count, char **arguments) {
  int provided, rank, wrong = 0;
  MPI_Init_thread(&count, &arguments, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#pragma omp parallel num_threads(2)
#pragma omp single
  for (int i = 0; i < messages; i++) {
    const int tag = rank == 0 ? i : messages - 1 - i;
#pragma omp task firstprivate(tag) shared(wrong)
    {
      char *data = malloc(bytes);
      if (rank == 0) {
        memset(data, tag + 1, bytes);
        MPI_Ssend(data, bytes, MPI_CHAR, 1, tag, MPI_COMM_WORLD);
      } else {
        MPI_Recv(data, bytes, MPI_CHAR, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int k = 0; k < bytes; k++)
          if (data[k] != (char)(tag + 1)) {
#pragma omp atomic
            wrong++;
            break;
          }
      }
      free(data);
    }
  }
  int sum = 0;
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  char host[64];
  gethostname(host, sizeof host);
  printf("%d of %s: %d wrong, sum %d\n", rank, host, wrong, sum);
  MPI_Finalize();
  return wrong != 0;
}
"""


def skip(why: str) -> None:
    print(f"skipped: {why}")
    sys.exit(SKIPPED)


def enter() -> None:
    """Starts this script again in namespaces of its own, which end with it, and all processes in them."""
    if not all(map(shutil.which, ("unshare", "nsenter", "ip"))):
        skip("no unshare, nsenter (util-linux) or ip (iproute2)")
    new = ["unshare", "--net", "--mount", "--ipc", "--uts", "--pid", "--fork", "--kill-child", "--mount-proc"]
    if os.getuid() != 0:
        new += ["--user", "--map-root-user"]
    probe = subprocess.run([*new, "ip", "link", "add", "probe", "type", "veth"], capture_output=True, text=True)
    if probe.returncode != 0:
        skip(f"namespaces are not permitted here: {probe.stderr.strip()}")
    os.execvpe("unshare", [*new, sys.executable, "-B", __file__, *sys.argv[1:]], {**os.environ, WITHIN: "1"})


def within(process: int, *command: str) -> list[str]:
    return ["nsenter", f"--target={process}", "--net", "--uts", "--ipc", "--mount", "--", *command]


class Hosts:
    """Processes that keep the hosts' namespaces, joined by a cable."""

    def __init__(self, folder: pathlib.Path) -> None:
        names = folder / "names"
        names.write_text("127.0.0.1 localhost\n" + "".join(f"{at} {name}\n" for name, at in HOSTS.items()))
        self.processes = {name: self._start(name, names) for name in HOSTS}
        ends = [part for process in self.processes.values() for part in (f"cable{process}", str(process))]
        first, first_process, second, second_process = ends
        cable = ["type", "veth", "peer", second, "netns", second_process]
        subprocess.run(["ip", "link", "add", first, "netns", first_process, *cable], check=True)
        for name, process in self.processes.items():
            own = f"dev cable{process}"
            for words in (f"addr add {HOSTS[name]}/24 {own}", f"link set {own} up", "link set lo up"):
                subprocess.run(within(process, "ip", *words.split()), check=True)
        self._wait_for_cable()
        # In the place of ssh: options, a host, a command.
        self.reach = folder / "reach"
        cases = "".join(
            f'{name} | {HOSTS[name]}) exec {" ".join(within(process))} sh -c "$*" ;;\n'
            for name, process in self.processes.items()
        )
        skip_options = 'while [ "${1#-}" != "$1" ]; do shift; done'
        self.reach.write_text(f"#!/bin/sh\n{skip_options}\nhost=$1\nshift\ncase $host in\n{cases}esac\nexit 1\n")
        self.reach.chmod(0o755)

    @staticmethod
    def _start(name: str, names: pathlib.Path) -> int:
        # What MPIs read and hosts do not share: /sys shows the network of who mounted it.
        mounts = f"mount -t tmpfs none /dev/shm && mount -t sysfs none /sys && mount --bind {names} /etc/hosts"
        script = f"{mounts} && hostname {name} && echo up && exec sleep inf"
        started = subprocess.Popen(
            ["unshare", "--net", "--mount", "--ipc", "--uts", "sh", "-c", script], stdout=subprocess.PIPE, text=True
        )
        if started.stdout.readline() != "up\n":
            skip(f"a host made of namespaces does not start: {script}")
        return started.pid

    def _cable(self, host: str, file: str) -> str:
        process = self.processes[host]
        command = within(process, "cat", f"/sys/class/net/cable{process}/{file}")
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    def _wait_for_cable(self) -> None:
        """The kernel says late that a link is up, and MPICH uses no other."""
        deadline = time.monotonic() + TIMEOUT_S
        while any(self._cable(host, "operstate") != "up" for host in HOSTS):
            if time.monotonic() > deadline:
                sys.exit("the cable between the hosts does not come up")
            time.sleep(0.05)

    def sent(self) -> int:
        """Bytes through the cable, from the first host."""
        return int(self._cable("first", "statistics/tx_bytes"))

    def command(self, mpi: str, program: list[str]) -> list[str]:
        """`program` with a rank on each host, started from the first."""
        if mpi == "openmpi":
            launcher = ["mpiexec.openmpi", "--allow-run-as-root", "--mca", "plm", "rsh"]
            launcher += ["--mca", "plm_rsh_agent", str(self.reach), "-H", ",".join(HOSTS)]
        else:
            launcher = ["mpiexec.mpich", "-launcher", "ssh", "-launcher-exec", str(self.reach)]
            launcher += ["-hosts", ",".join(HOSTS), "-ppn", "1"]
        return within(self.processes["first"], *launcher, "-n", "2", *program)


def run(hosts: Hosts, mpi: str, program: list[str], folder: pathlib.Path) -> subprocess.CompletedProcess[str]:
    preloaded = f"LD_PRELOAD={LIBRARIES}/libgomp.so.1:{LIBRARIES}/libweft-mpi.so"
    command = hosts.command(mpi, ["env", preloaded, *program])
    # A daemon that vouches for users (munge) knows another user than this namespace: Open MPI is not to ask it.
    environment = dict(os.environ, PMIX_MCA_psec="native", OMP_NUM_THREADS="2")
    pipe = subprocess.PIPE
    nothing = subprocess.DEVNULL
    return subprocess.run(
        command, cwd=folder, env=environment, stdin=nothing, stdout=pipe, text=True, timeout=TIMEOUT_S, check=False
    )


def main() -> None:
    mpi = sys.argv[1]
    compiler = f"mpicc.{mpi}"
    if shutil.which(compiler) is None:
        skip(f"no {compiler}")
    if WITHIN not in os.environ:
        enter()
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        program = folder / "program"
        program.with_suffix(".c").write_text(PROGRAM)
        sizes = [f"-DMESSAGE={MESSAGE}", f"-DMESSAGES={MESSAGES}"]
        subprocess.run([compiler, *sizes, "-fopenmp", "-O1", f"{program}.c", "-o", str(program)], check=True)
        hosts = Hosts(folder)
        before = hosts.sent()
        done = run(hosts, mpi, [str(program)], folder)
        crossed = hosts.sent() - before
        expected = [f"{rank} of {host}: 0 wrong, sum 1" for rank, host in enumerate(HOSTS)]
        if done.returncode != 0 or sorted(done.stdout.splitlines()) != expected:
            sys.exit(f"exit code {done.returncode}, expected {expected}:\n{done.stdout}")
        if crossed < MESSAGE * MESSAGES:
            sys.exit(f"only {crossed} bytes went from host to host: the ranks did not use the network")
        print(f"{crossed} bytes went from host to host")
        study = BUILD / f"bench/gauss_seidel_{mpi}"
        if not study.exists():
            print(f"without the study: no {study}")
            return
        for version in ("interop-blk", "interop-nonblk"):
            done = run(hosts, mpi, [str(study), *SIZES, "--version", version, "--verify"], folder)
            if done.returncode != 0 or '"verified":"equal"' not in done.stdout.replace(" ", ""):
                sys.exit(f"{study}, {version}: exit code {done.returncode}\n{done.stdout}")
            print(f"{version}: the bits of the sequential sweep")


if __name__ == "__main__":
    main()
